//! The list of all benchmarks, and the roles of their child processes.

use crate::{
    attacks, benchmark::Benchmark, case, cubit, demo, dynamic, events, inversion, load, orb, os, role::Role,
    rt,
};

/// Returns all benchmarks, in the order in which they are listed and run.
pub fn benchmarks() -> impl Iterator<Item = &'static Benchmark> {
    const SUITES: &[&[Benchmark]] = &[
        os::BENCHMARKS,
        &[
            cubit::BENCHMARK,
            inversion::BENCHMARK,
            attacks::BENCHMARK,
            events::BENCHMARK,
            demo::BENCHMARK,
        ],
        orb::BENCHMARKS,
        rt::BENCHMARKS,
        dynamic::BENCHMARKS,
        case::BENCHMARKS,
    ];
    SUITES.iter().copied().flatten()
}

/// The roles of child processes, by the first word of their command line.
const ROLES: &[&[(&str, Role)]] = &[
    attacks::ROLES,
    case::ROLES,
    cubit::ROLES,
    dynamic::ROLES,
    events::ROLES,
    load::ROLES,
    orb::ROLES,
    os::ROLES,
];

/// Runs this process as a child process of a measurement if the command line requests one of its roles.
/// Call it first in `main`.
///
/// Returns if this is not a child process; a child process exits here. It ends with its parent.
pub fn main_if_asked() {
    let mut arguments = std::env::args().skip(1);
    let Some(role) = arguments.next() else { return };
    let Some((_, run)) = ROLES.iter().copied().flatten().find(|(name, _)| *name == role) else {
        return;
    };
    if let Err(error) = run(&arguments.collect::<Vec<_>>()) {
        let _ = punctual_harness::child::Control::refuse(error.to_string());
        std::process::exit(2);
    }
    std::process::exit(0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{explain, settings::Settings};

    #[test]
    fn explain_over_is_accepted_for_benchmarks_with_latencies_of_single_calls() {
        let settings = Settings {
            explain_over: Some(100.0),
            ..Settings::default()
        };
        let named = |name: &str| benchmarks().find(|benchmark| benchmark.name == name).unwrap();
        for name in explain::EXPLAINED {
            assert!(explain::check(&settings, &[named(name)]).is_ok(), "{name}");
        }
        let refused = explain::check(&settings, &[named("inversion")])
            .unwrap_err()
            .to_string();
        assert!(
            refused.contains("`inversion`") && refused.contains("orb.latency"),
            "{refused}"
        );
        assert!(explain::check(&Settings::default(), &[named("inversion")]).is_ok());
        assert!(explain::check(&settings, &benchmarks().collect::<Vec<_>>()).is_ok());
    }
}
