//! Compiles the IDL under test.

fn main() -> Result<(), punctual_build::Error> {
    punctual_build::configure()
        .runtime_path("::punctual_stub::rt")
        .include_dir("idl/include")
        .define("WITH_LIMITS", "1")
        .attribute("AtFileScope", "#[derive(PartialOrd)]")
        .compile(&[
            "idl/abstract.idl",
            "idl/any.idl",
            "idl/cubit.idl",
            "idl/features.idl",
            "idl/large_arrays.idl",
            "idl/local.idl",
            "idl/names.idl",
            "idl/scopes.idl",
            "idl/values.idl",
            "idl/wide.idl",
        ])
}
