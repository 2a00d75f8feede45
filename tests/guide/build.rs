//! Compiles the IDL of the first example, which the snippets use.

fn main() -> Result<(), punctual_build::Error> {
    punctual_build::compile("../../examples/01-hello/idl/hello.idl")
}
