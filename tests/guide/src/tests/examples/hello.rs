//! Commands and sources of the first example, which other pages show, too.

use std::fs;

use super::{
    readme::{ROOT, Readme, Server, assert_answers, assert_fails_without_server, blocks_of},
    source,
};

const EXAMPLE: &str = "01-hello";

#[test]
fn commands_of_the_readme_print_its_output() {
    let readme = Readme::of(EXAMPLE);
    let commands = readme.blocks("sh");
    let [server, client, _, _] = commands[..] else {
        panic!("expected two commands in the README: {commands:?}");
    };
    let shown = readme.blocks("text");
    let [greeting_at, greeting] = shown[..] else {
        panic!("expected two outputs in the README: {shown:?}");
    };
    assert_fails_without_server(client);
    let server = Server::start(server);
    assert_eq!(server.first_line, greeting_at);
    assert_answers(client, greeting);
}

/// The server is killed, so it cannot close its connections gracefully.
#[test]
fn the_first_call_after_a_restart_succeeds() {
    let readme = Readme::of(EXAMPLE);
    let [_, _, server, client] = readme.blocks("sh")[..] else {
        panic!("expected four commands in the README");
    };
    let first = Server::start(server);
    assert_eq!(
        first.first_line,
        "Greeting at corbaloc:iiop:1.2@localhost:2815/Greeter"
    );
    let client = Server::start(client);
    let greeting = "Hello again, world! (served at priority 32767)";
    assert_eq!(client.first_line, greeting);
    let mut running = first;
    for _ in 0..3 {
        drop(running);
        running = Server::start(server);
        // In the second without a server, it says what it knows.
        let answers = std::iter::repeat_with(|| client.next_line());
        let first = answers.take(5).find(|line| {
            !line.contains("no server is listening") && !line.contains("the server is starting")
        });
        assert_eq!(first.as_deref(), Some(greeting));
    }
}

#[test]
fn sources_are_short() {
    for (name, most) in [
        ("idl/hello.idl", 15),
        ("src/bin/server.rs", 40),
        ("src/bin/client.rs", 20),
    ] {
        let lines = source(EXAMPLE, name).lines().count();
        assert!(lines <= most, "{name} has {lines} lines, at most {most}");
    }
}

#[test]
fn front_page_shows_the_sources_of_this_example() {
    let front_page = fs::read_to_string(format!("{ROOT}/README.md")).unwrap();
    let [idl] = blocks_of(&front_page, "idl")[..] else {
        panic!("expected one interface on the front page");
    };
    assert_eq!(idl, source(EXAMPLE, "idl/hello.idl").trim());
    let [build, server, client] = blocks_of(&front_page, "rust")[..] else {
        panic!("expected a build script, a server and a client on the front page");
    };
    let build = build.trim_start_matches("// build.rs\n");
    assert!(
        source(EXAMPLE, "build.rs").contains(build),
        "the build script differs"
    );
    let shown = source(EXAMPLE, "src/bin/server.rs");
    assert!(shown.ends_with(&format!("\n{server}\n")), "the server differs");
    assert_lines_are_in(client, &source(EXAMPLE, "src/bin/client.rs"));
}

/// Every line of the block is a line of the source, with any indentation.
fn assert_lines_are_in(block: &str, source: &str) {
    for line in block.lines() {
        let found = source.lines().any(|other| other.trim() == line.trim());
        assert!(found, "no compiled code has the line `{line}`");
    }
}
