//! `cargo xtask gallery`: draws the figure of the README from a run of `punctual demo`, light and dark.

mod figure;
mod measured;

use std::{fs, path::Path};

use crate::command::{cargo, root};

use self::{figure::Theme, measured::Demo};

/// Folder of the figures.
const FOLDER: &str = "docs/gallery";

/// Measures, or reads `--from FILE.json`, and writes the figures.
pub fn run(arguments: &[&str]) -> Result<(), String> {
    let demo = match arguments {
        [] => measure()?,
        ["--from", file] => Demo::read(Path::new(file))?,
        _ => return Err("usage: cargo xtask gallery [--from FILE.json]".into()),
    };
    let folder = root().join(FOLDER);
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for theme in [Theme::LIGHT, Theme::DARK] {
        let file = folder.join(format!("demo-{}.svg", theme.name));
        fs::write(&file, figure::svg(&demo, &theme))
            .map_err(|error| format!("{}: {error}", file.display()))?;
        println!("{FOLDER}/demo-{}.svg", theme.name);
    }
    Ok(())
}

/// Runs the release build's demo. Its exit code is not tested: a claim that fails belongs in the figure, too.
fn measure() -> Result<Demo, String> {
    cargo(&["build", "--release", "--package", "punctual-cli"]).run()?;
    let folder = root().join("target/gallery");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let (json, html) = (folder.join("demo.json"), folder.join("demo.html"));
    // A failed run must not leave the figures of an earlier one.
    let _ = fs::remove_file(&json);
    let (json_text, html_text) = (json.display().to_string(), html.display().to_string());
    let ran = crate::command::new(
        "target/release/punctual",
        &["demo", "--json", &json_text, "--html", &html_text],
    )
    .run();
    Demo::read(&json).map_err(|error| match ran {
        Ok(()) => error,
        Err(failure) => failure,
    })
}
