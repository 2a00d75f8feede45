//! Generated types with the traits of serde.

use std::collections::BTreeMap;

use punctual_cdr::{LongDouble, WChar, WString};
use punctual_generated_tests::records::records::{Record, State};
use serde_json::{Value, json};

fn record() -> Record {
    Record {
        name: String::from("radar").try_into().unwrap(),
        title: WString::new("Übersee").unwrap(),
        mark: WChar('Ж'),
        present: State::Running,
        samples: vec![1, -2, 3].try_into().unwrap(),
        limits: BTreeMap::from([(String::from("low"), 10)]).try_into().unwrap(),
        price: "12.50".parse().unwrap(),
        exact: LongDouble(0x3fff << 112),
        frame: [7; 40],
    }
}

#[test]
fn values_return_from_json() {
    let text = serde_json::to_string(&record()).unwrap();
    assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), record());
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["samples"], json!([1, -2, 3]));
    assert_eq!(value["price"], json!("12.50"));
    assert_eq!(value["present"], json!("Running"));
}

#[test]
fn bounds_hold() {
    let good = serde_json::to_value(record()).unwrap();
    for (member, beyond) in [
        ("name", json!("radar set 1")),
        ("title", json!("Überwachung 1")),
        ("samples", json!([1, 2, 3, 4])),
        ("limits", json!({ "a": 1, "b": 2, "c": 3 })),
        ("price", json!("12345.00")),
        ("frame", json!([1, 2])),
    ] {
        let mut bad = good.clone();
        bad[member] = beyond;
        let error = serde_json::from_value::<Record>(bad).expect_err(member);
        assert!(!error.to_string().is_empty(), "{member}");
    }
}
