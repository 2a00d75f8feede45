//! `punctual naming`: a naming service, and its clients, in processes of their own.

use std::{
    ffi::OsStr,
    io::{BufRead, BufReader, Read},
    process::{Child, ChildStdout, Command, Stdio},
};

use punctual::Orb;
use punctual_fixtures::{Folder, programs::interruptible};
use punctual_naming::NamingContext;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::command::{Run, run};

/// A running `punctual naming serve`.
pub struct Served {
    child: Child,
    output: BufReader<ChildStdout>,
    /// `corbaloc:` of its root.
    pub url: String,
    contents: String,
}

impl Served {
    fn start(arguments: &[&str]) -> Self {
        Self::start_at("iiop://127.0.0.1:0", arguments)
    }

    pub fn start_at(endpoint: &str, arguments: &[&str]) -> Self {
        let mut command = interruptible(env!("CARGO_BIN_EXE_punctual"));
        command
            .args(["naming", "serve", "--listen", endpoint])
            .args(arguments);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = || {
            let mut line = String::new();
            output.read_line(&mut line).unwrap();
            line.trim_end().to_owned()
        };
        let (url, contents) = (line(), line());
        Self {
            child,
            output,
            url,
            contents,
        }
    }

    /// `HOST:PORT`.
    fn address(&self) -> &str {
        self.url
            .split(['@', '/'])
            .nth(1)
            .expect("corbaloc:iiop:1.2@HOST:PORT/NameService")
    }

    fn corbaname(&self) -> String {
        format!("corbaname::{}", self.address())
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let mut all: Vec<&OsStr> = vec!["naming".as_ref()];
        all.extend(arguments.iter().map(OsStr::new));
        let url = self.corbaname();
        all.extend(["--at".as_ref(), OsStr::new(&url)]);
        run(all)
    }

    /// Output of a command that succeeds.
    fn done(&self, arguments: &[&str]) -> String {
        let run = self.run(arguments);
        assert_eq!(run.code, 0, "{arguments:?}: {}", run.complained);
        run.said
    }

    /// Ends it, and returns the rest of its output.
    fn end(mut self, signal: Signal) -> String {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0), "{rest}");
        rest
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn names_are_bound_resolved_listed_and_unbound() {
    let served = Served::start(&[]);
    assert!(served.url.ends_with("/NameService"), "{}", served.url);
    assert_eq!(
        served.contents,
        "Contexts 1, bindings 0, in memory. Ctrl-C ends it."
    );
    assert_eq!(served.done(&["list"]), "");
    served.done(&["create", "radar"]);
    served.done(&["create", r"radar/site\.1.x"]);
    served.done(&["bind", "radar/names", &served.url]);
    served.done(&["bind", "radar/names", &served.corbaname(), "--replace"]);
    served.done(&["bind", "root", &served.corbaname(), "--context"]);
    assert_eq!(served.done(&["list"]), "radar/\nroot/\n");
    let all = "radar/\nradar/names\nradar/site\\.1.x/\nroot/\n";
    assert_eq!(served.done(&["list", "--recursive"]), all, "each context once");
    assert_eq!(
        served.done(&["list", "--recursive", "--most", "2"]),
        "radar/\nradar/names\n"
    );
    let listed: Value = serde_json::from_str(&served.done(&["list", "radar", "--json"])).unwrap();
    let expected = json!([
        {"name": "names", "id": "names", "kind": "", "context": false},
        {"name": r"site\.1.x", "id": "site.1", "kind": "x", "context": true},
    ]);
    assert_eq!(listed, expected);

    let ior = served.done(&["resolve", "radar/names"]);
    let orb = Orb::builder().lock_memory(false).build().unwrap();
    let root = NamingContext::find(&orb, &served.url).unwrap();
    assert_eq!(
        ior.trim_end(),
        root.resolve_object("radar/names").unwrap().to_ior()
    );
    let shown: Value = serde_json::from_str(&served.done(&["resolve", "radar/names", "--json"])).unwrap();
    assert_eq!(shown["interface"], "IDL:omg.org/CosNaming/NamingContextExt:1.0");
    assert_eq!(
        (&shown["name"], &shown["reference"]),
        (&json!("radar/names"), &json!(ior.trim_end()))
    );

    served.done(&["unbind", "radar/names"]);
    served.done(&["destroy", r"radar/site\.1.x"]);
    assert_eq!(served.done(&["list", "radar"]), "");
    assert_eq!(
        served.end(Signal::TERM),
        "Ended. Contexts 2, bindings 2; 0 requests beyond a limit were refused.\n"
    );
}

#[test]
fn errors_name_the_component_and_have_their_exit_code() {
    let served = Served::start(&["--contexts", "2"]);
    served.done(&["create", "radar"]);
    let (url, here) = (served.corbaname(), &*served.url);
    for (arguments, code, expected) in [
        (
            &["resolve", "radar/x/y"][..],
            1,
            "`radar` has no `x` (component 2 of 3)",
        ),
        (&["unbind", "x"], 1, "the context has no `x` (component 1 of 1)"),
        (&["create", "radar"], 1, "`radar` is bound already"),
        (&["bind", "radar", here, "--replace"], 1, "unbind it first"),
        (&["destroy", "x"], 1, "is not found"),
        (&["create", "x"], 3, "IMP_LIMIT"),
        (&["resolve", "radar/"], 2, "a component of a name is missing"),
        (&["bind", "x", "radar"], 2, "is not an object reference"),
        (
            &["bind", "x", "corbaname:rir:#y"],
            2,
            "PUNCTUAL_INITIAL_REFERENCES",
        ),
        (
            &["bind", "x", "corbaloc::127.0.0.1:1/x"],
            3,
            "corbaloc::127.0.0.1:1/x",
        ),
        (&["bind", "x", &format!("{url}#y")], 2, "`y` is not found"),
    ] {
        let run = served.run(arguments);
        assert_eq!(run.code, code, "{arguments:?}: {}", run.complained);
        assert!(
            run.complained.contains(expected),
            "{arguments:?}: {}",
            run.complained
        );
    }
    served.done(&["bind", "radar/x", here]);
    let refused = served.run(&["destroy", "radar"]);
    assert_eq!(refused.code, 1);
    assert!(
        refused.complained.contains("unbind all of them first"),
        "{}",
        refused.complained
    );
    served.end(Signal::INT);

    let unreachable = run(["naming", "list", "--at", &url]);
    assert_eq!(unreachable.code, 3);
    assert!(
        unreachable.complained.contains("`punctual naming serve`"),
        "{}",
        unreachable.complained
    );
}

