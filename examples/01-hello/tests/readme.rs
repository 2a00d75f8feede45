//! Runs the commands of the README and compares their output with the README's.

mod terminal;

use terminal::{Server, blocks_of, command};

const README: &str = include_str!("../README.md");

#[test]
fn commands_of_the_readme_print_its_output() {
    let commands = blocks_of(README, "sh");
    let [server, client, _, _] = commands[..] else {
        panic!("expected two commands in the README: {commands:?}");
    };
    let shown = blocks_of(README, "text");
    let [greeting_at, greeting] = shown[..] else {
        panic!("expected two outputs in the README: {shown:?}");
    };

    // No server is running yet.
    let failure = command(client).output().unwrap();
    let said = String::from_utf8_lossy(&failure.stderr);
    assert_eq!(failure.status.code(), Some(1), "{said}");
    assert!(said.contains("check that the server is running"), "{said}");

    let server = Server::start(server);
    assert_eq!(server.first_line, greeting_at);

    let answer = command(client).output().unwrap();
    let said = String::from_utf8_lossy(&answer.stderr);
    assert!(answer.status.success(), "{said}");
    assert_eq!(String::from_utf8_lossy(&answer.stdout).trim_end(), greeting);
}

/// The server is killed, so it cannot close its connections in good order.
#[test]
fn the_first_call_after_a_restart_succeeds() {
    let [_, _, server, client] = blocks_of(README, "sh")[..] else {
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
    for (name, text, most) in [
        ("hello.idl", include_str!("../idl/hello.idl"), 15),
        ("server.rs", include_str!("../src/bin/server.rs"), 40),
        ("client.rs", include_str!("../src/bin/client.rs"), 20),
    ] {
        let lines = text.lines().count();
        assert!(lines <= most, "{name} has {lines} lines, at most {most}");
    }
}

#[test]
fn front_page_shows_the_sources_of_this_example() {
    const FRONT_PAGE: &str = include_str!("../../../README.md");
    let [idl] = blocks_of(FRONT_PAGE, "idl")[..] else {
        panic!("expected one interface on the front page");
    };
    assert_eq!(idl, include_str!("../idl/hello.idl").trim());
    let [build, server, client] = blocks_of(FRONT_PAGE, "rust")[..] else {
        panic!("expected a build script, a server and a client on the front page");
    };
    let build = build.trim_start_matches("// build.rs\n");
    assert!(
        include_str!("../build.rs").contains(build),
        "the build script differs"
    );
    let shown = include_str!("../src/bin/server.rs");
    assert!(shown.ends_with(&format!("\n{server}\n")), "the server differs");
    assert_lines_are_in(client, include_str!("../src/bin/client.rs"));
}

/// Every line of the block is a line of the source, with any indentation.
fn assert_lines_are_in(block: &str, source: &str) {
    for line in block.lines() {
        let found = source.lines().any(|other| other.trim() == line.trim());
        assert!(found, "no compiled code has the line `{line}`");
    }
}
