//! Writes and compiles interfaces of many operations, with a servant.

use std::{env, error::Error, fmt::Write as _, fs, path::Path};

/// The interfaces, by their numbers of operations: most that are compared as text, least that are matched
/// octet by octet, and many.
const INTERFACES: [(&str, u32); 4] = [("One", 1), ("Eight", 8), ("Nine", 9), ("Thousand", 1_000)];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let (mut interfaces, mut servants) = (String::new(), String::new());
    for (name, operations) in INTERFACES {
        writeln!(interfaces, "interface {name} {{")?;
        writeln!(servants, "impl operations::{name} for Servant {{")?;
        for number in 1..=operations {
            writeln!(interfaces, "long operation_{number:04} (in long value);")?;
            writeln!(
                servants,
                "fn operation_{number:04}(&self, value: i32) -> Result<i32, SystemException> {{ Ok(value) }}"
            )?;
        }
        interfaces.push_str("};\n");
        servants.push_str("}\n");
    }
    let folder = env::var("OUT_DIR")?;
    fs::write(Path::new(&folder).join("servants.rs"), servants)?;
    let file = Path::new(&folder).join("operations.idl");
    fs::write(&file, interfaces)?;
    Ok(punctual_build::configure().server_only().compile(&[file])?)
}
