//! `dyn.dispatch`, `dyn.switch`, `dyn.cancellation` and `dyn.tss` from end to end, as far as what they show
//! does not depend on how fast the machine is.

use std::{fs, path::Path};

use crate::measurement::measure;
use punctual_fixtures::{Missing, skip_part};
use serde_json::Value;

/// Figure 6: who runs where is a matter of order, and the simulator's is the paper's on any machine.
pub fn mif_and_tp_give_the_papers_schedule() {
    let (outcome, said, figures) = bench("dyn.dispatch");
    assert_eq!(figures, 9, "one for each scheduler");
    for id in ["mif.simulated", "tp.simulated"] {
        assert_eq!(claim(&outcome, id).expect(&said)["holds"], true, "{said}");
    }
    let events = of_kind(&outcome, "event");
    let of = |scheduler: &str| {
        let events = events.iter().filter(|row| row["scheduler"] == scheduler);
        events.filter(|row| row["paper_units"].is_number()).count()
    };
    assert_eq!(
        (of("MIF"), of("TP"), of("EDF")),
        (24, 24, 0),
        "every event has its second in the paper"
    );
    if !has_rights(&outcome) {
        return;
    }
    for id in ["mif.live", "tp.live"] {
        assert_eq!(claim(&outcome, id).expect(&said)["holds"], true, "{said}");
    }
    let schedules = of_kind(&outcome, "schedule");
    assert_eq!(schedules.len(), 9);
    for row in schedules {
        // Of the others the order may be another one live; that each of the nine pieces of work begins and
        // ends is not a matter of luck.
        assert!(
            row["live_events"].as_u64().is_some_and(|events| events >= 18),
            "{row}"
        );
    }
}

pub fn hand_overs_are_timed_each_way_and_decisions_allocate_nothing() {
    let (outcome, said, figures) = bench("dyn.switch");
    assert_eq!(
        claim(&outcome, "allocations").expect(&said)["holds"],
        true,
        "{said}"
    );
    let decisions = of_kind(&outcome, "decision");
    assert_eq!(
        decisions.len(),
        8 * 4 + 3,
        "nine schedulers, of which MAU only with up to 1000 threads"
    );
    let ways = of_kind(&outcome, "hand-over");
    let (expected, curves) = if has_rights(&outcome) { (4, 3) } else { (0, 1) };
    assert_eq!((ways.len(), figures), (expected, curves));
    // Two ways, five numbers of threads, three of updates; two kinds of work under three policies.
    let (reorderings, policies) = if expected > 0 { (30, 6) } else { (0, 0) };
    assert_eq!(of_kind(&outcome, "reordering").len(), reorderings);
    assert_eq!(of_kind(&outcome, "shedding").len(), policies);
    if let Some(order) = claim(&outcome, "order") {
        assert_eq!(order["holds"], true, "{said}");
    }
    for way in ways {
        assert!(way["count"].as_u64().is_some_and(|count| count > 5000), "{way}");
        assert!(way["p50_us"].as_f64().is_some_and(|median| median > 0.1), "{way}");
    }
}

pub fn operations_are_cancelled_instead_of_missed_in_virtual_time() {
    let balance = || fs::read_to_string("/sys/fs/cgroup/cpuset/cpuset.sched_load_balance").ok();
    let before = balance();
    let (outcome, said, figures) = bench("dyn.cancellation");
    for id in [
        "simulated.muf.critical",
        "simulated.muf.wasted",
        "simulated.muf.made",
        "simulated.muf.not-more",
        "simulated.rms.critical",
        "simulated.rms.cancelling",
        "simulated.mau.utility",
    ] {
        assert_eq!(claim(&outcome, id).expect(&said)["holds"], true, "{id}\n{said}");
    }
    let totals = of_kind(&outcome, "total");
    let live: Vec<_> = totals.iter().filter(|row| row["place"] == "live").collect();
    let places = if has_rights(&outcome) { 2 } else { 1 };
    assert_eq!((totals.len(), live.len()), (places * 6, (places - 1) * 6));
    assert_eq!(
        figures,
        2 * places + 1,
        "figures 7 and 8 of each place, and the utility"
    );
    if has_rights(&outcome) {
        // It would change the system, and may not.
        let skipped = outcome["skipped"].as_array().unwrap();
        let reason = skipped.iter().find_map(|skip| {
            let what = skip["what"].as_str()?;
            what.contains("SCHED_DEADLINE").then(|| skip["reason"].as_str())?
        });
        assert!(
            reason.is_some_and(|reason| reason.contains("may not change settings of the system")),
            "{said}"
        );
    }
    assert_eq!(balance(), before);
    for row in live {
        // However late they run: each arrival has come to something, and cancelled is only who may be.
        let sum = |kind: &str| -> u64 {
            let fates = ["made", "dispatched_and_missed", "cancelled", "never_dispatched"];
            let counts = fates.map(|fate| row[format!("{kind}_{fate}")].as_u64().unwrap());
            counts.iter().sum()
        };
        assert_eq!(
            (sum("critical"), sum("other")),
            (434 * SECONDS, 478 * SECONDS),
            "{row}"
        );
        assert_eq!(row["critical_cancelled"], 0, "{row}");
        assert!(
            row["cancellation"] == true || row["other_cancelled"] == 0,
            "{row}"
        );
    }
}

