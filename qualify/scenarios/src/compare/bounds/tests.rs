//! Tests of limits from a file.

use punctual_harness::MachineFacts;
use punctual_os::CpuSet;

use super::*;

const BENCHMARKS: &[&str] = &["os.thread-switch", "os.semaphore", "os.timer-latency"];

fn outcome() -> Outcome {
    let facts = || MachineFacts::read(&CpuSet::single(0));
    let mut switches = Outcome::new("os.thread-switch", facts());
    for (threads, p99) in [(2, 4.0), (128, 9.5)] {
        let row = Row::new()
            .with("threads", threads)
            .with("mode", "fifo")
            .with("p99_us", p99);
        switches.row(row.with("note", Value::Null));
    }
    let mut semaphore = Outcome::new("os.semaphore", facts());
    semaphore.claim(Claim::at_most("growth", "", "a test", 1.2, 1.5));
    semaphore.skip(Some("remote"), "remote", "no namespace");
    let mut all = Outcome::new("qualify", facts());
    all.absorb(switches);
    all.absorb(semaphore);
    all
}

fn parsed(text: &str) -> Result<Bounds, String> {
    Bounds::parse("b.toml", text, BENCHMARKS)
}

fn checked(text: &str) -> (Outcome, Vec<String>) {
    let mut outcome = outcome();
    let mistakes = parsed(text).unwrap().check(&mut outcome);
    (outcome, mistakes)
}

#[test]
fn limits_become_claims() {
    let (outcome, mistakes) = checked(
        "[[limit]]\nclaim = \"os.semaphore.growth\"\nat_most = 1.1\n\n\
         [[limit]]\nbenchmark = \"os.thread-switch\"\nwhere = { threads = 128, mode = \"fifo\" }\n\
         column = \"p99_us\"\nat_most = 10\nat_least = 1\n",
    );
    assert_eq!(mistakes, [""; 0]);
    let bounds: Vec<_> = outcome
        .claims()
        .iter()
        .filter(|claim| claim.id.starts_with("bounds."))
        .collect();
    let reported: Vec<_> = bounds
        .iter()
        .map(|claim| (claim.id.as_str(), claim.holds(), claim.source.as_str()))
        .collect();
    assert_eq!(
        reported,
        [
            ("bounds.os.semaphore.growth.at-most", false, "b.toml:1"),
            (
                "bounds.os.thread-switch[mode=fifo,threads=128].p99_us.at-most",
                true,
                "b.toml:5"
            ),
            (
                "bounds.os.thread-switch[mode=fifo,threads=128].p99_us.at-least",
                true,
                "b.toml:5"
            ),
        ]
    );
}

#[test]
fn the_worst_row_decides() {
    let text =
        "[[limit]]\nbenchmark = \"os.thread-switch\"\ncolumn = \"p99_us\"\nat_most = 9.0\nat_least = 4.0\n";
    let (outcome, _) = checked(text);
    let claims = outcome.claims();
    let [.., most, least] = claims else {
        panic!("{claims:?}")
    };
    assert_eq!((most.measured.as_f64(), most.holds()), (Some(9.5), false));
    assert_eq!((least.measured.as_f64(), least.holds()), (Some(4.0), true));
    assert!(most.text.contains("the worst of 2 rows"), "{}", most.text);
}

#[test]
fn limits_of_what_was_not_measured_are_skipped() {
    let text = "[[limit]]\nclaim = \"os.semaphore.remote\"\nat_most = 1\n\
                [[limit]]\nclaim = \"os.timer-latency.p99\"\nat_most = 1\n\
                [[limit]]\nbenchmark = \"os.thread-switch\"\ncolumn = \"note\"\nat_most = 1\n";
    let (outcome, mistakes) = checked(text);
    assert_eq!(mistakes, [""; 0]);
    let why = |id: &str| {
        let found = outcome
            .skipped()
            .iter()
            .find(|skipped| skipped.id.as_deref() == Some(id));
        found
            .unwrap_or_else(|| panic!("{:?}", outcome.skipped()))
            .reason
            .clone()
    };
    assert_eq!(why("bounds.os.semaphore.remote.at-most"), "no namespace");
    assert!(why("bounds.os.timer-latency.p99.at-most").contains("no results in this run"));
    assert!(why("bounds.os.thread-switch.note.at-most").contains("is not a number"));
}

