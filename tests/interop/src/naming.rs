//! Naming services of other ORBs, and what any naming service answers to the same calls.

use std::{net::TcpStream, path::Path, process::Command, time::Duration};

use punctual::{Interface, ObjectRef, naming::Name};
use punctual_fixtures::{Missing, skip, waiting::holds_within};
use punctual_naming::idl::cos_naming::{self, Binding, NamingContextExtRef, NamingContextRef};

use crate::process::{Program, works};

const START: Duration = Duration::from_secs(30);

/// A running naming service of another ORB.
pub struct NameServer {
    _program: Program,
}

impl NameServer {
    pub(crate) fn start(folder: &Path, name: &str, command: Command, is_ready: impl Fn() -> bool) -> Self {
        let mut program = Program::start(folder, name, command);
        holds_within(START, || is_ready() || program.has_ended());
        assert!(!program.has_ended(), "{name} ends:\n{}", program.output());
        Self { _program: program }
    }

    /// Starts omniNames with this folder for its data and this port of 127.0.0.1; records a skip without it.
    ///
    /// # Panics
    /// If it does not start.
    pub fn omni_names(data: &Path, port: u16) -> Option<Self> {
        if !works("omniNames", &["-help"]) && which("omniNames").is_none() {
            skip(
                Missing::Peer,
                "omniNames is not there: sudo apt-get install omniorb-nameserver",
            );
            return None;
        }
        let mut command = Command::new("omniNames");
        command
            .args(["-start", &port.to_string(), "-always", "-datadir"])
            .arg(data);
        command.arg("-errlog").arg(data.join("omninames.errors"));
        command.args(["-ORBendPointPublish", "giop:tcp:127.0.0.1:"]);
        let listens = || TcpStream::connect(("127.0.0.1", port)).is_ok();
        Some(Self::start(data, "omninames", command, listens))
    }
}

fn which(program: &str) -> Option<()> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .find(|folder| folder.join(program).exists())
        .map(drop)
}

/// A name as the generated code has it.
///
/// # Panics
/// If the text is not a name.
pub fn wire(text: &str) -> cos_naming::Name {
    let name: Name = text.parse().expect("a name");
    let components = name.components().iter().map(|one| cos_naming::NameComponent {
        id: one.id.clone(),
        kind: one.kind.clone(),
    });
    components.collect()
}

