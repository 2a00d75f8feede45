//! Compiles the IDL of the event service to Rust.

fn main() -> Result<(), punctual_build::Error> {
    punctual_build::compile("idl/rtec.idl")
}
