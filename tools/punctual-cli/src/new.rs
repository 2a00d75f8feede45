//! `punctual new`: a package with interface, servant, server, client and tests that builds at once.

mod example;

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use punctual_idl::{MemoryLoader, compile};
use punctual_report::terminal::complain;

/// Settings of `punctual new`.
#[derive(Debug, Args)]
pub struct Options {
    /// Folder to create; its last part names the package
    #[arg(value_name = "NAME")]
    pub folder: PathBuf,
    /// Checkout of Punctual to depend on; default: the one that this program was built from, if it still
    /// exists, else the published version
    #[arg(long, value_name = "DIR", conflicts_with = "published")]
    pub checkout: Option<PathBuf>,
    /// Depend on the published version
    #[arg(long)]
    pub published: bool,
    /// Copy this example of the checkout, such as `all-together`, with its sources unchanged
    #[arg(long, value_name = "EXAMPLE", conflicts_with = "published")]
    pub example: Option<String>,
}

/// Runs the command.
pub fn run(options: &Options) -> ExitCode {
    match create(options) {
        Ok(()) if options.example.is_some() => {
            let folder = options.folder.display();
            println!("Created {folder}; its README.md explains it. Next:\n  cd {folder}\n  cargo build");
            ExitCode::SUCCESS
        }
        Ok(()) => {
            let folder = options.folder.display();
            let used = match checkout(options) {
                Ok(Some(checkout)) => {
                    format!("the checkout {} (--checkout names another)", checkout.display())
                }
                _ => "the published version".to_owned(),
            };
            println!(
                "Created {folder}. It depends on {used}. Next:\n  cd {folder}\n  cargo test\n  cargo run --bin server\n  \
                 cargo run --bin client      in a second terminal"
            );
            ExitCode::SUCCESS
        }
        Err(problem) => {
            complain(&problem);
            ExitCode::from(2)
        }
    }
}

fn create(options: &Options) -> Result<(), String> {
    let folder = &options.folder;
    if let Some(example) = &options.example {
        let checkout =
            checkout(options)?.ok_or("examples need a checkout of Punctual: state --checkout DIR")?;
        return example::copy(&checkout, example, folder);
    }
    let name = folder
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let module = name.replace('-', "_");
    check_name(name, &module)?;
    let [punctual, build] = dependencies(options)?;
    let words = [
        ("{{name}}", name),
        ("{{module}}", &module),
        ("{{punctual}}", &punctual),
        ("{{punctual-build}}", &build),
    ];
    fs::create_dir(folder).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => format!("{} exists; choose another name", folder.display()),
        io::ErrorKind::NotFound => format!(
            "{} cannot be created: the folder {} does not exist",
            folder.display(),
            folder.parent().unwrap_or(folder).display()
        ),
        _ => format!("{} cannot be created: {error}", folder.display()),
    })?;
    for (path, template) in FILES {
        let file = folder.join(filled(path, &words));
        let parent = file.parent().unwrap_or(folder);
        fs::create_dir_all(parent)
            .and_then(|()| fs::write(&file, filled(template, &words)))
            .map_err(|error| format!("{} cannot be written: {error}", file.display()))?;
    }
    Ok(())
}

/// The name is one of Cargo, of Rust and of IDL.
fn check_name(name: &str, module: &str) -> Result<(), String> {
    let is_simple = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c));
    if !is_simple {
        return Err(format!(
            "`{name}` cannot name a package; use lower-case letters, digits and `-`, a letter first, such as \
             `valve-control`"
        ));
    }
    let interface = MemoryLoader::new().with("name.idl", format!("module {module} {{ interface I {{}}; }};"));
    let is_word_of_idl = compile("name.idl", &punctual_idl::Options::default(), &interface)
        .specification
        .is_none();
    if is_word_of_idl || WORDS_OF_RUST.contains(&module) {
        return Err(format!(
            "`{name}` has a meaning of its own in IDL, Rust or Cargo; choose another name"
        ));
    }
    Ok(())
}

/// Entries of `Cargo.toml` for `punctual` and `punctual-build`.
fn dependencies(options: &Options) -> Result<[String; 2], String> {
    let checkout = checkout(options)?;
    let version = concat!(
        "\"",
        env!("CARGO_PKG_VERSION_MAJOR"),
        ".",
        env!("CARGO_PKG_VERSION_MINOR"),
        "\""
    );
    Ok(["crates/punctual", "idl/build"].map(|folder| match &checkout {
        Some(checkout) => format!("{{ path = {:?} }}", checkout.join(folder)),
        None => version.to_owned(),
    }))
}

/// The checkout to depend on; `None`: the published version.
fn checkout(options: &Options) -> Result<Option<PathBuf>, String> {
    match &options.checkout {
        Some(folder) => checkout_at(folder).map(Some).ok_or_else(|| {
            format!(
                "{} is not a checkout of Punctual: it has no crates/punctual/Cargo.toml",
                folder.display()
            )
        }),
        None if options.published => Ok(None),
        None => Ok(checkout_at(Path::new(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../.."
        )))),
    }
}

fn checkout_at(folder: &Path) -> Option<PathBuf> {
    let folder = folder.canonicalize().ok()?;
    folder
        .join("crates/punctual/Cargo.toml")
        .is_file()
        .then_some(folder)
}

fn filled(template: &str, words: &[(&str, &str)]) -> String {
    words.iter().fold(template.to_owned(), |text, (word, value)| {
        text.replace(word, value)
    })
}

/// Path in the package and contents.
const FILES: [(&str, &str); 9] = [
    ("Cargo.toml", include_str!("../templates/new/Cargo.toml.txt")),
    (".gitignore", include_str!("../templates/new/gitignore.txt")),
    ("README.md", include_str!("../templates/new/README.md.txt")),
    ("build.rs", include_str!("../templates/new/build.rs.txt")),
    (
        "idl/{{module}}.idl",
        include_str!("../templates/new/idl/interface.idl.txt"),
    ),
    ("src/lib.rs", include_str!("../templates/new/src/lib.rs.txt")),
    (
        "src/bin/server.rs",
        include_str!("../templates/new/src/bin/server.rs.txt"),
    ),
    (
        "src/bin/client.rs",
        include_str!("../templates/new/src/bin/client.rs.txt"),
    ),
    (
        "tests/calls.rs",
        include_str!("../templates/new/tests/calls.rs.txt"),
    ),
];

/// Names that Rust or Cargo refuses for a package or its library, and those of its dependencies.
const WORDS_OF_RUST: [&str; 47] = [
    "alloc",
    "as",
    "async",
    "await",
    "break",
    "build",
    "core",
    "crate",
    "deps",
    "dyn",
    "else",
    "examples",
    "extern",
    "false",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "incremental",
    "let",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "override",
    "proc_macro",
    "pub",
    "punctual",
    "ref",
    "return",
    "self",
    "signal_hook",
    "static",
    "std",
    "super",
    "test",
    "trait",
    "true",
    "try",
    "type",
    "unsafe",
    "use",
    "where",
    "while",
];
