//! The integer expressions of `#if` and `#elif`.

use super::expand::Piece;
use crate::lexer::Kind;

/// How deeply parentheses and signs may be nested.
const DEPTH: usize = 64;

/// Evaluates an expression with expanded macros; every remaining word counts as 0. The error names the
/// problem and the index of the piece.
pub(super) fn evaluate(pieces: &[Piece]) -> Result<i64, (String, usize)> {
    let mut evaluation = Evaluation { pieces, at: 0 };
    let value = evaluation.binary(0, true, 0)?;
    match pieces.get(evaluation.at) {
        None => Ok(value),
        Some(piece) => Err((format!("unexpected `{}`", piece.text), evaluation.at)),
    }
}

/// Returns the precedence of a binary operator, from 1.
fn precedence(operator: &str) -> Option<u8> {
    Some(match operator {
        "?" => 1,
        "||" => 2,
        "&&" => 3,
        "|" => 4,
        "^" => 5,
        "&" => 6,
        "==" | "!=" => 7,
        "<" | ">" | "<=" | ">=" => 8,
        "<<" | ">>" => 9,
        "+" | "-" => 10,
        "*" | "/" | "%" => 11,
        _ => return None,
    })
}

struct Evaluation<'a> {
    pieces: &'a [Piece],
    at: usize,
}

impl Evaluation<'_> {
    fn next(&self) -> Option<&str> {
        self.pieces.get(self.at).map(|piece| &*piece.text)
    }

    fn wrong<T>(&self, message: impl Into<String>) -> Result<T, (String, usize)> {
        Err((message.into(), self.at))
    }

    /// `wanted` is false for an operand that a logical operator skips: division by zero is then no error.
    fn binary(&mut self, lowest: u8, wanted: bool, depth: usize) -> Result<i64, (String, usize)> {
        let mut left = self.unary(wanted, depth)?;
        while let Some(operator) = self.next().map(str::to_owned) {
            let Some(level) = precedence(&operator).filter(|level| *level > lowest) else {
                break;
            };
            self.at += 1;
            if operator == "?" {
                let yes = self.binary(0, wanted && left != 0, depth + 1)?;
                if self.next() != Some(":") {
                    return self.wrong("`:` is missing");
                }
                self.at += 1;
                let no = self.binary(0, wanted && left == 0, depth + 1)?;
                left = if left != 0 { yes } else { no };
                continue;
            }
            let wanted = wanted
                && match operator.as_str() {
                    "&&" => left != 0,
                    "||" => left == 0,
                    _ => true,
                };
            let right = self.binary(level, wanted, depth + 1)?;
            left = match operator.as_str() {
                "||" => i64::from(left != 0 || right != 0),
                "&&" => i64::from(left != 0 && right != 0),
                "|" => left | right,
                "^" => left ^ right,
                "&" => left & right,
                "==" => i64::from(left == right),
                "!=" => i64::from(left != right),
                "<" => i64::from(left < right),
                ">" => i64::from(left > right),
                "<=" => i64::from(left <= right),
                ">=" => i64::from(left >= right),
                "<<" => left.wrapping_shl(right as u32),
                ">>" => left.wrapping_shr(right as u32),
                "+" => left.wrapping_add(right),
                "-" => left.wrapping_sub(right),
                "*" => left.wrapping_mul(right),
                _ if right == 0 && wanted => return self.wrong("division by zero"),
                _ if right == 0 => 0,
                "/" => left.wrapping_div(right),
                _ => left.wrapping_rem(right),
            };
        }
        Ok(left)
    }

    fn unary(&mut self, wanted: bool, depth: usize) -> Result<i64, (String, usize)> {
        if depth > DEPTH {
            return self.wrong(format!("the expression is nested more than {DEPTH} levels deep"));
        }
        let Some(piece) = self.pieces.get(self.at) else {
            return self.wrong("an operand is missing");
        };
        self.at += 1;
        match (piece.kind, &*piece.text) {
            (_, "(") => {
                let value = self.binary(0, wanted, depth + 1)?;
                if self.next() != Some(")") {
                    return self.wrong("`)` is missing");
                }
                self.at += 1;
                Ok(value)
            }
            (_, "-") => Ok(self.unary(wanted, depth + 1)?.wrapping_neg()),
            (_, "+") => self.unary(wanted, depth + 1),
            (_, "!") => Ok(i64::from(self.unary(wanted, depth + 1)? == 0)),
            (_, "~") => Ok(!self.unary(wanted, depth + 1)?),
            (Kind::Word, _) => Ok(0),
            (Kind::Number, text) => integer(text)
                .or_else(|| {
                    // Suffixes of C are ignored.
                    integer(text.trim_end_matches(['u', 'U', 'l', 'L']))
                })
                .ok_or_else(|| (format!("`{text}` is not an integer"), self.at - 1)),
            (Kind::Char, text) if text.chars().count() == 3 => {
                Ok(text.chars().nth(1).map_or(0, |c| c as i64))
            }
            (_, text) => Err((format!("unexpected `{text}`"), self.at - 1)),
        }
    }
}

fn integer(text: &str) -> Option<i64> {
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None if text.len() > 1 && text.starts_with('0') => (&text[1..], 8),
        None => (text, 10),
    };
    if digits.starts_with('+') {
        return None;
    }
    u64::from_str_radix(digits, radix).ok().map(|value| value as i64)
}
