//! Progress display: a bar with the remaining time on a terminal, otherwise a line per stage.

use std::fmt;
use std::io::{IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use punctual_os::{Thread, ThreadSpec};

/// Progress of work whose stages have roughly known durations; shown on standard error.
///
/// ```
/// use std::time::Duration;
/// use punctual_harness::Progress;
/// let progress = Progress::start("demo", Duration::from_secs(40));
/// progress.stage("calibrating the load", Duration::from_secs(2));
/// // ... the work of that stage ...
/// progress.stage("work 30, pool without lanes", Duration::from_secs(4));
/// // ...
/// progress.finish();
/// ```
///
/// A sequence of several pieces of work consists of [`part`](Self::part)s, each with its own stages.
#[derive(Debug)]
pub struct Progress {
    display: Display,
    began: Instant,
    plan: Arc<Mutex<Plan>>,
}

#[derive(Debug)]
enum Display {
    Bar {
        bar: ProgressBar,
        /// Closed to end the thread that moves the bar.
        stop: Option<Sender<()>>,
        mover: Option<Thread<()>>,
    },
    Lines,
}

impl Progress {
    /// Starts to show the progress of work that takes about `expected`.
    pub fn start(title: &str, expected: Duration) -> Self {
        let plan = Arc::new(Mutex::new(Plan::new(expected)));
        let display = if std::io::stderr().is_terminal() {
            Display::bar(title, expected, &plan)
        } else {
            line(&format!("{title}: takes about {}", in_words(expected)));
            Display::Lines
        };
        Self {
            display,
            began: Instant::now(),
            plan,
        }
    }

    /// Starts a part that takes about `expected` in total; everything before it is done. Its stages are shown
    /// after `name`.
    pub fn part(&self, name: impl Into<String>, expected: Duration) {
        let mut plan = lock(&self.plan);
        plan.begin_part(name.into(), expected);
        let (_, left) = plan.at(Instant::now());
        drop(plan);
        self.show("", || format!(", {} left", in_words(left)));
    }

    /// Starts a stage that takes about `expected`; the previous one is done.
    pub fn stage(&self, text: impl fmt::Display, expected: Duration) {
        lock(&self.plan).begin(Instant::now(), expected);
        self.show(&text.to_string(), String::new);
    }

    fn show(&self, stage: &str, left: impl FnOnce() -> String) {
        let text = match lock(&self.plan).part.as_ref() {
            Some(part) if stage.is_empty() => part.name.clone(),
            Some(part) => format!("{}: {stage}", part.name),
            None => stage.to_owned(),
        };
        match &self.display {
            Display::Bar { bar, .. } => bar.set_message(text),
            Display::Lines => line(&format!(
                "[{:5.1} s{}] {text}",
                self.began.elapsed().as_secs_f64(),
                left()
            )),
        }
    }

    /// Prints text that stays on the screen.
    pub fn note(&self, text: impl fmt::Display) {
        match &self.display {
            Display::Bar { bar, .. } => bar.println(text.to_string()),
            Display::Lines => line(&text.to_string()),
        }
    }

    /// Removes the bar, as dropping does.
    pub fn finish(self) {}
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Display::Bar { bar, stop, mover, .. } = &mut self.display {
            *stop = None;
            if let Some(mover) = mover.take() {
                let _ = mover.join();
            }
            bar.finish_and_clear();
        }
    }
}

impl Display {
    fn bar(title: &str, expected: Duration, plan: &Arc<Mutex<Plan>>) -> Self {
        let style =
            ProgressStyle::with_template(&format!("{title} [{{bar:30}}] {{prefix}} left  {{wide_msg}}"))
                .unwrap_or_else(|_| ProgressStyle::default_bar())
                .progress_chars("=> ");
        let bar = ProgressBar::new(milliseconds(expected))
            .with_style(style)
            .with_prefix("…");
        let (stop, stopped) = channel::<()>();
        let (moved, plan_of_mover) = (bar.clone(), Arc::clone(plan));
        let mover = ThreadSpec::new("progress").spawn(move || {
            loop {
                let (done, left) = lock(&plan_of_mover).at(Instant::now());
                moved.set_position(milliseconds(done));
                moved.set_prefix(in_words(left));
                moved.tick();
                if stopped.recv_timeout(Duration::from_millis(200)) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        });
        // Without the thread the bar merely does not move.
        Self::Bar {
            bar,
            stop: Some(stop),
            mover: mover.ok(),
        }
    }
}

/// Expected and finished time of the stages.
#[derive(Debug)]
struct Plan {
    total: Duration,
    /// Expected time of the finished parts and stages.
    done: Duration,
    part: Option<Part>,
    stage: Option<(Instant, Duration)>,
}

/// One part of the work.
#[derive(Debug)]
struct Part {
    name: String,
    /// Expected time that is finished at its end.
    end: Duration,
}

impl Plan {
    fn new(total: Duration) -> Self {
        Self {
            total,
            done: Duration::ZERO,
            part: None,
            stage: None,
        }
    }