#[test]
fn a_store_keeps_names_and_references_over_a_restart() {
    let folder = Folder::new("naming-serve");
    let file = folder.join("names.redb");
    let store = ["--store", file.to_str().unwrap()];
    let served = Served::start(&store);
    served.done(&["create", "radar"]);
    served.done(&["bind", "radar/self", &served.url]);
    let context = served.done(&["resolve", "radar"]);
    let second = run([
        "naming",
        "serve",
        "--listen",
        "iiop://127.0.0.1:0",
        store[0],
        store[1],
    ]);
    assert_eq!(second.code, 2);
    assert!(
        second.complained.contains("no other process uses"),
        "{}",
        second.complained
    );
    let endpoint = format!("iiop://{}", served.address());
    served.end(Signal::TERM);

    let served = Served::start_at(&endpoint, &store);
    assert!(
        served.contents.starts_with("Contexts 2, bindings 2, in `"),
        "{}",
        served.contents
    );
    assert_eq!(served.done(&["list", "-r"]), "radar/\nradar/self\n");
    let listed = run(["naming", "list", "--at", context.trim_end()]);
    assert_eq!(
        listed.said, "self\n",
        "by the reference of the first run: {}",
        listed.complained
    );
    served.end(Signal::INT);
}

#[test]
fn tools_take_names_where_they_take_references() {
    let served = Served::start(&[]);
    served.done(&["bind", "a b", &served.url]);
    let url = format!("{}#a%20b", served.corbaname());
    let called = run(["call", &url, "_is_a", "IDL:omg.org/CosNaming/NamingContext:1.0"]);
    assert_eq!(
        (called.code, called.said.trim_end()),
        (0, "true"),
        "{}",
        called.complained
    );
    let missing = run(["call", &format!("{}#x", served.corbaname()), "_non_existent"]);
    assert_eq!(missing.code, 2);
    assert!(
        missing.complained.contains("the context has no `x`"),
        "{}",
        missing.complained
    );

    let with_environment = Command::new(env!("CARGO_BIN_EXE_punctual"))
        .args(["naming", "resolve", "a b", "--at", "corbaname:rir:"])
        .env(
            "PUNCTUAL_INITIAL_REFERENCES",
            format!("NameService={}", served.url),
        )
        .output()
        .unwrap();
    assert!(with_environment.status.success(), "{with_environment:?}");
    let default = Command::new(env!("CARGO_BIN_EXE_punctual"))
        .args(["call", "corbaname:rir:#a%20b", "_non_existent"])
        .env(
            "PUNCTUAL_DEFAULT_INITIAL_REFERENCE",
            format!("corbaloc::{}", served.address()),
        )
        .output()
        .unwrap();
    assert_eq!(default.stdout, b"false\n", "{default:?}");
}

#[test]
fn a_port_in_use_is_reported() {
    let served = Served::start(&[]);
    let endpoint = format!("iiop://{}", served.address());
    let second = run(["naming", "serve", "--listen", &*endpoint]);
    assert_eq!(second.code, 2);
    assert!(
        second
            .complained
            .contains("another program or lane listens there"),
        "{}",
        second.complained
    );
}

/// The commands of the page, at a server of this test.
#[test]
fn the_commands_of_the_page_do_what_it_says() {
    let page = include_str!("../../../../docs/naming.md");
    let blocks = page
        .split("```sh\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap());
    let commands: Vec<_> = blocks.flat_map(str::lines).collect();
    assert_eq!(commands.len(), 8, "{commands:?}");
    let folder = Folder::new("naming-page");
    let file = folder.join("names.redb");
    let arguments = |command: &str| -> Vec<String> {
        let words = command.strip_prefix("punctual ").unwrap().split(' ');
        words
            .map(|word| word.replace("names.redb", file.to_str().unwrap()))
            .collect()
    };
    let serve = arguments(commands[0]);
    assert_eq!(serve[..2], ["naming", "serve"]);
    let serve: Vec<&str> = serve[2..].iter().map(String::as_str).collect();
    let served = Served::start(&serve);
    let mut said = Vec::new();
    for command in &commands[1..] {
        let here = format!("corbaname::{}", served.address());
        let mut arguments = arguments(command);
        for argument in &mut arguments {
            *argument = argument.replace("corbaname::localhost", &here);
        }
        if arguments[0] == "naming" {
            arguments.extend(["--at".to_owned(), here]);
        }
        let run = run(&arguments);
        assert_eq!(run.code, 0, "{command}: {}", run.complained);
        said.push(run.said);
    }
    assert_eq!(said[2], "radar/\nradar/names.root\n");
    assert_eq!(said[4], "false\n");
    served.end(Signal::TERM);
}
