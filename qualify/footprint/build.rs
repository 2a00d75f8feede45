//! Compiles the IDL to Rust.

fn main() -> Result<(), punctual_build::Error> {
    punctual_build::compile("idl/echo.idl")?;
    punctual_build::configure()
        .deferred("everything::Log::count")
        .compile(&["idl/everything.idl"])
}
