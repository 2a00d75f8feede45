//! Facts of the machine for the head of a page: what it has, and what is missing.

use punctual_harness::{MachineFacts, Outcome};
use serde_json::Value;

/// Returns names and values, the most important first.
pub(super) fn facts(outcome: &Outcome) -> Vec<(&'static str, String)> {
    let machine = outcome.machine();
    let prepared = outcome.parameters().get("prepared");
    let mut facts = vec![
        ("CPU", machine.cpu_model.clone()),
        ("CPUs online", machine.cpus.to_string()),
        ("measured on CPU", list(&machine.pinned_cpus)),
        ("isolated CPUs", list(&machine.settings.isolated_cpus)),
        ("CPUs without tick", list(&machine.settings.tickless_cpus)),
        (
            "governor",
            or(machine.settings.governor.as_ref(), "not available"),
        ),
        ("kernel", machine.kernel.clone()),
        ("preemption model", machine.settings.preemption.clone()),
        (
            "clock source",
            or(machine.settings.clock_source.as_ref(), "unknown"),
        ),
        ("tick", format!("{} Hz", machine.tick_hz)),
        ("real-time throttling", throttling(machine, prepared)),
        ("real-time class", rights(machine)),
        (
            "memory can be locked",
            if machine.memory_lock { "yes" } else { "no" }.to_owned(),
        ),
    ];
    if let Some(prepared) = prepared {
        facts.push(("foreign threads", foreign(prepared)));
    }
    let notices = prepared.and_then(|prepared| prepared["notices"].as_array());
    let notices = notices.into_iter().flatten().filter_map(Value::as_str);
    facts.extend(notices.map(|notice| ("note", notice.to_owned())));
    let missing = machine.missing.iter().map(|missing| ("missing", missing.clone()));
    let remedies = machine
        .remedies
        .iter()
        .map(|remedy| ("how to get it", remedy.clone()));
    facts.extend(missing.chain(remedies));
    facts
}

fn list(cpus: &[usize]) -> String {
    if cpus.is_empty() {
        return "none".to_owned();
    }
    cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

fn or(value: Option<&String>, otherwise: &str) -> String {
    value.map_or(otherwise, String::as_str).to_owned()
}

fn rights(machine: &MachineFacts) -> String {
    match machine.highest_realtime_priority {
        Some(highest) => format!("SCHED_FIFO up to {highest}"),
        None => "not permitted: everything ran in the default class".to_owned(),
    }
}

/// Describes real-time throttling during the run.
fn throttling(machine: &MachineFacts, prepared: Option<&Value>) -> String {
    let lifted = prepared.and_then(|prepared| prepared["throttling"]["lifted"].as_str());
    match (lifted, machine.realtime_runtime_us) {
        (Some(before), _) => format!("lifted for the run (was {before} µs of each period)"),
        (None, Some(-1)) => "off".to_owned(),
        (None, Some(runtime)) => format!("on: {runtime} µs of each period"),
        (None, None) => "unknown".to_owned(),
    }
}

fn foreign(prepared: &Value) -> String {
    let count = |name: &str| prepared[name].as_u64().unwrap_or(0);
    match (count("moved"), count("refused")) {
        (moved, 0) => format!("{moved} moved off the measured CPU"),
        (moved, refused) => format!("{moved} moved off the measured CPU, {refused} could not be moved"),
    }
}

#[cfg(test)]
mod tests {
    use punctual_os::CpuSet;
    use serde_json::json;

    use super::*;

    #[test]
    fn missing_facts_are_listed() {
        let mut facts_of_machine = MachineFacts::read(&CpuSet::single(1));
        facts_of_machine.settings.governor = None;
        facts_of_machine.settings.isolated_cpus = Vec::new();
        facts_of_machine.highest_realtime_priority = None;
        facts_of_machine.realtime_runtime_us = Some(-1);
        let mut outcome = Outcome::new("x", facts_of_machine);
        outcome.parameter(
            "prepared",
            json!({"throttling": {"lifted": "950000"}, "moved": 3, "refused": 1, "notices": ["repaired"]}),
        );
        let facts = facts(&outcome);
        for expected in [
            ("governor", "not available"),
            ("isolated CPUs", "none"),
            (
                "real-time throttling",
                "lifted for the run (was 950000 µs of each period)",
            ),
            (
                "real-time class",
                "not permitted: everything ran in the default class",
            ),
            (
                "foreign threads",
                "3 moved off the measured CPU, 1 could not be moved",
            ),
            ("note", "repaired"),
        ] {
            let found = facts
                .iter()
                .any(|(name, value)| (*name, value.as_str()) == expected);
            assert!(found, "{expected:?} is not in {facts:?}");
        }
    }
}
