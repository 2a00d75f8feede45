//! Common part of all programs of this package: an ORB, an object, and a two-way call. `footprint-client` has
//! the caller's part, `footprint-server` the other one; each further program has one feature more than
//! `footprint-minimal`, and `footprint-everything` has all. `punctual bench orb.footprint` compares their
//! sizes.

pub mod badge;

use std::error::Error;

use punctual::prelude::*;

punctual::include_idl!("echo");
pub use echo::EchoerRef;

/// Result of a program.
pub type Done = Result<(), Box<dyn Error>>;

/// Servant of the object.
pub struct Host;

impl echo::Echoer for Host {
    fn repeat(&self, number: i32) -> Result<i32, SystemException> {
        Ok(number)
    }
}

/// Serves an object in this adapter, and calls it by its reference in text form.
///
/// # Errors
/// The object could not be served or called.
pub fn served(orb: &Orb, poa: &Poa) -> Result<EchoerRef, Box<dyn Error>> {
    let object: EchoerRef = poa.activate(Host)?;
    let echo: EchoerRef = orb.resolve(&orb.publish("Echo", &object)?)?;
    assert_eq!(echo.repeat(3)?, 3);
    Ok(echo)
}

/// Waits until standard input ends.
///
/// # Errors
/// Standard input cannot be read.
pub fn wait() -> Done {
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
    Ok(())
}
