//! Settings that apply to every benchmark of a run.

use std::path::PathBuf;

use crate::length::Length;

/// Settings of a run. The default measures at full length and prepares the machine.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Whether the run is short, with fewer points and wider confidence intervals.
    pub quick: bool,
    /// Whether the durations are those of the papers, where they state them; `quick` takes precedence.
    pub paper_lengths: bool,
    /// Whether the system remains unchanged: throttling stays on, other programs stay where they are.
    pub leave_system_alone: bool,
    /// Explain calls slower than this number of microseconds, in a separate, traced pass.
    pub explain_over: Option<f64>,
    /// Write the timeline to this file, for ui.perfetto.dev (`inversion` only).
    pub perfetto: Option<PathBuf>,
    /// Total measuring time in seconds (`demo` only).
    pub seconds: Option<u32>,
    /// Names of the attacks to measure (`attacks` only); empty: all.
    pub attacks: Vec<String>,
}

impl Settings {
    pub(crate) fn length(&self) -> Length {
        match (self.quick, self.paper_lengths) {
            (true, _) => Length::Quick,
            (false, true) => Length::Paper,
            (false, false) => Length::Full,
        }
    }

    /// Formats the settings as command-line arguments, without files.
    pub(crate) fn arguments(&self) -> String {
        let flags = [
            (self.quick, " --quick"),
            (self.paper_lengths, " --paper-lengths"),
            (self.leave_system_alone, " --leave-system-alone"),
        ];
        let flags = flags.iter().filter(|(set, _)| *set).map(|(_, flag)| *flag);
        let explained = self
            .explain_over
            .map_or(String::new(), |over| format!(" --explain-over {over}"));
        let attacks = match &self.attacks[..] {
            [] => String::new(),
            names => format!(" --attacks {}", names.join(",")),
        };
        flags.collect::<String>() + &explained + &attacks
    }
}
