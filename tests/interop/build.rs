//! Compiles the interoperability IDL.

fn main() -> Result<(), punctual_build::Error> {
    punctual_build::configure().compile(&["idl/interop.idl", "idl/dynamics.idl", "idl/quad.idl"])
}
