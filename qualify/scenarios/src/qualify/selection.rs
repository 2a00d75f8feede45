//! Selection of the benchmarks to run.

use crate::{benchmark::Benchmark, compare::suggestions, error::Error};

/// The groups and benchmarks that evaluate what the papers state; the others are for developers of the ORB.
const OF_PAPERS: [&str; 5] = ["os", "orb", "rt", "dyn", "inversion"];

/// Returns the requested benchmarks in the order of the list, or all of the papers' if none is requested.
pub(super) fn selected<'b>(all: &[&'b Benchmark], only: &[String]) -> Result<Vec<&'b Benchmark>, Error> {
    for name in only {
        if !all.iter().any(|benchmark| matches(benchmark.name, name)) {
            let names = all.iter().map(|benchmark| benchmark.name);
            return Err(format!(
                "unknown benchmark `{name}`; {}",
                suggestions::suggest(name, names)
            )
            .into());
        }
    }
    let wanted = |benchmark: &&&Benchmark| match only {
        [] => is_of_papers(benchmark),
        only => only.iter().any(|name| matches(benchmark.name, name)),
    };
    Ok(all.iter().filter(wanted).copied().collect())
}

/// Returns whether `punctual qualify` runs a benchmark without being asked for it.
pub fn is_of_papers(benchmark: &Benchmark) -> bool {
    OF_PAPERS.iter().any(|name| matches(benchmark.name, name))
}

/// Returns whether `name` is the benchmark's name or that of its group.
fn matches(benchmark: &str, name: &str) -> bool {
    let rest = benchmark.strip_prefix(name.trim_end_matches('.'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const fn named(name: &'static str) -> Benchmark {
        Benchmark {
            name,
            about: "",
            expected: |_| Duration::ZERO,
            run: |_| Err("no part of this test".into()),
            controls: &[],
            restored: &[],
        }
    }

    const ALL: [Benchmark; 6] = [
        named("cubit"),
        named("inversion"),
        named("os.timer-latency"),
        named("os.semaphore"),
        named("rt.1"),
        named("rt.10"),
    ];

    fn names(only: &[&str]) -> Result<Vec<&'static str>, String> {
        const { assert!(ALL.len() == 6) };
        static LIST: [Benchmark; 6] = ALL;
        let all: Vec<_> = LIST.iter().collect();
        let only: Vec<String> = only.iter().map(|name| (*name).to_owned()).collect();
        let found = selected(&all, &only).map_err(|error| error.to_string())?;
        Ok(found.iter().map(|benchmark| benchmark.name).collect())
    }

    #[test]
    fn the_papers_benchmarks_are_the_default() {
        assert_eq!(
            names(&[]).unwrap(),
            ["inversion", "os.timer-latency", "os.semaphore", "rt.1", "rt.10"]
        );
        assert_eq!(names(&["os"]).unwrap(), ["os.timer-latency", "os.semaphore"]);
        assert_eq!(names(&["rt.1", "cubit"]).unwrap(), ["cubit", "rt.1"]);
    }

    #[test]
    fn an_unknown_name_is_reported_with_similar_ones() {
        let error = names(&["os.semafore"]).unwrap_err();
        assert!(
            error.contains("unknown benchmark `os.semafore`; did you mean `os.semaphore`"),
            "{error}"
        );
    }
}
