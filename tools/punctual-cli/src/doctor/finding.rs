/// What was found of one thing that real time needs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// For machines: does not change.
    pub id: &'static str,
    /// For people.
    pub title: &'static str,
    pub state: State,
    /// What there is, in half a sentence.
    pub found: String,
    /// Why it matters, for somebody who never heard of it.
    pub why: &'static str,
    /// What to do about it; empty where nothing has to be done, or can be.
    pub remedy: Remedy,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum State {
    Fine,
    Lacks,
    /// It could not be looked at.
    Unknown,
}

/// How to mend something.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Remedy {
    /// One command for now, or a piece of advice where no command does it.
    pub now: String,
    /// Lines of shell for root, which may be run again and again, and what is theirs to know as comments.
    pub script: String,
}

impl Remedy {
    /// A command for now, and lines that do it for good.
    pub fn lasting(now: impl Into<String>, script: impl Into<String>) -> Self {
        Self {
            now: now.into(),
            script: script.into(),
        }
    }

    /// What only people can do.
    pub fn advice(advice: impl Into<String>) -> Self {
        Self {
            now: advice.into(),
            script: String::new(),
        }
    }
}

/// A word of shell that means exactly this: names of groups may be anything, and the script is for root.
pub fn quoted(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-".contains(letter);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''").replace(['\n', '\r'], ""))
}

/// What is looked at, before it has been.
#[derive(Clone, Copy)]
pub struct Subject {
    pub id: &'static str,
    pub title: &'static str,
    pub why: &'static str,
}

impl Subject {
    pub fn fine(self, found: impl Into<String>) -> Finding {
        self.finding(State::Fine, found.into(), Remedy::default())
    }

    pub fn lacks(self, found: impl Into<String>, remedy: Remedy) -> Finding {
        self.finding(State::Lacks, found.into(), remedy)
    }

    /// With what would help to find out.
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
