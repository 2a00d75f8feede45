//! Result of one check.

/// Result of one check.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// Stable identifier, for programs.
    pub id: &'static str,
    /// Name for people.
    pub title: &'static str,
    pub state: State,
    /// Observation, without a verb of its own where possible.
    pub found: String,
    /// Why the check matters, for readers without background.
    pub why: &'static str,
    /// How to fix it; empty if nothing has to be done, or nothing can be done.
    pub remedy: Remedy,
}

/// Outcome of a check.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum State {
    /// The check passed.
    Passed,
    /// The check failed.
    Failed,
    /// The check could not be performed.
    Unknown,
}

/// How to fix something.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Remedy {
    /// One command, effective at once; empty if there is none.
    pub command: String,
    /// Further advice, or the complete advice if there is no command.
    pub advice: String,
    /// Idempotent shell lines for root, with comments.
    pub script: String,
}

impl Remedy {
    /// A command that takes effect now, and lines that make it permanent if possible.
    pub fn lasting(command: impl Into<String>, script: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            advice: String::new(),
            script: script.into(),
        }
    }

    /// A fix that only people can make.
    pub fn advice(advice: impl Into<String>) -> Self {
        Self {
            advice: advice.into(),
            ..Self::default()
        }
    }

    /// Adds further advice.
    pub fn and(self, advice: impl Into<String>) -> Self {
        Self {
            advice: advice.into(),
            ..self
        }
    }

    /// Adds lines for the script.
    pub fn with_script(self, script: impl Into<String>) -> Self {
        Self {
            script: script.into(),
            ..self
        }
    }

    /// Command and advice in one line.
    pub fn now(&self) -> String {
        match (&self.command[..], &self.advice[..]) {
            (command, "") => command.to_owned(),
            ("", advice) => advice.to_owned(),
            (command, advice) => format!("{command}   ({advice})"),
        }
    }
}

/// Quotes a text as one shell word: names of groups are arbitrary, and root runs the script.
pub fn quoted(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-".contains(letter);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''").replace(['\n', '\r'], ""))
}

/// A check before its outcome is known.
#[derive(Clone, Copy)]
pub struct Subject {
    pub id: &'static str,
    pub title: &'static str,
    pub why: &'static str,
}

impl Subject {
    pub fn passed(self, found: impl Into<String>) -> Finding {
        self.finding(State::Passed, found.into(), Remedy::default())
    }

    pub fn failed(self, found: impl Into<String>, remedy: Remedy) -> Finding {
        self.finding(State::Failed, found.into(), remedy)
    }

    /// The remedy states what makes the check possible.
    pub fn unknown(self, found: impl Into<String>, remedy: Remedy) -> Finding {
        self.finding(State::Unknown, found.into(), remedy)
    }

    fn finding(self, state: State, found: String, remedy: Remedy) -> Finding {
        Finding {
            id: self.id,
            title: self.title,
            state,
            found,
            why: self.why,
            remedy,
        }
    }
}
