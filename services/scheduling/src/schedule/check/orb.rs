//! Checks of the settings of an ORB.

use std::time::Duration;

use punctual_giop::ObjectUrl;
use punctual_toml::{Key, Problem};

use crate::{OrbSettings, Span};

/// Checks the form of the URLs of initial references, which are resolved only when they are used.
pub(super) fn references(orb: &OrbSettings, key: &Key) -> Result<(), Problem> {
    for (name, url) in &orb.initial_references {
        if let Some(problem) = malformed(url, url) {
            return key
                .name("initial_references")
                .problem(format!("`{name}`: {problem}"));
        }
    }
    let Some(start) = &orb.default_initial_reference else {
        return Ok(());
    };
    match malformed(start, &format!("{}/NAME", start.trim_end_matches('/'))) {
        Some(problem) => key.name("default_initial_reference").problem(problem),
        None => Ok(()),
    }
}

/// Why `complete`, the URL of an object, is not one. `stated`: the part of it in the file.
fn malformed(stated: &str, complete: &str) -> Option<String> {
    let of = |text: &str| text.parse::<ObjectUrl>().err();
    of(complete).map(|error| of(stated).unwrap_or(error).to_string())
}

/// Checks that calls and connections can succeed in the time that they have.
pub(super) fn timeouts(orb: &OrbSettings, key: &Key) -> Result<(), Problem> {
    let limits = || key.name("limits");
    for (of, name, span) in [
        (key.clone(), "call_timeout", orb.call_timeout),
        (limits(), "connect_timeout", orb.limits.connect_timeout),
        (limits(), "resolve_timeout", orb.limits.resolve_timeout),
    ] {
        if span == Some(Span(Duration::ZERO)) {
            return of.name(name).problem(
                "no call would end in time; write a longer one, such as \"2 s\", or remove the key",
            );
        }
    }
    Ok(())
}
