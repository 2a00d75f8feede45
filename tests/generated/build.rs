//! Compiles the IDL under test.

mod names_of_rust;

use std::{env, fs, path::PathBuf};

use punctual_build::{Builder, Code, configure};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let configure = || configure().runtime_path("::punctual_stub::rt");
    let into = |folder: &str, builder: Builder| {
        let out_dir = env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
        builder.out_dir(out_dir.join(folder))
    };
    let station = ["idl/station.idl"];
    configure().compile(&["idl/included/base.idl"])?;
    configure().extern_path("::", "crate::base").compile(&station)?;
    configure().compile_together("together", &["idl/station.idl", "idl/display.idl"])?;
    let names_of_rust = PathBuf::from(env::var("OUT_DIR")?).join("names_of_rust.idl");
    fs::write(&names_of_rust, names_of_rust::idl())?;
    configure().compile(&[&names_of_rust])?;
    into("client", configure().client_only()).compile(&station)?;
    into("server", configure().server_only()).compile(&station)?;
    configure()
        .attribute("records", "#[derive(serde::Deserialize, serde::Serialize)]")
        .attribute("records::Record::frame", "#[serde(with = \"crate::octets\")]")
        .compile(&["idl/records.idl"])?;
    configure()
        .include_dir("idl/include")
        .define("WITH_LIMITS", "1")
        // What other code defines.
        .allow(Code::OnlyDeclared)
        .attribute("AtFileScope", "#[derive(PartialOrd)]")
        .attribute("ManyMembers::Texts", "#[derive(Eq, Hash, PartialOrd)]")
        .circular("circular")
        .attribute("values::Alarm", "#[derive(Eq)]")
        .attribute("values::Label", "#[derive(PartialOrd)]")
        .compile(&[
            "idl/abstract.idl",
            "idl/any.idl",
            "idl/circular.idl",
            "idl/cubit.idl",
            "idl/features.idl",
            "idl/idl4.idl",
            "idl/large_arrays.idl",
            "idl/large_scalars.idl",
            "idl/many_members.idl",
            "idl/local.idl",
            "idl/names.idl",
            "idl/scopes.idl",
            "idl/type_codes.idl",
            "idl/value_base.idl",
            "idl/values.idl",
            "idl/wide.idl",
        ])?;
    Ok(())
}
