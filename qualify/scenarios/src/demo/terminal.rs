//! The demo in the terminal: its two figures as small charts, its claims, and the result in one sentence.

use punctual_harness::Outcome;
use punctual_os::rights;
use punctual_report::terminal::{fitted, fitted_within, width};

use crate::load::{CAPACITY, Importance, Pool, REFERENCE_WORK};

pub(super) fn print(outcome: &Outcome) {
    for pool in Pool::ALL {
        println!("{}\n", chart(outcome, pool, width().unwrap_or(usize::MAX)));
    }
    for claim in outcome.claims() {
        let [measured, limit] = [&claim.measured, &claim.limit].map(punctual_report::table::shown);
        let line = format!(
            "{} {}: {measured} (limit {limit})",
            claim.state.sign(),
            claim.text
        );
        println!("{}", fitted(&line));
    }
    let rights = rights::probe();
    println!("\n{}", fitted(&result(outcome)));
    if let Some(remedy) = rights.advice().first() {
        println!("To grant the missing rights:\n  {remedy}");
    }
    println!();
}

/// Deadlines met by each client, a column for each work per call; those that do not fit into the terminal
/// follow below.
fn chart(outcome: &Outcome, pool: Pool, width: usize) -> String {
    let works = works(outcome, pool);
    let title = format!(
        "{}: deadlines met (%), by work per call and load of all clients",
        pool.heading()
    );
    let mut text = fitted_within(&title, width);
    for works in works.chunks((width.saturating_sub(LABEL) / COLUMN).max(1)) {
        text += &format!("\n {:<18}", "work");
        for work in works {
            text += &format!("{work:>COLUMN$}");
        }
        text += &format!("\n {:<18}", "load (%)");
        for work in works {
            text += &format!("{:>COLUMN$.0}", load(*work));
        }
        for importance in Importance::ALL {
            text += &format!("\n {:<10}{:>3} Hz  ", importance.name(), importance.rate());
            for work in works {
                let met = met(outcome, pool, importance, *work);
                let bar = met.map(|met| format!(" {}{met:>4.0}", bar(met)));
                text += &bar.unwrap_or_else(|| format!("{:>COLUMN$}", "-"));
            }
        }
    }
    text
}

/// Characters before the first column, and of a column.
const LABEL: usize = 19;
const COLUMN: usize = 7;

/// Share of the processor, in percent, that the calls of all clients demand at this work: that of the
/// calibration is 100 %.
fn load(work: u64) -> f64 {
    work as f64 / f64::from(REFERENCE_WORK) * 100.0
}

/// Two characters whose height is the share.
fn bar(percent: f64) -> String {
    let eighths = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let height = (percent / 100.0 * 7.0).round().clamp(0.0, 7.0) as usize;
    String::from_iter([eighths[height]; 2])
}

/// The result in one sentence: the high-priority client at its worst work, with and without lanes. Loads at
/// which its own calls exceed the processor do not count. Without the right to real-time scheduling,
/// priorities have no effect.
pub(super) fn result(outcome: &Outcome) -> String {
    result_with(outcome, rights::probe().realtime)
}

fn result_with(outcome: &Outcome, is_realtime: bool) -> String {
    let high = f64::from(Importance::High.rate());
    // From here on its own calls exceed the processor.
    let most = CAPACITY / high * 100.0;
    let (counted, beyond): (Vec<u64>, Vec<u64>) = works(outcome, Pool::Lanes)
        .into_iter()
        .partition(|work| load(*work) <= most);
    let worst = |pool| {
        let met = counted
            .iter()
            .filter_map(|work| met(outcome, pool, Importance::High, *work));
        met.reduce(f64::min)
    };
    let highest = counted.last().copied().map_or(most, load);
    let why = if beyond.is_empty() {
        String::new()
    } else {
        format!(" (above {most:.0} % its own calls exceed the processor)")
    };
    match (worst(Pool::Lanes), worst(Pool::WithoutLanes)) {
        (Some(with), Some(without)) if !is_realtime => format!(
            "Without real-time rights the kernel ignores priorities, and the effect of lanes cannot be \
             shown: at the worst load, the {} Hz client met {with:.0} % of its deadlines with lanes, and \
             {without:.0} % without.",
            Importance::High.rate(),
        ),
        (Some(with), Some(without)) => format!(
            "With lanes the {} Hz client met {}{with:.0} % of its deadlines at each of the {} measured loads up to \
             {highest:.0} %{why}; in a pool without lanes {without:.0} % at the worst.",
            Importance::High.rate(),
            if with < 100.0 { "at least " } else { "" },
            counted.len(),
        ),
        _ => "Not all loads were measured.".to_owned(),
    }
}