/// The answers of a naming service, a line for each call: the same calls in the same order for each service.
/// `object` is what is bound, in an empty context that is made for it.
///
/// # Panics
/// If the service does not work at all.
pub fn answers(root: &NamingContextExtRef, object: &ObjectRef) -> Vec<String> {
    let created = root.bind_new_context(&wire("punctual.test")).expect("a context");
    let test = created.expect("a context");
    let test = NamingContextExtRef::from_object(test.as_object().clone());
    let mut lines = Vec::new();
    let mut note = |call: &str, answer: String| lines.push(format!("{call}: {answer}"));
    for name in ["a", "a/b", "a/b/.k"] {
        note(
            &format!("bind_new_context {name}"),
            shown(test.bind_new_context(&wire(name)), |_| String::new()),
        );
    }
    for name in ["o.k", "a/b/o", r"a\/\.\\"] {
        note(
            &format!("bind {name}"),
            shown(test.bind(&wire(name), Some(object)), |()| String::new()),
        );
    }
    for name in [
        "a", "o.k", "o", "x/y", "a/x/y", "o.k/x/y", "a/b/o", "a/b/o/x", "a/b/.k",
    ] {
        let n = wire(name);
        let kind = |found: Option<ObjectRef>| {
            let found = found.map(|found| {
                if found.is_equivalent(object) {
                    "object"
                } else {
                    "other"
                }
            });
            found.unwrap_or("nil").to_owned()
        };
        note(&format!("resolve {name}"), shown(test.resolve(&n), kind));
        note(
            &format!("resolve_str {name}"),
            shown(test.resolve_str(name), kind),
        );
        if name.contains('x') {
            note(
                &format!("unbind {name}"),
                shown(test.unbind(&n), |()| String::new()),
            );
            note(
                &format!("bind {name}"),
                shown(test.bind(&n, Some(object)), |()| String::new()),
            );
        }
    }
    let context = NamingContextRef::from_object(test.as_object().clone());
    for name in ["a", "o.k"] {
        let n = wire(name);
        note(
            &format!("bind {name}"),
            shown(test.bind(&n, Some(object)), |()| String::new()),
        );
        note(
            &format!("bind_new_context {name}"),
            shown(test.bind_new_context(&n), |_| String::new()),
        );
        note(
            &format!("bind_context {name}"),
            shown(test.bind_context(&n, Some(&context)), |()| String::new()),
        );
    }
    for (name, call) in [("r", "rebind"), ("s", "rebind_context")] {
        let n = wire(name);
        let bound = match call {
            "rebind" => {
                test.bind_new_context(&n).expect("a context");
                shown(test.rebind(&n, Some(object)), |()| String::new())
            }
            _ => {
                test.bind(&n, Some(object)).expect("an object");
                shown(test.rebind_context(&n, Some(&context)), |()| String::new())
            }
        };
        note(&format!("{call} of the other type"), bound);
        test.unbind(&n).expect("the name is bound");
    }
    note(
        "rebind o.k",
        shown(test.rebind(&wire("o.k"), Some(object)), |()| String::new()),
    );
    note("resolve nothing", shown(test.resolve(&[]), |_| String::new()));
    note("unbind nothing", shown(test.unbind(&[]), |()| String::new()));
    note("destroy", shown(test.destroy(), |()| String::new()));
    let (bindings, iterator) = test.list(100).expect("a list");
    note(
        "list 100",
        format!("{} {}", listed(&bindings), iterator.is_some()),
    );
    let (bindings, iterator) = test.list(0).expect("a list");
    note("list 0", format!("{} {}", bindings.len(), iterator.is_some()));
    if let Some(iterator) = iterator {
        let (has, first) = iterator.next_one().expect("a binding");
        let (more, others) = iterator.next_n(100).expect("bindings");
        note(
            "iterator",
            format!("{has} {more} {}", listed(&[&[first][..], &others].concat())),
        );
        note(
            "next_one at the end",
            iterator.next_one().expect("an answer").0.to_string(),
        );
        note(
            "next_n at the end",
            iterator.next_n(5).expect("an answer").0.to_string(),
        );
        note("destroy iterator", shown(iterator.destroy(), |()| String::new()));
        note(
            "next_one of a destroyed one",
            shown(iterator.next_one(), |_| String::new()),
        );
    }
    for text in [
        "a/b.c",
        ".",
        r"a\/b\.c\\/.k",
        "",
        "a//b",
        "/a",
        "a/",
        "a.",
        "a.b.c",
        r"a\b",
    ] {
        let back = test.to_name(text).map(|name| test.to_string(&name));
        let back = shown(back, |text| shown(text, |text| text));
        note(&format!("to_name `{text}` and back"), back);
    }
    for (address, text) in [
        (":h:1/K", r"a b/c\.d"),
        (":h", ""),
        ("", "a"),
        (":h", "a."),
        ("rir:", "a"),
    ] {
        note(
            &format!("to_url `{address}` `{text}`"),
            shown(test.to_url(address, text), |url| url),
        );
    }
    for name in ["a/b/.k", "a/b/o", "a/b", "a", "o.k", r"a\/\.\\"] {
        note(
            &format!("unbind {name}"),
            shown(test.unbind(&wire(name)), |()| String::new()),
        );
    }
    note("destroy", shown(test.destroy(), |()| String::new()));
    note("list of a destroyed one", shown(test.list(1), |_| String::new()));
    root.unbind(&wire("punctual.test")).expect("the name of the test");
    lines
}

/// A result, or the exception with its members.
fn shown<R, E: std::fmt::Display>(result: Result<R, E>, show: impl FnOnce(R) -> String) -> String {
    match result {
        Ok(result) => format!("ok {}", show(result)).trim_end().to_owned(),
        Err(error) => {
            let text = error.to_string();
            let is_system = text.starts_with("CORBA::");
            let end = text.find(" (").filter(|_| is_system);
            let mut text = text[..end.unwrap_or(text.len())].to_owned();
            for (long, short) in [
                ("CosNaming::NamingContext::", ""),
                ("CosNaming::NamingContextExt::", ""),
                ("NameComponent { id: \"", "("),
                ("\", kind: \"", "."),
                ("\" }", ")"),
                (", rest_of_name:", ""),
                ("why: ", ""),
            ] {
                text = text.replace(long, short);
            }
            text
        }
    }
}

/// Names in their order, contexts with a `/`.
fn listed(bindings: &[Binding]) -> String {
    let names = bindings.iter().map(|binding| {
        let mark = if binding.binding_type == cos_naming::BindingType::Ncontext {
            "/"
        } else {
            ""
        };
        let components = binding.binding_name.iter();
        let names: Vec<_> = components.map(|one| format!("{}.{}", one.id, one.kind)).collect();
        format!("{}{mark}", names.join("+"))
    });
    let mut names: Vec<_> = names.collect();
    names.sort();
    names.join(" ")
}
