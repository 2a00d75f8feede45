//! Records of skipped checks, which `punctual_fixtures::skip` writes into a folder.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
};

use crate::command::root;

/// The skips of one or several runs.
#[derive(Debug, Default, PartialEq)]
pub struct Skips {
    /// The folder into which test programs write, during a run.
    pub folder: PathBuf,
    /// The tests by what is missing and reason.
    reasons: BTreeMap<(String, String), Vec<String>>,
    /// Tests that checked nothing, which their programs report as passed.
    whole: BTreeSet<String>,
}

impl Skips {
    /// Provides an empty folder.
    pub fn start() -> Result<Self, String> {
        let folder = root().join("target/skips");
        // The folder of an earlier run.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(Self {
            folder,
            ..Self::default()
        })
    }

    /// Reads the records of the run that has ended.
    pub fn read(mut self) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("target/skips: {error}");
        for file in fs::read_dir(&self.folder).map_err(failed)? {
            let text = fs::read_to_string(file.map_err(failed)?.path()).map_err(failed)?;
            text.lines().for_each(|line| self.add_record(line));
        }
        Ok(self)
    }

    /// A line of five columns: extent, what is missing, program, test, reason.
    fn add_record(&mut self, line: &str) {
        let [extent, missing, program, test, reason] = line.splitn(5, '\t').collect::<Vec<_>>()[..] else {
            return;
        };
        // The name of a program ends with a hash.
        let program = program.rsplit_once('-').map_or(program, |(name, _)| name);
        let test = format!("{program} {test}");
        if extent == "whole" {
            self.whole.insert(test.clone());
        }
        let key = (format!("missing {missing}"), reason.to_owned());
        self.reasons.entry(key).or_default().push(test);
    }

    /// Adds a test that its source ignores.
    pub fn add_ignored(&mut self, test: String, reason: String) {
        self.reasons
            .entry(("ignored".into(), reason))
            .or_default()
            .push(test);
    }

    /// Adds the skips of another run.
    pub fn add(&mut self, other: Self) {
        for (key, tests) in other.reasons {
            self.reasons.entry(key).or_default().extend(tests);
        }
        self.whole.extend(other.whole);
    }

    /// The number of tests that checked nothing.
    pub fn whole_tests(&self) -> usize {
        self.whole.len()
    }

    /// The number of skipped checks.
    pub fn count(&self) -> usize {
        self.reasons.values().map(Vec::len).sum()
    }

    /// A line for each reason with its number of checks, the most frequent first, and the tests below.
    pub fn reasons(&self) -> String {
        let mut groups: Vec<_> = self.reasons.iter().collect();
        groups.sort_by_key(|(_, tests)| std::cmp::Reverse(tests.len()));
        let mut text = String::new();
        for ((kind, reason), tests) in groups {
            text.push_str(&format!("{:>4} {kind}: {reason}\n", tests.len()));
            let tests: BTreeSet<&String> = tests.iter().collect();
            for test in tests {
                text.push_str(&format!("       {test}\n"));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_grouped_by_reason() {
        let mut skips = Skips::default();
        for line in [
            "whole\tright\tconformance-0a1b\trt_mutex::waiters\tno real-time class",
            "part\tright\tconformance-0a1b\trtcorba::matrix\tno real-time class",
            "part\tright\tconformance-0a1b\trtcorba::matrix\tno real-time class",
            "whole\tmachine\tpunctual_os-77\tperf::cycles\tno counter",
        ] {
            skips.add_record(line);
        }
        assert_eq!((skips.count(), skips.whole_tests()), (4, 2));
        assert_eq!(
            skips.reasons(),
            "   3 missing right: no real-time class\n       conformance rt_mutex::waiters\n       \
             conformance rtcorba::matrix\n   1 missing machine: no counter\n       punctual_os perf::cycles\n"
        );
        let mut both = Skips::default();
        both.add_ignored("a".into(), "slow".into());
        both.add(skips);
        assert_eq!((both.count(), both.whole_tests()), (5, 2));
    }
}
