//! Layout of pieces: indentation, line breaks and spaces.

use super::pieces::{Kind, Piece};

/// Columns of a line, where it can be broken.
const WIDTH: usize = 100;
const INDENT: usize = 4;
/// Further indentation of continued lines.
const CONTINUED: usize = 8;

/// Returns the text of pieces in the standard format.
pub(super) fn lay_out(pieces: &[Piece<'_>]) -> String {
    let mut layout = Layout::default();
    for (number, piece) in pieces.iter().enumerate() {
        layout.add(piece, &pieces[number + 1..]);
    }
    layout.end_line();
    layout.text
}

/// A brace that is open.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Open {
    /// Body with declarations.
    Body,
    /// Enumeration on one line, or an empty one.
    Line,
    /// Enumeration with a line for each name.
    Names,
}

#[derive(Default)]
struct Layout<'t> {
    text: String,
    open: Vec<Open>,
    /// The pieces of the current line, each with whether a space precedes it.
    line: Vec<(Piece<'t>, bool)>,
    /// Parentheses and brackets that are open, and angle brackets.
    nesting: usize,
    angles: usize,
    /// Whether an empty line may precede the next one.
    may_separate: bool,
    /// Whether an empty line was in front of the current line.
    separated: bool,
    /// Whether the current line continues a declaration after a comment or a broken line.
    continued: bool,
}

