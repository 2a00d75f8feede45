//! The image folder on another vendor's ORB: a program of its own, which is asked for tiles by its clients
//! and asks this process for the compressed ones.

use std::{fmt::Write, path::Path, time::Duration};

use punctual_os::ThreadSpec;

use super::{Images, QUEUE};
use crate::{error::Error, load::OtherProgram};

/// Timeout of the start.
const START: Duration = Duration::from_secs(20);
/// Time without requests after which the program is ended.
const IDLE: Duration = Duration::from_secs(3600);

/// Starts the program, which serves the folder at this address; returns its reference. It ends with this
/// process.
pub(super) fn serve(program: &Path, address: &str) -> Result<String, Error> {
    let endpoint = format!("giop:tcp:{address}:");
    let mut program = OtherProgram::start(
        program,
        &["folder", &QUEUE.to_string(), "-ORBendPoint", &endpoint],
    )?;
    let reference = program.read(START)?;
    ThreadSpec::new("collaboration").spawn(move || {
        let images = Images::new();
        while let Ok(line) = program.read(IDLE) {
            let Some((number, octets)) = request_of(&line) else {
                continue;
            };
            let mut answer = format!("{number} ");
            for octet in images.tile(number, octets) {
                // Texts take everything.
                let _ = write!(answer, "{octet:02x}");
            }
            if program.write(answer).is_err() {
                return;
            }
        }
    })?;
    Ok(reference)
}

/// The number of a tile, and how many octets it may have.
fn request_of(line: &str) -> Option<(u32, u32)> {
    let (number, octets) = line.split_once(' ')?;
    Some((number.parse().ok()?, octets.parse().ok()?))
}
