//! Compiles the interfaces of the measurements.

fn main() -> Result<(), punctual_build::Error> {
    punctual_build::compile("idl/cubit.idl")?;
    punctual_build::compile("idl/dynamic.idl")?;
    punctual_build::compile("idl/image.idl")?;
    punctual_build::compile("idl/load.idl")
}
