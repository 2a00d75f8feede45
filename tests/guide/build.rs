//! Compiles the IDL of two examples, which the snippets use.

fn main() -> Result<(), punctual_build::Error> {
    punctual_build::compile("../../examples/01-hello/idl/hello.idl")?;
    punctual_build::compile("../../examples/07-events/idl/radar.idl")
}
