//! Compiles the IDL to Rust: `expose` for a servant that answers later.

fn main() -> Result<(), punctual_build::Error> {
    punctual_build::configure()
        .deferred("observatory::Camera::expose")
        .compile(&["idl/observatory.idl"])
}
