//! The terminal that standard output and error are: its width, its colours, and text that fits into it.

use std::{
    env,
    fmt::Display,
    io::{self, IsTerminal},
    os::fd::AsFd,
};

/// Columns of the terminal; `None`: standard output is a file or a pipe.
pub fn width() -> Option<usize> {
    width_of(io::stdout())
}

fn width_of(output: impl AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(output).ok()?;
    Some(size.ws_col.into()).filter(|columns| *columns > 0)
}

/// Prints `error: ` and the problem to standard error, wrapped as by [`fitted`] if that is a terminal.
pub fn complain(problem: &impl Display) {
    let text = format!("error: {problem}");
    match width_of(io::stderr()) {
        Some(width) => eprintln!("{}", fitted_within(&text, width)),
        None => eprintln!("{text}"),
    }
}

/// Replaces control characters other than line ends by escapes. A terminal would interpret those in texts of
/// peers.
///
/// ```
/// use punctual_report::terminal::printable;
/// assert_eq!(printable("track\u{1b}[2J\n"), "track\\u{1b}[2J\n");
/// ```
pub fn printable(text: &str) -> String {
    let escape = |character: char| match character {
        '\n' => String::from(character),
        _ if character.is_control() => character.escape_default().to_string(),
        _ => String::from(character),
    };
    text.chars().map(escape).collect()
}

/// Whether to colour text: standard output is a terminal that shows colours, and `NO_COLOR` is not set.
pub fn is_coloured() -> bool {
    let is_set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = env::var_os("TERM").is_none_or(|name| name == "dumb");
    io::stdout().is_terminal() && !is_set("NO_COLOR") && !is_dumb
}

/// Wraps the lines that are wider than the terminal, if there is one; see [`fitted_within`].
pub fn fitted(text: &str) -> String {
    width().map_or_else(|| text.to_owned(), |width| fitted_within(text, width))
}

/// Wraps the lines that are wider than this number of columns at spaces, and indents what follows by two
/// columns more than the line. A command that begins with `sudo` is not divided, because it is copied: it
/// gets a line of its own.
///
/// ```
/// use punctual_report::terminal::fitted_within;
/// assert_eq!(fitted_within("one two three four", 11), "one two\n  three\n  four");
/// ```
pub fn fitted_within(text: &str, width: usize) -> String {
    let lines = text.split('\n').map(|line| {
        if line.chars().count() <= width {
            return line.to_owned();
        }
        let words = line.trim_start();
        let indent = line.chars().count() - words.chars().count();
        let (prose, command) = match words.find("sudo ") {
            Some(place) if place > 0 => words.split_at(place),
            _ => (words, ""),
        };
        let start = " ".repeat(indent);
        let rest = " ".repeat(indent + 2);
        let mut text = wrapped(&start, &rest, prose, width);
        if !command.is_empty() {
            text += &format!("\n{rest}{command}");
        }
        text
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Wraps words after a prefix, and indents the lines that follow by its width.
///
/// ```
/// use punctual_report::terminal::hanging;
/// assert_eq!(hanging("why ", "one two three", 12), "why one two\n    three");
/// ```
pub fn hanging(prefix: &str, words: &str, width: usize) -> String {
    wrapped(prefix, &" ".repeat(prefix.chars().count()), words, width)
}

fn wrapped(first: &str, rest: &str, words: &str, width: usize) -> String {
    let mut lines = vec![first.to_owned()];
    let (mut used, mut is_empty) = (first.chars().count(), true);
    for word in words.split_whitespace() {
        let length = word.chars().count();
        let gap = usize::from(!is_empty);
        if used + gap + length > width && !is_empty {
            lines.push(rest.to_owned());
            used = rest.chars().count();
            is_empty = true;
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(if is_empty { "" } else { " " });
            line.push_str(word);
        }
        used += length + usize::from(!is_empty);
        is_empty = false;
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_fit_stay_as_they_are() {
        let text = "a   b\n\n  c";
        assert_eq!(fitted_within(text, 10), text);
    }

    #[test]
    fn longer_lines_are_wrapped_below_their_beginning() {
        assert_eq!(
            fitted_within("  - one two three", 9),
            "  - one\n    two\n    three"
        );
        assert_eq!(
            fitted_within("a-word-without-end b", 5),
            "a-word-without-end\n  b"
        );
    }

    #[test]
    fn commands_are_not_divided() {
        let text = "not real-time: sudo setcap cap_sys_nice+ep target/release/punctual";
        let command = "  sudo setcap cap_sys_nice+ep target/release/punctual";
        assert_eq!(fitted_within(text, 20), format!("not real-time:\n{command}"));
    }
}