fn works(outcome: &Outcome, pool: Pool) -> Vec<u64> {
    let rows = outcome
        .rows()
        .iter()
        .filter(|row| row.get("pool").is_some_and(|name| name == pool.name()));
    let mut works: Vec<_> = rows.filter_map(|row| row.get("work")?.as_u64()).collect();
    works.sort_unstable();
    works.dedup();
    works
}

fn met(outcome: &Outcome, pool: Pool, importance: Importance, work: u64) -> Option<f64> {
    let row = outcome.rows().iter().find(|row| {
        row.get("pool").is_some_and(|name| name == pool.name())
            && row.get("priority").is_some_and(|name| name == importance.name())
            && row.get("work").is_some_and(|value| *value == work)
    });
    row?.number("deadlines_made_percent")
}

#[cfg(test)]
mod tests {
    use punctual_harness::{MachineFacts, Row};
    use punctual_os::CpuSet;

    use super::*;

    fn outcome() -> Outcome {
        outcome_of(&[30, 40, 50, 55, 65, 80])
    }

    /// Half of the deadlines are met at works above 50 without lanes.
    fn outcome_of(works: &[u64]) -> Outcome {
        let mut outcome = Outcome::new("demo", MachineFacts::read(&CpuSet::all()));
        for pool in Pool::ALL {
            for &work in works {
                for importance in Importance::ALL {
                    let met = if pool == Pool::WithoutLanes && work > 50 {
                        44.4
                    } else {
                        100.0
                    };
                    outcome.row(
                        Row::new()
                            .with("pool", pool.name())
                            .with("work", work)
                            .with("priority", importance.name())
                            .with("deadlines_made_percent", met),
                    );
                }
            }
        }
        outcome
    }

    #[test]
    fn charts_show_every_load_within_the_terminal() {
        for width in [40, 60] {
            let narrow = chart(&outcome(), Pool::WithoutLanes, width);
            assert!(
                narrow.lines().all(|line| line.chars().count() <= width),
                "{narrow}"
            );
            assert_eq!(narrow.matches("██ 100").count(), 9, "{narrow}");
        }
        let chart = chart(&outcome(), Pool::WithoutLanes, 80);
        assert!(chart.lines().all(|line| line.chars().count() <= 80), "{chart}");
        assert_eq!(chart.lines().count(), 3 + 3);
        assert!(chart.contains(" 167 "), "load at work 50: {chart}");
        assert_eq!(chart.matches("▄▄  44").count(), 9, "{chart}");
        assert_eq!(chart.matches("██ 100").count(), 9, "{chart}");
    }

    #[test]
    fn one_sentence_states_the_result() {
        assert_eq!(
            result_with(&outcome(), true),
            "With lanes the 75 Hz client met 100 % of its deadlines at each of the 4 measured loads up to 183 % \
             (above 200 % its own calls exceed the processor); in a pool without lanes 44 % at the worst."
        );
        assert_eq!(
            result_with(&outcome_of(&[30, 50, 55]), true),
            "With lanes the 75 Hz client met 100 % of its deadlines at each of the 3 measured loads up to 183 %; \
             in a pool without lanes 44 % at the worst."
        );
        let without_rights = result_with(&outcome(), false);
        assert!(without_rights.contains("cannot be shown: at the worst load, the 75 Hz client met 100 %"));
    }
}
