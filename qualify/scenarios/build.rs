//! Compiles the interfaces of the measurements.

use std::{
    env,
    error::Error,
    fmt::Write as _,
    fs::{self, File},
    path::Path,
    time::SystemTime,
};

fn main() -> Result<(), Box<dyn Error>> {
    punctual_build::compile("idl/cubit.idl")?;
    punctual_build::compile("idl/dynamic.idl")?;
    punctual_build::compile("idl/image.idl")?;
    punctual_build::compile("idl/load.idl")?;
    let folder = env::var("OUT_DIR")?;
    let (mut interfaces, mut servants) = (String::from("module bench {\n"), String::new());
    for (name, operations) in [("One", 1), ("Ten", 10), ("Hundred", 100), ("Thousand", 1_000)] {
        writeln!(interfaces, "interface {name} {{")?;
        writeln!(servants, "impl {name} for Servant {{")?;
        for number in 1..=operations {
            let operation = format!("operation_{number:04}");
            writeln!(interfaces, "long {operation} (in long value);")?;
            writeln!(
                servants,
                "fn {operation}(&self, value: i32) -> Result<i32, SystemException> {{ Ok(value + {number}) }}"
            )?;
        }
        interfaces.push_str("};\n");
        servants.push_str("}\n");
    }
    interfaces.push_str("};\n");
    write(&Path::new(&folder).join("servants.rs"), &servants)?;
    let interfaces_file = Path::new(&folder).join("operations.idl");
    write(&interfaces_file, &interfaces)?;
    Ok(punctual_build::compile(interfaces_file)?)
}

/// Writes a file that cargo does not take for a changed source of this script.
fn write(path: &Path, text: &str) -> Result<(), Box<dyn Error>> {
    fs::write(path, text)?;
    Ok(File::options()
        .append(true)
        .open(path)?
        .set_modified(SystemTime::UNIX_EPOCH)?)
}
