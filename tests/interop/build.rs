//! Compiles the interoperability IDL.

fn main() -> Result<(), punctual_build::Error> {
    let build = punctual_build::configure();
    let build = build.define("CUSTOM_VALUES", "").define("CONTEXTS", "");
    let build = build.circular("Dynamics::Node");
    build.compile(&["idl/interop.idl", "idl/dynamics.idl", "idl/quad.idl"])
}
