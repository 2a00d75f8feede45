//! Each program does what its size is compared for, and ends.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

#[test]
fn every_program_uses_its_feature() {
    let programs = [
        env!("CARGO_BIN_EXE_footprint-minimal"),
        env!("CARGO_BIN_EXE_footprint-lanes"),
        env!("CARGO_BIN_EXE_footprint-asynchronous"),
        env!("CARGO_BIN_EXE_footprint-dynamic"),
        env!("CARGO_BIN_EXE_footprint-interceptors"),
        env!("CARGO_BIN_EXE_footprint-distributable-threads"),
        env!("CARGO_BIN_EXE_footprint-events"),
        env!("CARGO_BIN_EXE_footprint-everything"),
    ];
    for program in programs {
        let output = Command::new(program).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program}: {said}");
    }
}

#[test]
fn the_client_calls_the_server_and_both_wait_until_their_input_ends() {
    let start = |program, arguments: &[&str]| {
        let child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        child.unwrap()
    };
    let line = |child: &mut Child| {
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    };
    let mut server = start(env!("CARGO_BIN_EXE_footprint-server"), &[]);
    let reference = line(&mut server);
    let mut client = start(env!("CARGO_BIN_EXE_footprint-client"), &[&reference]);
    assert_eq!(line(&mut client), "3");
    for mut child in [client, server] {
        assert_eq!(child.try_wait().unwrap(), None, "it waits");
        // This closes its standard input.
        assert!(child.wait().unwrap().success());
    }
}
