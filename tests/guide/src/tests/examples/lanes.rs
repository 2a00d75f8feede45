//! Commands of the second example's README.

use super::readme::{Readme, Server, assert_answers, assert_fails_without_server, command, complaints, said};

#[test]
fn commands_of_the_readme_print_its_output() {
    let readme = Readme::of("02-lanes");
    let commands = readme.blocks("sh");
    let [server, client, server_from_file, plan] = commands[..] else {
        panic!("expected four commands in the README: {commands:?}");
    };
    let shown = readme.blocks("text");
    let [working_at, answers, feasible] = shown[..] else {
        panic!("expected three outputs in the README: {shown:?}");
    };
    assert_fails_without_server(client);

    // One after the other: both listen on the same port.
    for line in [server, server_from_file] {
        let server = Server::start(line);
        assert_eq!(server.first_line, working_at, "{line}");
        // The second run is independent of the first.
        for _ in 0..2 {
            assert_answers(client, answers);
        }
    }

    let planned = command(plan).output().unwrap();
    assert!(planned.status.success(), "{}", complaints(&planned));
    assert!(said(&planned).ends_with(feasible), "{}", said(&planned));
}
