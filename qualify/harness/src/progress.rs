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
        let now = Instant::now();
        let mut plan = lock(&self.plan);
        plan.begin_part(now, name.into(), expected);
        let (_, left) = plan.at(now);
        drop(plan);
        self.show("", || format!(", {} left", in_words(left)));
    }

    /// Starts a stage that takes about `expected`; the previous one is done.
    pub fn stage(&self, text: impl fmt::Display, expected: Duration) {
        lock(&self.plan).begin(Instant::now(), expected);
        self.show(&text.to_string(), String::new);
    }

    /// Adds work that takes about `expected` to the plan and to the current part: it is repeated.
    pub fn repeat(&self, expected: Duration) {
        lock(&self.plan).extend(expected);
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
    /// When the first part or stage began.
    began: Option<Instant>,
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
            began: None,
            total,
            done: Duration::ZERO,
            part: None,
            stage: None,
        }
    }

    fn begin_part(&mut self, now: Instant, name: String, expected: Duration) {
        self.began.get_or_insert(now);
        self.done = match (&self.part, self.stage.take()) {
            (Some(part), _) => part.end,
            (None, Some((_, expected))) => self.done + expected,
            (None, None) => self.done,
        };
        let end = self.done + expected;
        self.part = Some(Part { name, end });
    }

    fn begin(&mut self, now: Instant, expected: Duration) {
        self.began.get_or_insert(now);
        if let Some((_, expected)) = self.stage.replace((now, expected)) {
            self.done += expected;
        }
    }

    fn extend(&mut self, by: Duration) {
        self.total += by;
        self.part.iter_mut().for_each(|part| part.end += by);
    }

    /// Returns how much of the expected time is finished, and an estimate of the remaining time. A stage or
    /// part that takes longer than expected stays at its end.
    fn at(&self, now: Instant) -> (Duration, Duration) {
        let since = |began| now.saturating_duration_since(began);
        let (of_stage, rest_of_stage) = self.stage.map_or_else(Default::default, |(began, expected)| {
            let done = since(began).min(expected);
            (done, expected - done)
        });
        let end = self
            .part
            .as_ref()
            .map_or(self.total, |part| part.end.min(self.total));
        let done = (self.done + of_stage).min(end);
        let rest = (self.total - done).max(rest_of_stage);
        let elapsed = self.began.map_or(Duration::ZERO, since);
        (done, self.left(elapsed, done, rest))
    }

    /// Estimates the remaining time by the progress so far: the elapsed time, times the rest, divided by what
    /// is done. At the beginning, the progress tells little: the plan counts as a tenth of the work that has
    /// taken as long as expected. Never less than [`SHORTEST_REST`].
    fn left(&self, elapsed: Duration, done: Duration, rest: Duration) -> Duration {
        let plan = self.total.as_secs_f64() / 10.0;
        let pace = (elapsed.as_secs_f64() + plan) / (done.as_secs_f64() + plan);
        let left = rest.as_secs_f64() * pace;
        Duration::try_from_secs_f64(left).map_or(rest, |left| left.max(SHORTEST_REST))
    }
}

/// Remaining time that is shown as long as work remains.
const SHORTEST_REST: Duration = Duration::from_secs(1);

