//! Compiles the interoperability IDL.

fn main() -> Result<(), punctual_build::Error> {
    punctual_build::compile("idl/interop.idl")
}
