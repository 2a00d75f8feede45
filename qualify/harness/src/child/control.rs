//! The child's side of the control channel.

use std::fmt;
use std::io::{self, BufRead, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Connection to the parent. Nothing else may write to standard output meanwhile.
#[derive(Debug)]
pub struct Control(());

impl Control {
    /// Reports that the child is ready, with a value for the parent.
    ///
    /// # Errors
    /// The parent has ended.
    pub fn ready(value: &impl Serialize) -> Result<Self, ControlError> {
        send("READY", value)?;
        Ok(Self(()))
    }

    /// Reports instead of [`ready`](Self::ready) that the child cannot do its work, and why.
    ///
    /// # Errors
    /// The parent has ended.
    pub fn refuse(reason: impl fmt::Display) -> Result<(), ControlError> {
        send_text("ERR", &one_line(&reason))
    }

    /// Answers requests until the parent closes the connection or ends. An error of `handle` is sent to the
    /// parent as text.
    ///
    /// # Errors
    /// The parent has ended before an answer, or sent a request that is not a `Q`.
    pub fn serve<Q: DeserializeOwned, A: Serialize, E: fmt::Display>(
        self,
        mut handle: impl FnMut(Q) -> Result<A, E>,
    ) -> Result<(), ControlError> {
        for line in io::stdin().lock().lines() {
            let line = line?;
            let request =
                serde_json::from_str(&line).map_err(|error| ControlError::UnknownRequest { line, error })?;
            match handle(request) {
                Ok(value) => send("OK", &value)?,
                Err(error) => send_text("ERR", &one_line(&error))?,
            }
        }
        Ok(())
    }
}

/// Error of the connection to the parent.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// The parent has ended.
    #[error("the parent process has ended: {0}")]
    Gone(#[from] io::Error),
    /// Unknown request: parent and child are different builds.
    #[error("unknown request `{line}` from the parent: {error}")]
    UnknownRequest {
        /// Request.
        line: String,
        /// Error of its decoding.
        error: serde_json::Error,
    },
    /// The value cannot be encoded as JSON.
    #[error("the value cannot be sent: {0}")]
    Value(#[source] serde_json::Error),
}

fn send(word: &str, value: &impl Serialize) -> Result<(), ControlError> {
    send_text(word, &serde_json::to_string(value).map_err(ControlError::Value)?)
}

fn send_text(word: &str, text: &str) -> Result<(), ControlError> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{word} {text}")?;
    Ok(stdout.flush()?)
}

fn one_line(text: &impl fmt::Display) -> String {
    text.to_string().replace(['\n', '\r'], "; ")
}
