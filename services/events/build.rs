//! Compiles the IDL of the event service and its inspection, and a topic for its tests, to Rust.

fn main() -> Result<(), punctual_build::Error> {
    punctual_build::compile("idl/federation.idl")?;
    punctual_build::compile("idl/inspection.idl")?;
    punctual_build::compile("tests/idl/track.idl")
}