pub fn the_tables_of_the_paper_about_storage_are_filled() {
    let (outcome, said, figures) = bench("dyn.tss");
    assert_eq!(figures, 4, "{said}");
    let rows = outcome["rows"].as_array().unwrap();
    let of_table = |table: &'static str| rows.iter().filter(move |row| row["table"] == table);
    // Three of ours and POSIX's measured, two of the paper's.
    assert_eq!(of_table("creation").count(), 5, "{said}");
    // Five storages and two of the paper's, read and written.
    assert_eq!(of_table("access").count(), 14, "{said}");
    assert_eq!(of_table("keys").count(), 10, "{said}");
    // A read of POSIX, and two ways for five numbers of threads.
    assert_eq!(of_table("attach").count(), 11, "{said}");
    assert_eq!(of_table("migration").count(), 2, "{said}");
    for row in of_table("access") {
        assert!(row["mean_ns"].as_f64().is_some_and(|ns| ns > 0.0), "{row}");
        assert!(row["ratio"].as_f64().is_some_and(|ratio| ratio > 0.0), "{row}");
    }
    let claims = outcome["claims"].as_array().unwrap();
    let ids: Vec<_> = claims.iter().map(|claim| claim["id"].as_str().unwrap()).collect();
    let wanted = [
        "creation",
        "read-word",
        "read-typed",
        "write-word",
        "write-typed",
        "read-keys",
        "write-keys",
        "attach",
        "attach-threads",
        "return-threads",
        "migration",
        "creation.grows",
        "read.more",
        "write.more",
    ];
    assert_eq!(ids, wanted, "{said}");
}

/// Duration of a quick run for each case.
const SECONDS: u64 = 2;

fn has_rights(outcome: &Value) -> bool {
    let highest = outcome["machine"]["highest_realtime_priority"].as_i64();
    let has = highest.is_some_and(|highest| highest >= 95);
    if !has {
        skip_part(Missing::Right, "no real-time rights");
    }
    has
}

fn claim<'o>(outcome: &'o Value, id: &str) -> Option<&'o Value> {
    let claims = outcome["claims"].as_array()?;
    claims.iter().find(|claim| claim["id"] == id)
}

fn of_kind<'o>(outcome: &'o Value, kind: &str) -> Vec<&'o Value> {
    let rows = outcome["rows"].as_array().unwrap();
    rows.iter().filter(|row| row["kind"] == kind).collect()
}

/// Runs one, and gives what it wrote and said, and how many figures its page has.
fn bench(name: &str) -> (Value, String, usize) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = |kind: &str| folder.join(format!("{name}.{kind}"));
    let (json, html) = (file("json"), file("html"));
    let output = measure(&["bench", name], &json, &html);
    let said = String::from_utf8_lossy(&output.stdout);
    let said = format!("{said}{}", String::from_utf8_lossy(&output.stderr));
    // Noise may make a claim false or the machine unfit.
    assert!(
        [0, 1, 2, 3].contains(&output.status.code().expect(&said)),
        "{said}"
    );
    assert!(!said.contains("COULD NOT RUN"), "{said}");
    let outcome: Value = serde_json::from_str(&fs::read_to_string(&json).expect(&said)).unwrap();
    assert_eq!(outcome["benchmark"], name);
    let page = fs::read_to_string(&html).unwrap();
    (outcome, said, page.matches("<svg").count())
}
