//! The child's side of the control channel.

use std::fmt;
use std::io::{self, BufRead, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Speaks with the parent. Nothing else may write to standard output meanwhile.
#[derive(Debug)]
pub struct Control(());

impl Control {
    /// Says that the child is ready, with a value for the parent.
    ///
    /// # Errors
    /// The parent is gone.
    pub fn ready(value: &impl Serialize) -> Result<Self, ControlError> {
        say("READY", value)?;
        Ok(Self(()))
    }

    /// Says that the child cannot do its work, and why, in place of [`ready`](Self::ready).
    ///
    /// # Errors
    /// The parent is gone.
    pub fn refuse(reason: impl fmt::Display) -> Result<(), ControlError> {
        say_text("ERR", &one_line(&reason))
    }

    /// Answers questions until the parent closes the channel or ends. An error of `answer` goes to the parent as text,
    /// and the next question is awaited.
    ///
    /// # Errors
    /// The parent is gone in the middle of an answer, or asks what is no `Q`.
    pub fn serve<Q: DeserializeOwned, A: Serialize, E: fmt::Display>(
        self,
        mut answer: impl FnMut(Q) -> Result<A, E>,
    ) -> Result<(), ControlError> {
        for line in io::stdin().lock().lines() {
            let line = line?;
            let question =
                serde_json::from_str(&line).map_err(|error| ControlError::Question { line, error })?;
            match answer(question) {
                Ok(value) => say("OK", &value)?,
                Err(error) => say_text("ERR", &one_line(&error))?,
            }
        }
        Ok(())
    }
}

/// What ends a child's conversation before its time.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// The parent is gone.
    #[error("the parent process does not listen any more: {0}")]
    Gone(#[from] io::Error),
    /// The parent asks what the child does not know: they are not of the same build.
    #[error("the parent asks `{line}`, which is no question of this build: {error}")]
    Question {
        /// What it asks.
        line: String,
        /// What is wrong with it.
        error: serde_json::Error,
    },
    /// The value cannot be said in JSON.
    #[error("the value cannot be sent: {0}")]
    Value(#[source] serde_json::Error),
}

fn say(word: &str, value: &impl Serialize) -> Result<(), ControlError> {
    say_text(word, &serde_json::to_string(value).map_err(ControlError::Value)?)
}

fn say_text(word: &str, text: &str) -> Result<(), ControlError> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{word} {text}")?;
    Ok(stdout.flush()?)
}

fn one_line(text: &impl fmt::Display) -> String {
    text.to_string().replace(['\n', '\r'], "; ")
}
