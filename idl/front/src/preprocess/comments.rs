//! Documentation comments.

use std::rc::Rc;

/// Collects comments: those directly above a token document it, unless an empty line or another token's line
/// is between; those behind a token to the end of its line, or on the lines below it up to an empty line or
/// a `}`, document what that token ends, and so do those with Doxygen's mark `<`, wherever they are.
#[derive(Default)]
pub(super) struct Comments {
    /// Comments above the next token.
    lines: Vec<String>,
    /// Comments behind the previous token.
    behind: Vec<String>,
    /// Column of the first comment behind the previous token; comments below it in this column continue it.
    column: u32,
    /// Line ends since the last comment or token.
    newlines: usize,
    position: Position,
    /// Previous token that comments can document.
    previous: Previous,
}

/// Where the comments are that are being collected.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Position {
    /// Place that is not directly behind or below a token.
    #[default]
    Apart,
    /// A token is the last on the present line, or on the line above.
    AfterToken,
    /// The comment is on the lines directly below a token.
    Below,
    /// The comment is on the line of a token, possibly between two: there, `/* ... */` is a remark, and `/**
    /// ... */` documents the next token.
    Trailing { is_remark: bool },
}

/// The tokens that comments behind them document.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Previous {
    /// The start of a file, or a directive.
    #[default]
    None,
    /// `}`
    Closing,
    /// `{`, or the `;` behind a `}`: lines below it do not belong to it.
    Brace,
    Other,
}

/// Documentation from the comments before a token.
#[derive(Default)]
pub(super) struct Documentation {
    pub of_next: Option<Rc<str>>,
    pub of_previous: Option<Rc<str>>,
}

impl Comments {
    pub fn newline(&mut self) {
        self.newlines += 1;
        match self.position {
            Position::Trailing { .. } => {
                self.behind.append(&mut self.lines);
                self.position = Position::AfterToken;
            }
            _ if self.newlines < 2 => {}
            Position::Below => {
                self.behind.append(&mut self.lines);
                self.position = Position::Apart;
            }
            _ => {
                self.lines.clear();
                self.position = Position::Apart;
            }
        }
    }

    pub fn comment(&mut self, text: &str, first_on_line: bool, column: u32) {
        if self.previous != Previous::None && points_back(text) {
            return self.marked(text, first_on_line, column);
        }
        let continues = !self.behind.is_empty() && self.column == column && self.newlines == 1;
        if !first_on_line {
            let is_remark = !text.starts_with("/**");
            self.position = Position::Trailing { is_remark };
            self.column = column;
        } else if continues && self.lines.is_empty() && self.position == Position::AfterToken {
            self.behind.extend(lines_of(text));
            self.newlines = 0;
            return;
        } else if self.position == Position::AfterToken {
            let is_next_line = self.newlines == 1 && self.previous == Previous::Other;
            self.position = if is_next_line {
                Position::Below
            } else {
                Position::Apart
            };
        }
        self.newlines = 0;
        self.lines.extend(lines_of(text));
    }

    /// Adds a comment whose mark says that it documents what precedes it.
    fn marked(&mut self, text: &str, first_on_line: bool, column: u32) {
        self.newlines = 0;
        if self.position != Position::Apart {
            self.behind.append(&mut self.lines);
            self.position = Position::AfterToken;
        }
        if !first_on_line {
            self.column = column;
        }
        self.behind.extend(lines_of(text));
    }

    /// Ends the collection at a directive or at the end of the file.
    pub fn end(&mut self) -> Option<Rc<str>> {
        joined(&std::mem::take(self).behind)
    }

    /// Documentation of the next token and of the previous one; restarts the collection.
    pub fn take(&mut self, next: &str) -> Documentation {
        let mut collected = std::mem::take(self);
        self.position = Position::AfterToken;
        self.previous = match next {
            "}" => Previous::Closing,
            "{" => Previous::Brace,
            ";" if collected.previous == Previous::Closing => Previous::Brace,
            _ => Previous::Other,
        };
        match collected.position {
            Position::Below if next == "}" => collected.behind.append(&mut collected.lines),
            Position::Trailing { is_remark: true } => collected.lines.clear(),
            _ => {}
        }
        Documentation {
            of_next: joined(&collected.lines),
            of_previous: joined(&collected.behind),
        }
    }
}

/// Whether a comment has Doxygen's mark of one behind what it documents.
fn points_back(comment: &str) -> bool {
    ["/**<", "/*!<", "///<", "//!<"]
        .iter()
        .any(|mark| comment.starts_with(mark))
}

fn joined(lines: &[String]) -> Option<Rc<str>> {
    let text = lines.join("\n");
    let text = text.trim_matches('\n');
    (!text.is_empty()).then(|| text.into())
}

/// Returns the lines of a comment without its marks, without lines that are only decoration.
fn lines_of(comment: &str) -> Vec<String> {
    let lines: Vec<&str> = if let Some(block) = comment.strip_prefix("/*") {
        let inner = block.strip_suffix("*/").unwrap_or(block);
        let inner = inner.strip_prefix(['*', '!']).unwrap_or(inner);
        let inner = inner.strip_prefix('<').unwrap_or(inner);
        inner.lines().map(strip_star).collect()
    } else {
        let inner = comment.trim_start_matches('/');
        let inner = inner.strip_prefix('!').unwrap_or(inner);
        // Doxygen's mark of a comment behind what it documents.
        vec![inner.strip_prefix('<').unwrap_or(inner)]
    };
    lines
        .into_iter()
        .map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end())
        .filter(|line| line.is_empty() || line.chars().any(char::is_alphanumeric) || line.len() < 4)
        .map(str::to_owned)
        .collect()
}

/// Removes the leading star of a line of a block comment.
fn strip_star(line: &str) -> &str {
    match line.trim_start().strip_prefix('*') {
        Some(rest) => rest,
        None => line.trim_start(),
    }
}