    fn begin_part(&mut self, name: String, expected: Duration) {
        self.done = match (&self.part, self.stage.take()) {
            (Some(part), _) => part.end,
            (None, Some((_, expected))) => self.done + expected,
            (None, None) => self.done,
        };
        let end = self.done + expected;
        self.part = Some(Part { name, end });
    }

    fn begin(&mut self, now: Instant, expected: Duration) {
        if let Some((_, expected)) = self.stage.replace((now, expected)) {
            self.done += expected;
        }
    }

    /// Returns finished and remaining time. A stage or part that takes longer than expected stays at its end.
    fn at(&self, now: Instant) -> (Duration, Duration) {
        let of_stage = self.stage.map_or(Duration::ZERO, |(began, expected)| {
            now.saturating_duration_since(began).min(expected)
        });
        let end = self
            .part
            .as_ref()
            .map_or(self.total, |part| part.end.min(self.total));
        let done = (self.done + of_stage).min(end);
        (done, self.total - done)
    }
}

/// Formats a duration in seconds up to two minutes, then in minutes.
fn in_words(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds <= 120.0 {
        format!("{} s", seconds.ceil())
    } else {
        format!("{} min", (seconds / 60.0).ceil())
    }
}

fn lock(plan: &Mutex<Plan>) -> std::sync::MutexGuard<'_, Plan> {
    plan.lock().unwrap_or_else(PoisonError::into_inner)
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Writes a line; unlike `eprintln!`, does not panic if standard error is closed.
fn line(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_fill_the_plan_by_their_expected_times() {
        let second = Duration::from_secs(1);
        let (began, mut plan) = (Instant::now(), Plan::new(10 * second));
        assert_eq!(plan.at(began), (Duration::ZERO, 10 * second));
        plan.begin(began, 4 * second);
        assert_eq!(plan.at(began + second), (second, 9 * second));
        assert_eq!(
            plan.at(began + 7 * second),
            (4 * second, 6 * second),
            "longer than expected"
        );
        plan.begin(began + 2 * second, 5 * second);
        assert_eq!(
            plan.at(began + 3 * second),
            (5 * second, 5 * second),
            "shorter than expected"
        );
        plan.begin(began + 8 * second, 99 * second);
        assert_eq!(
            plan.at(began + 20 * second),
            (10 * second, Duration::ZERO),
            "more than the plan"
        );
    }

    #[test]
    fn a_part_begins_where_the_one_before_was_to_end() {
        let second = Duration::from_secs(1);
        let (began, mut plan) = (Instant::now(), Plan::new(100 * second));
        plan.begin_part("one".into(), 30 * second);
        plan.begin(began, 10 * second);
        plan.begin(began + second, 40 * second);
        let stages_of_too_long = plan.at(began + 60 * second);
        assert_eq!(stages_of_too_long, (30 * second, 70 * second));
        plan.begin_part("two".into(), 50 * second);
        assert_eq!(plan.at(began + 60 * second), (30 * second, 70 * second));
        plan.begin(began + 60 * second, 5 * second);
        assert_eq!(plan.at(began + 70 * second), (35 * second, 65 * second));
        plan.begin_part("three".into(), 20 * second);
        assert_eq!(
            plan.at(began + 71 * second),
            (80 * second, 20 * second),
            "one that was shorter than expected"
        );
    }

    #[test]
    fn times_are_said_in_the_unit_that_people_count_in() {
        assert_eq!(in_words(Duration::from_millis(1200)), "2 s");
        assert_eq!(in_words(Duration::from_secs(1501)), "26 min");
    }
}
