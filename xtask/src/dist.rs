//! `cargo xtask dist`: a static binary with completions, manual pages, licences and checksums, as an archive.

mod elf;
mod notices;

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    command::{self, cargo, root},
    metadata::Metadata,
};

/// Builds and packs, and prints where the archive is.
///
/// The program contains glibc, whose allocator can be told to keep freed memory (`mallopt`), which that of
/// musl cannot. Only to resolve host names does a static glibc look for the machine's own libraries.
pub fn run() -> Result<(), String> {
    let metadata = Metadata::read()?;
    let triple = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let package = ["-p", "punctual-cli", "--bin", "punctual"];
    let build = ["build", "--release", "--locked", "--target", &triple];
    let build = cargo(&[&build[..], &package].concat());
    build.env("RUSTFLAGS", "-C target-feature=+crt-static").run()?;
    let program = metadata.target_folder().join(&triple).join("release/punctual");
    let octets = fs::read(&program).map_err(|error| format!("{}: {error}", program.display()))?;
    if elf::needs_interpreter(&octets)? {
        return Err(format!("{} is linked dynamically", program.display()));
    }
    let version = metadata.version_of("punctual-cli")?;
    let folder = metadata.target_folder().join("dist");
    let name = format!("punctual-{version}-{triple}");
    let archive = pack(&program, &notices::text(&metadata, &triple)?, &folder, &name)?;
    println!("{}", archive.display());
    Ok(())
}

/// Shells with the names of the files in which they expect completions.
const SHELLS: [(&str, &str); 3] = [
    ("bash", "punctual.bash"),
    ("fish", "punctual.fish"),
    ("zsh", "_punctual"),
];

/// Puts everything into `folder/name`, and that into `folder/name.tar.gz`, with its checksum beside it.
fn pack(program: &Path, notices: &str, folder: &Path, name: &str) -> Result<PathBuf, String> {
    let content = folder.join(name);
    let failed = |error: std::io::Error| format!("{}: {error}", content.display());
    if content.exists() {
        fs::remove_dir_all(&content).map_err(failed)?;
    }
    fs::create_dir_all(content.join("completions")).map_err(failed)?;
    fs::create_dir_all(content.join("man/man1")).map_err(failed)?;
    fs::copy(program, content.join("punctual")).map_err(failed)?;
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        fs::copy(root().join(licence), content.join(licence)).map_err(failed)?;
    }
    fs::write(content.join("THIRD-PARTY.txt"), notices).map_err(failed)?;
    let program = program.to_string_lossy();
    for (shell, file) in SHELLS {
        let script = command::output(&program, &["completions", shell])?;
        fs::write(content.join("completions").join(file), script).map_err(failed)?;
    }
    let pages = content.join("man/man1");
    command::output(&program, &["man", "--out-dir", &pages.to_string_lossy()])?;
    let sums = within(
        &content,
        "find . -type f ! -name SHA256SUMS | LC_ALL=C sort | xargs sha256sum",
    )?;
    fs::write(content.join("SHA256SUMS"), sums).map_err(failed)?;
    // Equal contents make equal archives.
    within(
        folder,
        &format!(
            "tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -czf {name}.tar.gz {name} && \
             sha256sum {name}.tar.gz > {name}.tar.gz.sha256"
        ),
    )?;
    Ok(folder.join(format!("{name}.tar.gz")))
}

/// Runs a line of shell in a folder, and returns its output.
fn within(folder: &Path, line: &str) -> Result<String, String> {
    let script = format!("cd \"$0\" && {line}");
    command::output("sh", &["-c", &script, &folder.to_string_lossy()])
}

#[cfg(test)]
mod tests;
