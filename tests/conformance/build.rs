//! Compiles the interfaces that the tests call.

fn main() -> Result<(), punctual_build::Error> {
    punctual_build::compile("idl/conformance.idl")?;
    punctual_build::compile("idl/travel.idl")
}
