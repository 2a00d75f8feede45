//! `cargo xtask interop`: the tables of docs/interoperability.md, from the records of the last run.

use std::{collections::BTreeMap, fmt::Write, fs};

use crate::command::root;

const PAGE: &str = "docs/interoperability.md";
/// Folder in which the tests leave a file for each row.
const RECORDS: &str = "target/tmp/matrix";
const BEGIN: &str = "<!-- From a run: cargo xtask test tests && cargo xtask interop -->\n";
const END: &str = "<!-- End of the run -->\n";

/// Writes the table into the page.
pub fn run() -> Result<(), String> {
    let (page, old) = page()?;
    let place = |content: &str| format!("{BEGIN}{content}{END}");
    let new = page.replace(&place(&old), &place(&Run::read()?.to_markdown()));
    fs::write(root().join(PAGE), new).map_err(|error| format!("{PAGE}: {error}"))
}

/// Removes the records of earlier runs.
pub fn forget() {
    let _ = fs::remove_dir_all(root().join(RECORDS));
}

/// Fails if the page has another table than the run; rows of peers that are not there are missing in the run.
pub fn check() -> Result<(), String> {
    let (_, committed) = page()?;
    let found = Run::read()?.to_markdown();
    match found
        .lines()
        .find(|line| !committed.lines().any(|other| other == *line))
    {
        Some(line) => Err(format!(
            "{PAGE} does not have this line of the run:\n    {line}\nrun `cargo xtask interop`, and commit the page"
        )),
        None => Ok(()),
    }
}

/// The page, and the part of it that is written here.
fn page() -> Result<(String, String), String> {
    let page = fs::read_to_string(root().join(PAGE)).map_err(|error| format!("{PAGE}: {error}"))?;
    let part = page.split_once(BEGIN).and_then(|(_, rest)| rest.split_once(END));
    let part = part
        .ok_or_else(|| format!("{PAGE} does not have the lines\n{BEGIN}{END}"))?
        .0;
    let part = part.to_owned();
    Ok((page, part))
}

/// Results with the other ORBs.
#[derive(Debug, Default, PartialEq)]
struct Run {
    /// Passed and skipped checks by ORB, its part, and configuration.
    rows: BTreeMap<[String; 3], (String, usize)>,
    /// Configurations by ORB, its part, check and fault.
    faults: BTreeMap<[String; 4], usize>,
}

impl Run {
    fn read() -> Result<Self, String> {
        let mut run = Self::default();
        // Without any peer there is no folder.
        let Ok(files) = fs::read_dir(root().join(RECORDS)) else {
            return Ok(run);
        };
        for file in files {
            let failed = |error: std::io::Error| format!("{RECORDS}: {error}");
            run.add(&fs::read_to_string(file.map_err(failed)?.path()).map_err(failed)?);
        }
        Ok(run)
    }

    /// A record: a line of ORB, part, configuration and passed checks, then skipped checks with reasons.
    fn add(&mut self, record: &str) {
        let mut lines = record.lines();
        let row: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
        let [orb, part, configuration, passed] = row[..] else {
            return;
        };
        let mut skipped = 0;
        for (check, fault) in lines.filter_map(|line| line.split_once('\t')) {
            skipped += 1;
            let fault = [orb, part, check, fault].map(str::to_owned);
            *self.faults.entry(fault).or_default() += 1;
        }
        let key = [orb, part, configuration].map(str::to_owned);
        self.rows.insert(key, (passed.to_owned(), skipped));
    }

    fn to_markdown(&self) -> String {
        let mut text = String::from(
            "\n| ORB | its part | configuration | passed | not with it |\n|---|---|---|---|---|\n",
        );
        for ([orb, part, configuration], (passed, skipped)) in &self.rows {
            let row = writeln!(
                text,
                "| {orb} | {part} | {configuration} | {passed} | {skipped} |"
            );
            row.expect("a string");
        }
        text.push_str(
            "\n| ORB | its part | check | what it does | configurations |\n|---|---|---|---|---|\n",
        );
        for ([orb, part, check, fault], count) in &self.faults {
            let row = writeln!(text, "| {orb} | {part} | `{check}` | {fault} | {count} |");
            row.expect("a string");
        }
        text.push('\n');
        text
    }
}

#[cfg(test)]
mod tests {
    use super::Run;

    #[test]
    fn records_become_tables() {
        let mut run = Run::default();
        run.add("B\tserver\tGIOP 1.2\t99\nping\tno answer\nadd\twrong\n");
        run.add("B\tserver\tGIOP 1.0\t100\nping\tno answer\n");
        run.add("A\tclient\tcorbaloc\t7\n");
        run.add("not a record");
        assert_eq!(
            run.to_markdown(),
            "\n| ORB | its part | configuration | passed | not with it |\n|---|---|---|---|---|\n\
             | A | client | corbaloc | 7 | 0 |\n\
             | B | server | GIOP 1.0 | 100 | 1 |\n\
             | B | server | GIOP 1.2 | 99 | 2 |\n\
             \n| ORB | its part | check | what it does | configurations |\n|---|---|---|---|---|\n\
             | B | server | `add` | wrong | 1 |\n\
             | B | server | `ping` | no answer | 2 |\n\n"
        );
    }

    /// The committed page has the lines between which the tables stand.
    #[test]
    fn the_page_has_a_place_for_them() {
        assert!(super::page().unwrap().1.contains("| omniORB "));
    }
}
