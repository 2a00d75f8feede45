//! `cargo xtask gallery`: draws the figure of the README from a run of `punctual demo`, light and dark, and
//! copies the pictures of the findings from the figures of `punctual qualify`.

mod figure;
mod measured;

use std::{collections::BTreeSet, fs, path::Path};

use crate::command::{cargo, root};

use self::{figure::Theme, measured::Demo};

/// Folder of the figures.
const FOLDER: &str = "docs/gallery";

/// Folder of the documents whose pictures are figures of `punctual qualify`.
const FINDINGS: &str = "docs/findings";

/// Measures, or reads `--from FILE.json`, and writes the figures of the demo; or copies those that the
/// findings show from a folder of figures.
pub fn run(arguments: &[&str]) -> Result<(), String> {
    let demo = match arguments {
        [] => measure()?,
        ["--from", file] => Demo::read(Path::new(file))?,
        ["--findings", folder] => return copy_pictures(Path::new(folder)),
        _ => return Err("usage: cargo xtask gallery [--from FILE.json | --findings FOLDER]".into()),
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

/// Copies each picture that the findings show and the folder has, the first one of its name: the names of
/// figures begin with their numbers. Those of other runs stay as they are.
fn copy_pictures(folder: &Path) -> Result<(), String> {
    let failed = |path: &Path| {
        let path = path.display().to_string();
        move |error: std::io::Error| format!("{path}: {error}")
    };
    let entries = fs::read_dir(folder).map_err(failed(folder))?;
    let figures = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut figures: Vec<(u32, String)> = figures.filter_map(numbered).collect();
    figures.sort();
    for name in shown_pictures().map_err(failed(Path::new(FINDINGS)))? {
        match figures.iter().find(|(_, figure)| *figure == name) {
            Some((number, figure)) => {
                let figure = folder.join(format!("{number}-{figure}"));
                fs::copy(&figure, root().join(FOLDER).join(&name)).map_err(failed(&figure))?;
                println!("{FOLDER}/{name}");
            }
            None => println!("{name}: not in {}", folder.display()),
        }
    }
    Ok(())
}

/// Number and name of a figure's file.
fn numbered(file: String) -> Option<(u32, String)> {
    let (number, name) = file.split_once('-')?;
    Some((number.parse().ok()?, name.to_owned()))
}

/// Names of the pictures that the findings show, in alphabetical order.
fn shown_pictures() -> std::io::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(root().join(FINDINGS))? {
        let text = fs::read_to_string(entry?.path())?;
        names.extend(pictures(&text).map(str::to_owned));
    }
    Ok(names)
}

/// Names of the pictures that a document shows.
fn pictures(document: &str) -> impl Iterator<Item = &str> {
    let linked = document.split("](../gallery/").skip(1);
    linked.filter_map(|rest| rest.split_once(')').map(|(name, _)| name))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_of_the_findings_exist() {
        let names = shown_pictures().unwrap();
        assert!(names.len() >= 15, "{names:?}");
        for name in names {
            assert!(root().join(FOLDER).join(&name).exists(), "{name}");
        }
    }

    #[test]
    fn pictures_are_found_by_their_links() {
        let text = "![A](../gallery/a.svg) and [b](b.md)\n![C](../gallery/c.svg)";
        assert_eq!(pictures(text).collect::<Vec<_>>(), ["a.svg", "c.svg"]);
    }
}
