//! Commands of the fifth example's README.

use super::readme::{Readme, Server, assert_answers, assert_fails_without_server};

#[test]
fn the_readme_shows_the_actual_output() {
    let readme = Readme::of("05-scheduler-of-your-own");
    let ([server, client], [working_at, orders]) = (&readme.blocks("sh")[..], &readme.blocks("text")[..])
    else {
        panic!("expected two commands and two outputs");
    };
    assert_fails_without_server(client);
    let server = Server::start(server);
    assert_eq!(server.first_line, *working_at);
    for _ in 0..2 {
        assert_answers(client, orders);
    }
}
