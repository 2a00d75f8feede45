//! Each program does what its size is compared for, and ends.

use std::process::Command;

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
    ];
    for program in programs {
        let output = Command::new(program).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program}: {said}");
    }
}