impl<'t> Layout<'t> {
    fn add(&mut self, piece: &Piece<'t>, rest: &[Piece<'t>]) {
        if self.line.is_empty() {
            self.separated = piece.breaks > 1;
        }
        match piece.kind {
            Kind::Verbatim => {
                self.end_line();
                self.separated = piece.breaks > 1;
                self.separate();
                self.text.push_str(piece.text);
                self.text.push('\n');
                self.may_separate = true;
            }
            Kind::LineComment | Kind::BlockComment => self.comment(piece, rest),
            Kind::Word | Kind::Punctuation => self.token(piece, rest),
        }
    }

    fn comment(&mut self, piece: &Piece<'t>, rest: &[Piece<'t>]) {
        let is_own_line = piece.breaks > 0 || (self.line.is_empty() && self.text.is_empty());
        if self.line.is_empty() && !is_own_line && self.text.ends_with('\n') {
            // Behind what was ended by `;` or a brace.
            self.text.pop();
            self.text.push(' ');
            self.text.push_str(piece.text);
            self.text.push('\n');
            return;
        }
        let inside = self.continued || !self.line.is_empty();
        let is_comment = |piece: &&Piece<'_>| matches!(piece.kind, Kind::LineComment | Kind::BlockComment);
        let next = rest.iter().find(|piece| !is_comment(piece));
        // The last name of an enumeration has no comma.
        let continues = inside && next.is_some_and(|next| next.text != "}");
        if !self.line.is_empty() && is_own_line {
            self.end_line();
            self.continued = continues;
        }
        let separated = self.separated;
        self.push(*piece);
        let ends = piece.kind == Kind::LineComment || rest.first().is_none_or(|next| next.breaks > 0);
        if ends {
            self.end_line();
            self.continued = continues;
        }
        self.separated &= separated;
    }

    fn token(&mut self, piece: &Piece<'t>, rest: &[Piece<'t>]) {
        match piece.text {
            "{" => {
                let open = self.kind_of_brace(rest);
                self.push(*piece);
                self.open.push(open);
                if open != Open::Line {
                    self.end_line();
                    self.may_separate = false;
                }
            }
            "}" => {
                let open = self.open.pop();
                if open != Some(Open::Line) {
                    // The last name of an enumeration has no comma.
                    if !self.line.is_empty() {
                        self.open.extend(open);
                        self.end_line();
                        self.open.pop();
                    }
                    self.separated = false;
                }
                self.push(*piece);
            }
            ";" if self.nesting == 0 && self.open.last() != Some(&Open::Line) => {
                self.push(*piece);
                self.end_line();
            }
            "," if self.nesting == 0 && self.open.last() == Some(&Open::Names) => {
                self.push(*piece);
                self.end_line();
            }
            ":" if self.nesting == 0 && self.is_label() && rest.first().is_some_and(is_label) => {
                self.push(*piece);
                self.end_line();
            }
            text => {
                self.push(*piece);
                match text {
                    "(" | "[" => self.nesting += 1,
                    ")" | "]" => self.nesting = self.nesting.saturating_sub(1),
                    "<" => self.angles += 1,
                    ">" => self.angles = self.angles.saturating_sub(1),
                    ">>" => self.angles = self.angles.saturating_sub(2),
                    _ => {}
                }
            }
        }
    }

    /// Kind of a brace that opens behind the current line.
    fn kind_of_brace(&self, rest: &[Piece<'_>]) -> Open {
        if rest.first().is_some_and(|next| next.text == "}") {
            return Open::Line;
        }
        if !self.line.iter().any(|(piece, _)| piece.text == "enum") {
            return Open::Body;
        }
        let names = rest.split(|piece| piece.text == "}").next().unwrap_or_default();
        let has_comments = names
            .iter()
            .any(|piece| piece.kind != Kind::Word && piece.text != ",");
        let length: usize = names.iter().map(|piece| piece.text.len() + 1).sum();
        let before = self.width(&self.line) + INDENT * self.open.len();
        let was_broken = names.first().is_some_and(|first| first.breaks > 0);
        if was_broken || has_comments || before + length + 4 > WIDTH {
            Open::Names
        } else {
            Open::Line
        }
    }

    /// Returns whether the current line is a label of a union.
    fn is_label(&self) -> bool {
        self.line.first().is_some_and(|(piece, _)| is_label(piece))
    }

    fn push(&mut self, piece: Piece<'t>) {
        let space = match self.line.last() {
            None => false,
            Some((before, _)) => self.is_apart(before, &piece),
        };
        self.line.push((piece, space));
    }

    /// Returns whether a space is between two pieces of a line.
    fn is_apart(&self, before: &Piece<'_>, piece: &Piece<'_>) -> bool {
        let is_comment = |piece: &Piece<'_>| matches!(piece.kind, Kind::LineComment | Kind::BlockComment);
        if is_comment(before) || is_comment(piece) {
            return before.kind != Kind::BlockComment || !matches!(piece.text, "," | ";" | ")" | "]");
        }
        if before.text.ends_with('>') && piece.text.starts_with('>') {
            // `>>` is one token, `> >` are two.
            return true;
        }
        let closes_angle = |text: &str| matches!(text, ">" | ">>") && self.angles > 0;
        match (before.text, piece.text) {
            (_, "," | ";" | ")" | "]" | "[") | ("(" | "[" | "@" | "~", _) => false,
            (_, ":") => !self.is_label(),
            ("{", "}") | ("::", _) => false,
            (_, "::") => before.kind != Kind::Word || piece.apart,
            (_, "<") | ("<", _) => false,
            (_, text) if closes_angle(text) => false,
            (">" | ">>", "(") => false,
            ("-" | "+", _) => self.is_binary(),
            (_, "(") => before.kind != Kind::Word || is_spaced_keyword(before.text),
            _ => true,
        }
    }

    /// Returns whether the sign at the end of the line has an operand in front of it.
    fn is_binary(&self) -> bool {
        let mut before = self.line.iter().rev().skip(1);
        before
            .next()
            .is_some_and(|(piece, _)| piece.text == ")" || (piece.kind == Kind::Word && piece.text != "case"))
    }

    /// Writes the current line.
    fn end_line(&mut self) {
        if self.line.is_empty() {
            return;
        }
        self.separate();
        let line = std::mem::take(&mut self.line);
        let opens = line.last().is_some_and(|(piece, _)| piece.text == "{");
        let depth = self.open.len() - usize::from(opens && self.open.len() > self.depth_before(&line));
        let further = if std::mem::take(&mut self.continued) {
            CONTINUED
        } else {
            0
        };
        self.write(&line, depth * INDENT + further);
        self.may_separate = true;
        self.separated = false;
    }

    /// Braces that were open in front of a line.
    fn depth_before(&self, line: &[(Piece<'_>, bool)]) -> usize {
        let closed = line.iter().filter(|(piece, _)| piece.text == "}").count();
        let opened = line.iter().filter(|(piece, _)| piece.text == "{").count();
        (self.open.len() + closed).saturating_sub(opened)
    }

    fn separate(&mut self) {
        if self.separated && self.may_separate {
            self.text.push('\n');
        }
        self.separated = false;
    }

    /// Writes a line, broken behind commas and in front of clauses if it is too long.
    fn write(&mut self, line: &[(Piece<'_>, bool)], indent: usize) {
        let is_long = indent + self.width(line) > WIDTH;
        let may_break = |at: usize| at > 0 && (line[at - 1].0.text == "," || is_clause(line[at].0.text));
        let begin = |text: &mut String, indent: usize| {
            text.extend(std::iter::repeat_n(' ', indent));
            indent
        };
        let mut column = begin(&mut self.text, indent);
        for (number, (piece, space)) in line.iter().enumerate() {
            let breaks = is_long && may_break(number) && {
                let next = (number + 1..line.len()).find(|at| may_break(*at));
                column + self.width(&line[number..next.unwrap_or(line.len())]) > WIDTH
            };
            if breaks {
                self.text.push('\n');
                column = begin(&mut self.text, indent + CONTINUED);
            } else if *space {
                self.text.push(' ');
                column += 1;
            }
            self.text.push_str(&comment_lines(piece, indent));
            column += piece.text.chars().count();
        }
        self.text.push('\n');
    }

    fn width(&self, line: &[(Piece<'_>, bool)]) -> usize {
        line.iter()
            .map(|(piece, space)| piece.text.chars().count() + usize::from(*space))
            .sum()
    }
}

fn is_label(piece: &Piece<'_>) -> bool {
    matches!(piece.text, "case" | "default")
}

/// Keywords of the clauses of operations and attributes.
fn is_clause(text: &str) -> bool {
    matches!(text, "raises" | "getraises" | "setraises" | "context")
}

/// Keywords that are followed by a space in front of a parenthesis.
fn is_spaced_keyword(text: &str) -> bool {
    is_clause(text) || matches!(text, "switch" | "case")
}

/// Returns the text of a piece; further lines of a block comment that begin with an asterisk are aligned.
fn comment_lines(piece: &Piece<'_>, indent: usize) -> String {
    if piece.kind != Kind::BlockComment {
        return piece.text.to_owned();
    }
    let mut lines = piece.text.lines();
    let mut text = lines.next().unwrap_or_default().trim_end().to_owned();
    for line in lines {
        text.push('\n');
        let content = line.trim();
        if content.starts_with('*') {
            text.extend(std::iter::repeat_n(' ', indent + 1));
            text.push_str(content);
        } else {
            text.push_str(line.trim_end());
        }
    }
    text
}
