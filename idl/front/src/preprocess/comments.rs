//! Documentation comments.

use std::rc::Rc;

/// Collects the comments directly above a token: not separated from it by an empty line, and not trailing
/// another token's line.
#[derive(Default)]
pub(super) struct Comments {
    lines: Vec<String>,
    /// Line ends since the last comment or token.
    newlines: usize,
    /// The comment is on the line of an earlier token, so it documents only tokens on that line.
    trailing: bool,
}

impl Comments {
    pub fn newline(&mut self) {
        self.newlines += 1;
        if self.newlines > 1 || self.trailing {
            self.clear();
        }
    }

    pub fn comment(&mut self, text: &str, first_on_line: bool) {
        // `/* ... */` within a line is a remark; `/** ... */` documents the following token.
        if !first_on_line && !text.starts_with("/**") {
            return;
        }
        self.trailing = !first_on_line;
        self.newlines = 0;
        self.lines.extend(lines_of(text));
    }

    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Documentation of the next token; restarts the collection.
    pub fn take(&mut self) -> Option<Rc<str>> {
        let collected = std::mem::take(self);
        let text = collected.lines.join("\n");
        let text = text.trim_matches('\n');
        (!text.is_empty()).then(|| text.into())
    }
}

/// The lines of a comment without its marks, without lines that are only decoration.
fn lines_of(comment: &str) -> Vec<String> {
    let lines: Vec<&str> = if let Some(block) = comment.strip_prefix("/*") {
        let inner = block.strip_suffix("*/").unwrap_or(block);
        let inner = inner.strip_prefix(['*', '!']).unwrap_or(inner);
        inner.lines().map(strip_star).collect()
    } else {
        let inner = comment.trim_start_matches('/');
        vec![inner.strip_prefix('!').unwrap_or(inner)]
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
