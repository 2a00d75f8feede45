//! What the user sees while it runs: on a terminal a bar with the time left, elsewhere a line per stage.

use std::fmt;
use std::io::{IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use punctual_os::{Thread, ThreadSpec};

/// The progress of something whose stages take about a known time each. All of it goes to standard error.
///
/// ```
/// use std::time::Duration;
/// use punctual_harness::Progress;
/// let progress = Progress::start("demo", Duration::from_secs(40));
/// progress.stage("calibrating the load", Duration::from_secs(2));
/// // ... the work of that stage ...
/// progress.stage("work 30, classic pool", Duration::from_secs(4));
/// // ...
/// progress.finish();
/// ```
#[derive(Debug)]
pub struct Progress {
    display: Display,
    began: Instant,
}

#[derive(Debug)]
enum Display {
    Bar {
        bar: ProgressBar,
        plan: Arc<Mutex<Plan>>,
        /// Closed to end the thread that moves the bar.
        leash: Option<Sender<()>>,
        mover: Option<Thread<()>>,
    },
    Lines,
}

impl Progress {
    /// Starts to show the progress of something that takes about `expected`.
    pub fn start(title: &str, expected: Duration) -> Self {
        let display = if std::io::stderr().is_terminal() {
            Display::bar(title, expected)
        } else {
            line(&format!(
                "{title}: takes about {} s",
                expected.as_secs_f64().ceil()
            ));
            Display::Lines
        };
        Self {
            display,
            began: Instant::now(),
        }
    }

    /// The stage before is done; the one that begins takes about `expected`.
    pub fn stage(&self, text: impl fmt::Display, expected: Duration) {
        match &self.display {
            Display::Bar { bar, plan, .. } => {
                bar.set_message(text.to_string());
                lock(plan).begin(Instant::now(), expected);
            }
            Display::Lines => line(&format!("[{:5.1} s] {text}", self.began.elapsed().as_secs_f64())),
        }
    }

    /// Says something that stays on the screen.
    pub fn note(&self, text: impl fmt::Display) {
        match &self.display {
            Display::Bar { bar, .. } => bar.println(text.to_string()),
            Display::Lines => line(&text.to_string()),
        }
    }

    /// Takes the bar away. Dropping it does the same.
    pub fn finish(self) {}
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Display::Bar {
            bar, leash, mover, ..
        } = &mut self.display
        {
            *leash = None;
            if let Some(mover) = mover.take() {
                let _ = mover.join();
            }
            bar.finish_and_clear();
        }
    }
}

impl Display {
    fn bar(title: &str, expected: Duration) -> Self {
        let style =
            ProgressStyle::with_template(&format!("{title} [{{bar:30}}] {{prefix}} left  {{wide_msg}}"))
                .unwrap_or_else(|_| ProgressStyle::default_bar())
                .progress_chars("=> ");
        let bar = ProgressBar::new(milliseconds(expected))
            .with_style(style)
            .with_prefix("…");
        let plan = Arc::new(Mutex::new(Plan::new(expected)));
        let (leash, ended) = channel::<()>();
        let (moved, plan_of_mover) = (bar.clone(), Arc::clone(&plan));
        let mover = ThreadSpec::new("progress").spawn(move || {
            loop {
                let (done, left) = lock(&plan_of_mover).at(Instant::now());
                moved.set_position(milliseconds(done));
                moved.set_prefix(format!("{:.0} s", left.as_secs_f64().ceil()));
                moved.tick();
                if ended.recv_timeout(Duration::from_millis(200)) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        });
        // Without the thread the bar does not move; that is all.
        Self::Bar {
            bar,
            plan,
            leash: Some(leash),
            mover: mover.ok(),
        }
    }
}

/// How far the stages are, by their expected times.
#[derive(Debug)]
struct Plan {
    total: Duration,
    /// The expected times of the stages that are done.
    done: Duration,
    stage: Option<(Instant, Duration)>,
}

impl Plan {
    fn new(total: Duration) -> Self {
        Self {
            total,
            done: Duration::ZERO,
            stage: None,
        }
    }

    fn begin(&mut self, now: Instant, expected: Duration) {
        if let Some((_, expected)) = self.stage.replace((now, expected)) {
            self.done += expected;
        }
    }

    /// What is done and what is left. A stage that takes longer than expected waits at its end.
    fn at(&self, now: Instant) -> (Duration, Duration) {
        let of_stage = self.stage.map_or(Duration::ZERO, |(began, expected)| {
            now.saturating_duration_since(began).min(expected)
        });
        let done = (self.done + of_stage).min(self.total);
        (done, self.total - done)
    }
}

fn lock(plan: &Mutex<Plan>) -> std::sync::MutexGuard<'_, Plan> {
    plan.lock().unwrap_or_else(PoisonError::into_inner)
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Not `eprintln!`: a closed standard error is no reason to panic.
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
}
