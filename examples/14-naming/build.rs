//! Compiles the IDL to Rust.

fn main() -> Result<(), punctual_build::Error> {
    punctual_build::compile("idl/plant.idl")
}