/// Formats a duration in seconds up to two minutes, then in minutes, with a decimal up to ten.
///
/// ```
/// use std::time::Duration;
/// use punctual_harness::in_words;
/// assert_eq!(in_words(Duration::from_millis(1200)), "2 s");
/// ```
pub fn in_words(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds <= 120.0 {
        format!("{} s", seconds.ceil())
    } else if seconds <= 600.0 {
        format!("{:.1} min", seconds / 60.0)
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

    const SECOND: Duration = Duration::from_secs(1);

    /// The plan's finished and remaining time, in seconds.
    fn seconds(plan: &Plan, now: Instant) -> (u64, u64) {
        let (done, left) = plan.at(now);
        (done.as_secs(), left.as_secs_f64().round() as u64)
    }

    #[test]
    fn stages_fill_the_plan_by_their_expected_times() {
        let (began, mut plan) = (Instant::now(), Plan::new(10 * SECOND));
        let done = |plan: &Plan, seconds| plan.at(began + seconds * SECOND).0;
        assert_eq!(plan.at(began), (Duration::ZERO, 10 * SECOND));
        plan.begin(began, 4 * SECOND);
        assert_eq!(done(&plan, 1), SECOND);
        assert_eq!(done(&plan, 7), 4 * SECOND, "longer than expected");
        plan.begin(began + 2 * SECOND, 5 * SECOND);
        assert_eq!(done(&plan, 3), 5 * SECOND, "shorter than expected");
        plan.begin(began + 8 * SECOND, 99 * SECOND);
        assert_eq!(done(&plan, 20), 10 * SECOND, "more than the plan");
    }

    #[test]
    fn work_as_fast_as_planned_takes_the_rest_of_the_plan() {
        let (began, mut plan) = (Instant::now(), Plan::new(100 * SECOND));
        for stage in 0..10 {
            let now = began + stage * 10 * SECOND;
            plan.begin(now, 10 * SECOND);
            assert_eq!(plan.at(now).1, (100 - stage * 10) * SECOND);
        }
    }

    #[test]
    fn the_estimate_corrects_itself_by_the_progress() {
        for (pace, at_half) in [(3, 150), (1, 50)] {
            let (began, mut plan) = (Instant::now(), Plan::new(100 * SECOND));
            let mut now = began;
            for _ in 0..50 {
                plan.begin(now, SECOND);
                now += pace * SECOND;
            }
            plan.begin(now, SECOND);
            let (done, left) = seconds(&plan, now);
            assert_eq!(done, 50);
            // The planned pace still counts for a sixth.
            assert!(
                left <= at_half && left >= at_half * 5 / 6,
                "{left} s left of {at_half} s"
            );
        }
    }

    #[test]
    fn something_is_left_until_the_end() {
        let (began, mut plan) = (Instant::now(), Plan::new(10 * SECOND));
        plan.begin(began, 10 * SECOND);
        assert_eq!(in_words(plan.at(began + 60 * SECOND).1), "1 s");
        plan.begin(began + 60 * SECOND, 8 * SECOND);
        let (_, left) = seconds(&plan, began + 60 * SECOND);
        assert!(
            left > 40,
            "a stage beyond the plan is as slow as the others: {left} s"
        );
        plan.extend(10 * SECOND);
        assert_eq!(plan.at(began + 61 * SECOND).0, 11 * SECOND);
    }

    #[test]
    fn a_part_begins_where_the_one_before_was_to_end() {
        let (began, mut plan) = (Instant::now(), Plan::new(100 * SECOND));
        let done = |plan: &Plan, seconds| plan.at(began + seconds * SECOND).0;
        plan.begin_part(began, "one".into(), 30 * SECOND);
        plan.begin(began, 10 * SECOND);
        plan.begin(began + SECOND, 40 * SECOND);
        assert_eq!(done(&plan, 60), 30 * SECOND, "stages of too long");
        plan.begin_part(began + 60 * SECOND, "two".into(), 50 * SECOND);
        assert_eq!(done(&plan, 60), 30 * SECOND);
        plan.begin(began + 60 * SECOND, 5 * SECOND);
        assert_eq!(done(&plan, 70), 35 * SECOND);
        plan.begin_part(began + 71 * SECOND, "three".into(), 20 * SECOND);
        assert_eq!(done(&plan, 71), 80 * SECOND, "one that was shorter than expected");
    }

    #[test]
    fn times_are_said_in_the_unit_that_people_count_in() {
        assert_eq!(in_words(Duration::from_millis(1200)), "2 s");
        assert_eq!(in_words(Duration::from_secs(1501)), "26 min");
    }
}
