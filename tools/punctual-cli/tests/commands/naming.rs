//! `punctual naming`: a naming service, and its clients, in processes of their own.

use std::{
    ffi::OsStr,
    fs::OpenOptions,
    io::{BufRead, BufReader, Read},
    process::{Child, ChildStdout, Command, Stdio},
};

use punctual::Orb;
use punctual_events::EventChannel;
use punctual_fixtures::{Folder, eventually, programs::interruptible};
use punctual_naming::NamingContext;
use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process, prlimit};
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
        Self::start_with(endpoint, arguments, Stdio::inherit())
    }

    fn start_with(endpoint: &str, arguments: &[&str], errors: Stdio) -> Self {
        let mut command = interruptible("env");
        // Beyond a limit on the size of files, writing fails.
        command
            .arg("--ignore-signal=XFSZ")
            .arg(env!("CARGO_BIN_EXE_punctual"));
        command
            .args(["naming", "serve", "--listen", endpoint])
            .args(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(errors).spawn().unwrap();
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

    /// Its root, for changes that no command makes.
    fn naming(&self) -> (Orb, NamingContext) {
        let orb = Orb::builder().lock_memory(false).build().unwrap();
        let root = NamingContext::find(&orb, &self.url).unwrap();
        (orb, root)
    }

    /// Sets the greatest size of the files that it writes.
    fn limit_files(&self, octets: Option<u64>) {
        let pid = Some(Pid::from_child(&self.child));
        let current = octets.or(getrlimit(Resource::Fsize).maximum);
        let maximum = getrlimit(Resource::Fsize).maximum;
        prlimit(pid, Resource::Fsize, Rlimit { current, maximum }).unwrap();
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
        "Contexts 1, bindings 0, in memory. Ctrl-C or SIGTERM ends it."
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
fn an_object_that_is_no_context_is_named_as_such() {
    let orb = Orb::builder().listen("iiop://127.0.0.1").build().unwrap();
    let channel = EventChannel::builder().build().unwrap();
    let other = channel.serve_inspection(&orb.root_poa()).unwrap();
    let address = orb.publish("Other", &other).unwrap();
    let runs = orb.clone();
    let runs = std::thread::spawn(move || runs.run());
    let refused = run(["naming", "list", "--at", &address]);
    assert_eq!(refused.code, 2, "{}", refused.complained);
    let complained = refused.complained.replace('\n', " ");
    let expected = format!("`{address}` is the address of an object that is not a naming context");
    assert!(complained.contains(&expected), "{complained}");
    orb.shutdown();
    runs.join().unwrap();
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
        (
            &["bind", "radar", here],
            1,
            "`punctual naming bind --replace` replaces",
        ),
        (
            &["bind", "radar", here, "--replace"],
            1,
            "unbind it first, or use `--context`",
        ),
        (&["destroy", "x"], 1, "is not found"),
        (&["create", "x"], 1, "(`--contexts`)"),
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

/// A full disk fails in the same way.
#[test]
fn a_store_that_cannot_be_written_is_opened_again() {
    let folder = Folder::new("naming-full");
    let file = folder.join("names.redb");
    let store = ["--store", file.to_str().unwrap()];
    // The disk that is full may be that of its messages, too.
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let served = Served::start_with("iiop://127.0.0.1:0", &store, full.into());
    served.done(&["create", "before"]);
    served.limit_files(Some(8_192));
    for _ in 0..2 {
        let refused = served.run(&["create", "meanwhile"]);
        assert_eq!(refused.code, 1, "{}", refused.complained);
        let expected =
            refused.complained.contains("PERSIST_STORE") && refused.complained.contains("make room");
        assert!(expected, "{}", refused.complained);
        assert_eq!(served.done(&["list"]), "before/\n", "lookups go on");
    }
    served.limit_files(None);
    eventually("the file is opened again", || {
        served.run(&["create", "after"]).code == 0
    });
    served.done(&["create", "after/below"]);
    assert_eq!(served.done(&["list", "-r"]), "after/\nafter/below/\nbefore/\n");
    served.end(Signal::TERM);

    let served = Served::start(&store);
    assert_eq!(served.done(&["list", "-r"]), "after/\nafter/below/\nbefore/\n");
    served.end(Signal::TERM);
}

#[test]
fn a_store_beyond_the_limits_names_their_arguments_and_can_be_pruned() {
    let folder = Folder::new("naming-prune");
    let file = folder.join("names.redb");
    let store = ["--store", file.to_str().unwrap()];
    let served = Served::start(&store);
    served.done(&["create", "radar"]);
    let (_orb, root) = served.naming();
    root.reference().new_context().unwrap();
    served.end(Signal::TERM);
    let serve = [
        "naming",
        "serve",
        "--listen",
        "iiop://127.0.0.1:0",
        store[0],
        store[1],
    ];
    let refused = run(serve.into_iter().chain(["--contexts", "2"]));
    assert_eq!(refused.code, 2);
    assert!(
        refused.complained.contains("raise `--contexts` and `--octets`"),
        "{}",
        refused.complained
    );
    let served = Served::start(&store);
    assert!(
        served
            .contents
            .starts_with("Contexts 3 (1 without a name), bindings 1, in `"),
        "{}",
        served.contents
    );
    served.end(Signal::TERM);
    let served = Served::start(&[store[0], store[1], "--contexts", "2", "--prune"]);
    assert!(
        served.contents.starts_with("Contexts 2, bindings 1, in `"),
        "{}",
        served.contents
    );
    served.end(Signal::TERM);

    std::fs::write(&file, "no store".repeat(1_000)).unwrap();
    let none = run(serve);
    assert_eq!(none.code, 2, "{}", none.complained);
}

#[test]
fn contexts_that_no_longer_exist_are_shown_and_their_names_made_free() {
    let served = Served::start(&[]);
    for name in ["a", "b", "d1", "d2"] {
        served.done(&["create", name]);
    }
    let (_orb, root) = served.naming();
    for name in ["d1", "d2"] {
        root.context(name).unwrap().destroy().unwrap();
    }
    let gone = "d1/  (no longer exists)\nd2/  (no longer exists)\n";
    assert_eq!(served.done(&["list", "-r"]), format!("a/\nb/\n{gone}"));
    let listed: Value = serde_json::from_str(&served.done(&["list", "-r", "--json"])).unwrap();
    assert_eq!(
        (&listed[2]["gone"], &listed[1]["gone"]),
        (&json!(true), &Value::Null)
    );
    let refused = served.run(&["list", "d2"]);
    assert_eq!(refused.code, 1);
    let advice = "the context `d2` no longer exists; `punctual naming unbind d2` makes its name free";
    assert!(refused.complained.contains(advice), "{}", refused.complained);
    served.done(&["unbind", "d2"]);
    served.done(&["destroy", "d1"]);
    assert_eq!(served.done(&["list"]), "a/\nb/\n");

    // The context of --at itself.
    let context = served.done(&["resolve", "b"]);
    served.done(&["destroy", "b"]);
    let gone = run(["naming", "list", "--at", context.trim_end()]);
    assert_eq!(gone.code, 3, "{}", gone.complained);
}

#[test]
fn an_error_between_two_batches_loses_no_fetched_name() {
    let served = Served::start(&["--iterators", "1"]);
    let (_orb, naming) = served.naming();
    let below = naming.create("a").unwrap();
    for number in 0..110 {
        naming.create(&format!("n{number}")).unwrap();
        below
            .bind(&format!("n{number}"), &below.reference().clone())
            .unwrap();
    }
    // The list of `a` needs the only iterator.
    let listed = served.run(&["list", "--recursive", "--json"]);
    assert_eq!(listed.code, 3, "{}", listed.complained);
    let rows: Vec<Value> = serde_json::from_str(&listed.said).unwrap();
    assert_eq!(rows.len(), 100 + 110);
}

#[test]
fn limits_are_arguments() {
    let served = Served::start(&[
        "--components",
        "2",
        "--component",
        "8",
        "--reference",
        "300",
        "--batch",
        "10",
        "--bindings",
        "3",
        "--octets",
        "2000",
        "--iterator-idle",
        "60",
        "--changes",
        "3",
        "--foreign-calls",
        "1",
        "--foreign-timeout",
        "0.5",
        "--threads",
        "2",
    ]);
    served.done(&["create", "a"]);
    let large = format!("corbaloc::1.2@127.0.0.1:1/{}", "k".repeat(300));
    let large = punctual::ior_to_string(&punctual::Ior {
        type_id: large,
        profiles: vec![punctual::TaggedProfile {
            tag: 77,
            data: vec![0; 300],
        }],
    });
    for (arguments, expected) in [
        (&["resolve", "a/b/c"][..], "--components"),
        (&["resolve", "123456789"], "--component`"),
        (&["bind", "x", &large], "--reference"),
    ] {
        let refused = served.run(arguments);
        let complained = refused.complained;
        assert!(
            refused.code == 1 && complained.contains(expected),
            "{arguments:?}: {complained}"
        );
    }
    served.done(&["create", "b"]);
    served.done(&["create", "c"]);
    let refused = served.run(&["create", "d"]);
    assert!(
        refused.code == 1 && refused.complained.contains("--bindings"),
        "{}",
        refused.complained
    );
    let created = (0..9).take_while(|number| served.run(&["create", &format!("a/{number}")]).code == 0);
    assert!(created.count() < 4);
    let refused = served.run(&["create", "b/x"]);
    assert!(
        refused.code == 1 && refused.complained.contains("--octets"),
        "{}",
        refused.complained
    );
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
