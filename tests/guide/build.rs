//! Compiles the IDL of two examples, which the snippets use, and completes the snippets of the guide's pages.

use std::{env, fs, path::Path};

/// The pages, relative to the root of the workspace.
const PAGES: [&str; 12] = [
    "docs/configuration.md",
    "docs/events.md",
    "docs/guide/calling-any-object.md",
    "docs/guide/events.md",
    "docs/guide/first-call.md",
    "docs/guide/lanes.md",
    "docs/guide/stable-references.md",
    "docs/guide/transports.md",
    "docs/inspection.md",
    "docs/naming.md",
    "docs/scheduler.md",
    "docs/tls.md",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    punctual_build::compile("../../examples/01-hello/idl/hello.idl")?;
    punctual_build::compile("../../examples/07-events/idl/radar.idl")?;
    let out = env::var("OUT_DIR")?;
    for page in PAGES {
        let path = Path::new("../..").join(page);
        println!("cargo::rerun-if-changed={}", path.display());
        let name = page.replace('/', "-");
        fs::write(Path::new(&out).join(name), completed(&fs::read_to_string(path)?))?;
    }
    Ok(())
}

/// Puts what a comment `<!-- tested with: … -->` holds into the block of code behind it, as hidden lines:
/// those before a line `...` at its beginning, the others at its end. Readers of the page do not see them.
fn completed(page: &str) -> String {
    let mut text = String::new();
    let (mut first, mut last) = (String::new(), String::new());
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if line == "<!-- tested with:" {
            let mut is_last = false;
            for hidden in lines.by_ref().take_while(|line| *line != "-->") {
                match hidden {
                    "..." => is_last = true,
                    _ if is_last => last += &format!("# {hidden}\n"),
                    _ => first += &format!("# {hidden}\n"),
                }
            }
            continue;
        }
        if line == "```" {
            text += &std::mem::take(&mut last);
        }
        text += line;
        text.push('\n');
        if line.starts_with("```rust") {
            text += &std::mem::take(&mut first);
        }
    }
    text
}
