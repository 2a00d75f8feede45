//! The answer in sentences: what a call costs here.

use punctual_harness::Row;
use punctual_report::table::shown;
use serde_json::json;

use super::{
    operation::Operation,
    transport::{LaneWait, Transport},
};

/// Share of the CPUs that other programs may use without being mentioned: the kernel's accounts are coarse.
const QUIET: f64 = 0.05;

/// States what a two-way call with a long costs; `others` is the share of the CPUs that other programs
/// used. `None` if it was not measured.
pub(super) fn conclusion(rows: &[Row], others: f64) -> Option<String> {
    let find = |transport, placement| row_of(rows, transport, placement);
    let tcp = find(Transport::Tcp, "same-cpu")?;
    let (p50, ratio) = latency(tcp)?;
    let mut text = format!(
        "A two-way call with a long, with client and server on one CPU, takes {p50} over TCP (p50; {ratio} times a \
         raw TCP ping-pong of the same octets)"
    );
    if let Some((p50, ratio)) = find(Transport::Shm, "same-cpu").and_then(latency) {
        text += &format!(" and {p50} over shared memory ({ratio} times that ping-pong)");
    }
    let split = [Transport::Tcp, Transport::Shm].map(|transport| find(transport, "split-cpu"));
    if let [Some((tcp, _)), Some((shm, _))] = split.map(|row| row.and_then(latency)) {
        text += &format!("; on two CPUs {tcp} and {shm}");
    }
    text += ". ";
    text += &costs(tcp);
    if others > QUIET {
        text += &format!(
            " Other programs used up to {:.0} % of these CPUs meanwhile: on a quiet machine the figures may be \
             lower.",
            others * 100.0
        );
    }
    Some(text)
}

fn row_of<'r>(rows: &'r [Row], transport: Transport, placement: &str) -> Option<&'r Row> {
    let wanted = [
        ("transport", transport.name()),
        ("placement", placement),
        ("lane_wait", LaneWait::Polled.name()),
        ("operation", Operation::Long.name()),
    ];
    rows.iter().find(|row| {
        wanted
            .iter()
            .all(|(column, value)| row.get(column).is_some_and(|cell| cell == value))
    })
}

/// Returns the p50 of a row, and its ratio to the raw ping-pong over TCP.
fn latency(row: &Row) -> Option<(String, String)> {
    let (p50, ratio) = (row.number("p50_us")?, row.number("p50_over_raw_tcp")?);
    Some((format!("{} µs", figure(p50)), format!("{ratio:.2}")))
}

/// States the system calls and allocations of a call over TCP.
fn costs(tcp: &Row) -> String {
    let of = |columns: [&str; 2]| match columns.map(|column| tcp.number(column).map(figure)) {
        [Some(client), Some(server)] => Some((client, server)),
        _ => None,
    };
    let calls = match of(["syscalls_per_call_client", "syscalls_per_call_server"]) {
        Some((client, server)) => format!("the client makes {client} system calls and the server {server}"),
        None => "this kernel does not count system calls".to_owned(),
    };
    let memory = match of(["allocations_per_call_client", "allocations_per_call_server"]) {
        Some((client, server)) if client == "0" && server == "0" => "neither allocates memory".to_owned(),
        Some((client, server)) => format!("they allocate memory {client} and {server} times"),
        None => "allocations were not counted".to_owned(),
    };
    format!("For each call over TCP, {calls}; {memory}.")
}

fn figure(number: f64) -> String {
    shown(&json!(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(transport: &str, placement: &str, p50_us: f64) -> Row {
        let raw_tcp = if transport == "shm" { 0.494 } else { 1.084 };
        Row::new()
            .with("transport", transport)
            .with("placement", placement)
            .with("lane_wait", "polled")
            .with("operation", "cube_long")
            .with("p50_us", p50_us)
            .with("p50_over_raw", if transport == "shm" { 1.21 } else { 1.084 })
            .with("p50_over_raw_tcp", raw_tcp)
            .with("syscalls_per_call_client", 2.0)
            .with("syscalls_per_call_server", 3.0)
            .with("allocations_per_call_client", 0.0)
            .with("allocations_per_call_server", 0.0)
    }

    #[test]
    fn the_answer_has_the_numbers_of_the_run() {
        let rows = [
            row("tcp", "same-cpu", 14.66),
            row("shm", "same-cpu", 8.1),
            row("tcp", "split-cpu", 41.76),
            row("shm", "split-cpu", 27.45),
        ];
        assert_eq!(
            conclusion(&rows, 0.0).unwrap(),
            "A two-way call with a long, with client and server on one CPU, takes 14.66 µs over TCP (p50; \
             1.08 times a raw TCP ping-pong of the same octets) and 8.1 µs over shared memory (0.49 times \
             that ping-pong); on two CPUs 41.76 µs and 27.45 µs. For each call over TCP, the client makes \
             2 system calls and the server 3; neither allocates memory."
        );
        let busy = conclusion(&rows, 0.374).unwrap();
        assert!(
            busy.ends_with(
                "Other programs used up to 37 % of these CPUs meanwhile: on a quiet machine \
                                the figures may be lower."
            ),
            "{busy}"
        );
    }

    #[test]
    fn missing_counts_and_placements_are_not_invented() {
        let bare = Row::new()
            .with("transport", "tcp")
            .with("placement", "same-cpu")
            .with("lane_wait", "polled")
            .with("operation", "cube_long")
            .with("p50_us", 14.0)
            .with("p50_over_raw_tcp", 1.0);
        let text = conclusion(&[bare], 0.0).unwrap();
        assert!(
            text.contains("does not count system calls; allocations were not counted"),
            "{text}"
        );
        assert!(
            !text.contains("shared memory") && !text.contains("two CPUs"),
            "{text}"
        );
        assert_eq!(conclusion(&[], 0.0), None);
    }

    #[test]
    fn allocations_are_counted() {
        let row = row("tcp", "same-cpu", 14.66).with("allocations_per_call_server", 1.0);
        assert!(
            conclusion(&[row], 0.0)
                .unwrap()
                .ends_with("they allocate memory 0 and 1 times.")
        );
    }
}
