//! Turns the IDL into Rust.

fn main() -> Result<(), punctual_build::Error> {
    punctual_build::compile("idl/cos_naming.idl")
}