#[test]
fn unknown_names_are_reported_with_their_line_and_similar_names() {
    let cases = [
        (
            "[[limit]]\nclaim = \"os.semaphore.grwoth\"\nat_most = 1\n",
            "b.toml:1: limit[1].claim: unknown claim `os.semaphore.grwoth`; did you mean \
             `os.semaphore.growth`",
        ),
        (
            "\n[[limit]]\nbenchmark = \"os.thread-switch\"\ncolumn = \"p9_us\"\nat_most = 1\n",
            "b.toml:2: limit[1].column: the rows of os.thread-switch have no column `p9_us`; did you mean \
             `p99_us`",
        ),
        (
            "[[limit]]\nbenchmark = \"os.thread-switch\"\nwhere = { thread = 2 }\ncolumn = \"p99_us\"\n\
             at_most = 1\n",
            "limit[1].where: the rows of os.thread-switch have no column `thread`; did you mean `threads`",
        ),
        (
            "[[limit]]\nbenchmark = \"os.thread-switch\"\nwhere = { threads = 3 }\ncolumn = \"p99_us\"\n\
             at_most = 1\n",
            "no row of os.thread-switch has threads = 3; available: `128`, `2`",
        ),
    ];
    for (text, expected) in cases {
        let (_, mistakes) = checked(text);
        assert!(
            mistakes.len() == 1 && mistakes[0].contains(expected),
            "{mistakes:?}"
        );
    }
}

#[test]
fn errors_in_a_file_are_reported_before_anything_is_measured() {
    let cases = [
        ("", "contains no limit"),
        (
            "[[limit]]\nclaim = \"os.semaphore.x\"\n",
            "b.toml:1: limit[1]: has no bound",
        ),
        (
            "\n[[limit]]\nat_most = 1\n",
            "b.toml:2: limit[1]: needs either `claim`, or",
        ),
        (
            "[[limit]]\nclaim = \"os.semafore.x\"\nat_most = 1\n",
            "b.toml:2: limit[1].claim: `os.semafore.x` does not begin with a benchmark's name; did you mean \
             `os.semaphore`",
        ),
        (
            "[[limit]]\nbenchmark = \"os.x\"\ncolumn = \"y\"\nat_most = 1\n",
            "b.toml:2: limit[1].benchmark: unknown benchmark `os.x`",
        ),
        (
            "[[limit]]\nat_moost = 1\n",
            "b.toml:2:1: limit[1].at_moost: unknown key `at_moost`; did you mean `at_most`?",
        ),
        (
            "[[limit]]\nclaim = \"os.semaphore.x\"\nat_most = \"1\"\n",
            "b.toml:3:11: limit[1].at_most: expected a number, found the string \"1\"",
        ),
        (
            "[[limit]]\nclaim = \"os.semaphore.x\"\nat_most = nan\n",
            "b.toml:3: limit[1].at_most: not a finite number",
        ),
        (
            "[[limit]]\nclaim = \"os.semaphore.x\"\nat_most = 1\n\
             [[limit]]\nclaim = \"os.semaphore.x\"\nat_most = 2\n",
            "b.toml:4: limit[2]: duplicate of limit[1] in line 1",
        ),
        (
            "limit = 3\n",
            "b.toml:1:9: limit: expected an array, found the integer `3`",
        ),
    ];
    for (text, expected) in cases {
        let error = parsed(text).unwrap_err();
        assert!(error.contains(expected), "{expected:?} is not in {error:?}");
    }
}
