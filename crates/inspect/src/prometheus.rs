//! A snapshot in Prometheus' text format, version 0.0.4.
//!
//! Source: <https://prometheus.io/docs/instrumenting/exposition_formats/>

use std::{fmt::Write as _, time::Duration};

use crate::{
    SchedulerStatistics,
    metrics::{Kind, METRICS},
    schedulers::{SCHEDULER_COUNTERS, SCHEDULER_GAUGES},
    snapshot::{LaneSnapshot, ServiceTimesSnapshot, Snapshot, band},
};

pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

impl Snapshot {
    /// Every metric with its HELP and TYPE; spans of time are in seconds.
    pub(crate) fn to_prometheus(&self, uptime: Duration) -> String {
        let mut text = String::new();
        for metric in METRICS {
            let (suffix, kind) = match metric.kind {
                Kind::Counter => ("_total", "counter"),
                Kind::Gauge => ("", "gauge"),
            };
            let name = format!("punctual_lane_{}{suffix}", metric.name);
            head(&mut text, &name, metric.help, kind);
            for lane in &self.lanes {
                if let Some(value) = (metric.value)(&lane.statistics) {
                    let _ = writeln!(text, "{name}{{{}}} {value}", labels(lane));
                }
            }
        }
        let name = "punctual_lane_service_seconds";
        let help = "Time from reading a request to writing its reply.";
        head(&mut text, name, help, "histogram");
        self.lanes
            .iter()
            .for_each(|lane| histogram(&mut text, name, lane));
        let name = "punctual_lane_service_seconds_max";
        head(&mut text, name, "The longest of these times.", "gauge");
        for lane in &self.lanes {
            let _ = writeln!(text, "{name}{{{}}} {}", labels(lane), seconds(lane.times.longest));
        }
        let name = "punctual_lane_band_connections";
        let help = "Open connections, by the priority band that their client has bound them to.";
        head(&mut text, name, help, "gauge");
        for lane in &self.lanes {
            for (counted, open) in &lane.connections {
                let _ = writeln!(
                    text,
                    "{name}{{{},band=\"{}\"}} {open}",
                    labels(lane),
                    band(*counted)
                );
            }
        }
        let name = "punctual_client_connections";
        head(
            &mut text,
            name,
            "Connections to servers, by priority band.",
            "gauge",
        );
        for (counted, open) in &self.client_connections {
            let _ = writeln!(text, "{name}{{band=\"{}\"}} {open}", band(*counted));
        }
        let name = "punctual_client_late_replies_total";
        head(
            &mut text,
            name,
            "Calls whose reply did not come in time.",
            "counter",
        );
        let _ = writeln!(text, "{name} {}", self.late_replies);
        self.schedulers_to_prometheus(&mut text);
        self.contracts_to_prometheus(&mut text);
        let name = "punctual_uptime_seconds";
        head(&mut text, name, "How long the ORB has been inspected.", "gauge");
        let _ = writeln!(text, "{name} {}", uptime.as_secs_f64());
        text
    }
}

impl Snapshot {
    fn schedulers_to_prometheus(&self, text: &mut String) {
        let mut family = |name: &str, kind: &str, help: &str, value: &dyn Fn(&SchedulerStatistics) -> f64| {
            head(text, name, help, kind);
            for own in &self.schedulers {
                let scheduler = label(&own.scheduler);
                let _ = writeln!(
                    text,
                    "{name}{{scheduler=\"{scheduler}\"}} {}",
                    value(&own.statistics)
                );
            }
        };
        for (name, help, value) in SCHEDULER_GAUGES {
            let name = format!("punctual_scheduler_{name}");
            family(&name, "gauge", help, &|own| value(own) as f64);
        }
        for (name, help, value) in SCHEDULER_COUNTERS {
            let name = format!("punctual_scheduler_{name}_total");
            family(&name, "counter", help, &|own| value(own) as f64);
        }
        let help = "Share of the processor that is admitted, 0 to 1.";
        family("punctual_scheduler_utilization", "gauge", help, &|own| {
            own.utilization
        });
        let help = "Duration of the last computation.";
        family("punctual_scheduler_computation_seconds", "gauge", help, &|own| {
            own.last_duration.as_secs_f64()
        });
    }

    fn contracts_to_prometheus(&self, text: &mut String) {
        let name = "punctual_contract_region";
        head(text, name, "1 for the region of each contract.", "gauge");
        for own in &self.contracts {
            let (contract, region) = (label(&own.contract), label(&own.region));
            let _ = writeln!(text, "{name}{{contract=\"{contract}\",region=\"{region}\"}} 1");
        }
        let name = "punctual_contract_transitions_total";
        head(text, name, "Changes of a contract's region.", "counter");
        for own in &self.contracts {
            let contract = label(&own.contract);
            let _ = writeln!(text, "{name}{{contract=\"{contract}\"}} {}", own.transitions);
        }
        let name = "punctual_contract_condition";
        head(text, name, "Measured conditions of contracts.", "gauge");
        for own in &self.contracts {
            for (condition, value) in &own.conditions {
                if let Some(value) = value {
                    let (contract, condition) = (label(&own.contract), label(condition));
                    let labels = format!("contract=\"{contract}\",condition=\"{condition}\"");
                    let _ = writeln!(text, "{name}{{{labels}}} {value}");
                }
            }
        }
    }
}

/// The user's text as the value of a label.
fn label(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    text.replace('\n', "\\n")
}

fn head(text: &mut String, name: &str, help: &str, kind: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

/// Cumulative over powers of two from 1.024 µs to 8.6 s, which are bounds of our own buckets.
fn histogram(text: &mut String, name: &str, lane: &LaneSnapshot) {
    let ServiceTimesSnapshot { buckets, sum, .. } = &lane.times;
    let labels = labels(lane);
    for power in 10..=33 {
        let bound = 1u64 << power;
        let below: u64 = buckets
            .iter()
            .filter(|(below, _)| *below <= bound)
            .map(|(_, count)| count)
            .sum();
        let _ = writeln!(
            text,
            "{name}_bucket{{{labels},le=\"{}\"}} {below}",
            seconds(bound)
        );
    }
    let all: u64 = buckets.iter().map(|(_, count)| count).sum();
    let _ = writeln!(text, "{name}_bucket{{{labels},le=\"+Inf\"}} {all}");
    let _ = writeln!(
        text,
        "{name}_sum{{{labels}}} {}\n{name}_count{{{labels}}} {all}",
        seconds(*sum)
    );
}

/// Names of lanes are ours, and need no escapes.
fn labels(lane: &LaneSnapshot) -> String {
    let priority = lane
        .priority
        .map_or_else(|| "none".to_owned(), |priority| priority.to_string());
    format!(
        "pool=\"{}\",lane=\"{}\",priority=\"{priority}\"",
        lane.pool, lane.name
    )
}

fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}
