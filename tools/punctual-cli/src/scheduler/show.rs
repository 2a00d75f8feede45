//! `punctual scheduler show`: the scheduler's decisions for the operations of a file.

use std::{error::Error, process::ExitCode};

use punctual_report::Table;
use punctual_scheduling::reconfigurable::{
    Anomaly, Operation, OperationId, Queue, ReconfigurableScheduler, Severity,
};
use serde_json::{Map, Value, json};

use super::Show;
use crate::system_file;

/// Prints the schedule of the file.
pub fn run(options: &Show) -> Result<ExitCode, Box<dyn Error>> {
    let mut scheduler = ReconfigurableScheduler::read(&options.file)
        .map_err(|error| system_file::misread(&options.file, error))?;
    if let Some(strategy) = options.strategy {
        scheduler = scheduler.strategy(strategy);
    }
    let anomalies = scheduler.compute();
    if options.json {
        println!("{:#}", json(&scheduler, &anomalies));
    } else {
        print!("{}", text(&scheduler, &anomalies));
    }
    let runs_all = anomalies.iter().all(|one| one.severity() == Severity::Warning);
    Ok(ExitCode::from(if runs_all { 0 } else { 1 }))
}

fn json(scheduler: &ReconfigurableScheduler, anomalies: &[Anomaly]) -> Value {
    let anomalies = anomalies
        .iter()
        .map(|anomaly| json!({"severity": severity(anomaly), "text": anomaly.to_string()}));
    json!({
        "utilization": scheduler.utilization(),
        "operations": operations(scheduler),
        "levels": levels(scheduler),
        "anomalies": anomalies.collect::<Vec<_>>(),
    })
}

fn text(scheduler: &ReconfigurableScheduler, anomalies: &[Anomaly]) -> String {
    let operations = Table::of(&operations(scheduler)).columns(&[
        ("operation", "operation"),
        ("criticality", "criticality"),
        ("importance", "importance"),
        ("period_ms", "period (ms)"),
        ("wcet_ms", "execution (ms)"),
        ("rates", "rates"),
        ("level", "level"),
        ("subpriority", "order"),
    ]);
    let levels = Table::of(&levels(scheduler)).columns(&[
        ("level", "level"),
        ("queue", "queue"),
        ("periods_ms", "timers (ms)"),
    ]);
    let mut text = format!("{}\n\n{}\n\n", operations.to_text(), levels.to_text());
    for anomaly in anomalies {
        text += &format!("{}: {anomaly}\n", severity(anomaly));
    }
    let part = scheduler.utilization() * 100.0;
    text + &format!("{part:.1} % of the processor is admitted.\n")
}

/// A row for each operation.
fn operations(scheduler: &ReconfigurableScheduler) -> Vec<Map<String, Value>> {
    let all = scheduler.operations().iter().zip(0u32..);
    let rows = all.map(|(operation, id)| {
        let assignment = scheduler.assignment(OperationId(id)).unwrap_or_default();
        let row = json!({
            "operation": &*operation.name,
            "criticality": assignment.criticality.to_string(),
            "importance": operation.importance,
            "period_ms": assignment.period.map(|period| period.as_secs_f64() * 1e3),
            "wcet_ms": operation.wcet().as_secs_f64() * 1e3,
            "rates": rates(operation),
            "level": assignment.level,
            "subpriority": assignment.level.map(|_| assignment.subpriority),
        });
        object(row)
    });
    rows.collect()
}

/// Number of rates of its own; 0: it follows others.
fn rates(operation: &Operation) -> usize {
    if operation.is_source() {
        operation.tuples.len()
    } else {
        0
    }
}

/// A row for each level of dispatch.
fn levels(scheduler: &ReconfigurableScheduler) -> Vec<Map<String, Value>> {
    let rows = scheduler.levels().iter().enumerate().map(|(number, level)| {
        let periods = level
            .periods
            .iter()
            .map(|period| format!("{}", period.as_secs_f64() * 1e3));
        object(json!({
            "level": number,
            "queue": match level.queue {
                Queue::Static => "arrival",
                Queue::Deadline => "deadline",
                Queue::Laxity => "laxity",
            },
            "periods_ms": periods.collect::<Vec<_>>().join(", "),
        }))
    });
    rows.collect()
}

fn severity(anomaly: &Anomaly) -> &'static str {
    match anomaly.severity() {
        Severity::Warning => "warning",
        Severity::Error => "error",
        Severity::Fatal => "fatal",
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}
