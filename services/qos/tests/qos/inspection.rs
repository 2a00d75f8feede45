//! Contracts as a viewer of an inspected ORB sees them.

use std::{
    io::{BufRead, BufReader, Read, Write},
    os::unix::net::UnixStream,
    path::Path,
};

use punctual::{Inspection, Orb};
use punctual_qos::{Condition, Contract, Region};

fn exchange(socket: &Path, request: &str) -> UnixStream {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

fn contracts(socket: &Path) -> String {
    let mut line = String::new();
    let stream = exchange(socket, "snapshot\n");
    BufReader::new(stream).read_line(&mut line).unwrap();
    let start = line.find("\"contracts\":").unwrap();
    line[start..].trim_end().to_owned()
}

#[test]
fn a_contract_is_shown_with_its_region_as_long_as_it_exists() {
    let socket = std::env::temp_dir().join(format!("punctual-qos-{}.inspect", std::process::id()));
    let settings = Orb::builder()
        .inspection(Inspection::at(&socket))
        .lock_memory(false);
    let orb = settings.build().unwrap();
    assert_eq!(contracts(&socket), r#""contracts":[]}"#);
    let latency = Condition::new("latency_ms");
    let contract = Contract::builder("image")
        .region(Region::new("detailed").at_most(&latency, 50.0))
        .region(Region::new("coarse"))
        .build()
        .unwrap();
    contract.show(&orb);
    let shown = |region: &str, transitions: u64, value: &str| {
        format!(
            r#""contracts":[{{"contract":"image","region":"{region}","transitions":{transitions},{}{value}}}]}}]}}"#,
            format_args!(r#""evaluations":{transitions},"conditions":[{{"condition":"latency_ms","value":"#)
        )
    };
    assert_eq!(contracts(&socket), shown("coarse", 0, "null"));
    latency.set(12.5);
    contract.evaluate();
    assert_eq!(contracts(&socket), shown("detailed", 1, "12.5"));

    let mut metrics = String::new();
    let mut stream = exchange(&socket, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    stream.read_to_string(&mut metrics).unwrap();
    for line in [
        "punctual_contract_region{contract=\"image\",region=\"detailed\"} 1",
        "punctual_contract_transitions_total{contract=\"image\"} 1",
        "punctual_contract_condition{contract=\"image\",condition=\"latency_ms\"} 12.5",
    ] {
        assert!(metrics.lines().any(|own| own == line), "{metrics}");
    }
    drop(contract);
    assert_eq!(contracts(&socket), r#""contracts":[]}"#);
}

#[test]
fn an_orb_without_inspection_keeps_nothing() {
    let orb = Orb::builder().lock_memory(false).build().unwrap();
    let kept = std::sync::Arc::new(());
    let captured = std::sync::Arc::clone(&kept);
    orb.inspect_contract(move || {
        let _ = &captured;
        None
    });
    assert_eq!(std::sync::Arc::strong_count(&kept), 1);
}
