//! Literals (clause 7.2.6).

use super::{Failed, Parsed, Parser};
use crate::ast::Literal;
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::hir::FixedValue;
use crate::lexer::Kind;
use crate::source::Span;

/// Help for an invalid escape.
const ESCAPES: &str = "the escapes are \\n \\t \\v \\b \\r \\f \\a \\\\ \\? \\' \\\" \\ooo \\xhh, \
                       and \\uhhhh in wide literals, two of them for a surrogate pair";
/// The most significant digits of a fixed-point value.
const FIXED_DIGITS: usize = 31;

impl Parser<'_> {
    /// `<literal>`; adjacent string literals become one.
    pub(super) fn literal(&mut self) -> Literal {
        let token = self.bump();
        let span = token.span;
        match token.kind {
            Kind::Number => self.number(&token.text, span),
            Kind::Char | Kind::WideChar => self.character(&token.text, span),
            _ => {
                let wide = token.kind == Kind::WideString;
                let mut text = self.unescape(&token.text, span, wide);
                while matches!(self.token().kind, Kind::String | Kind::WideString) {
                    let next = self.bump();
                    let next_wide = next.kind == Kind::WideString;
                    if next_wide != wide {
                        self.report(
                            Diagnostic::new(
                                Code::MixedConcatenation,
                                next.span,
                                "wide and narrow strings cannot be concatenated",
                            )
                            .with_label(span, "the first part")
                            .with_help("write all parts with `L`, or none"),
                        );
                    }
                    text.push_str(&self.unescape(&next.text, next.span, next_wide));
                }
                if wide {
                    Literal::WideString(text)
                } else {
                    Literal::String(text)
                }
            }
        }
    }

    /// `<string_literal>` where the grammar requires one.
    pub(super) fn string_text(&mut self) -> Parsed<String> {
        if self.token().kind != Kind::String {
            return self.unexpected("a string literal");
        }
        match self.literal() {
            Literal::String(text) => Ok(text),
            _ => Err(Failed),
        }
    }

    fn number(&mut self, text: &str, span: Span) -> Literal {
        let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
        let decimal = text.strip_suffix(['d', 'D']).filter(|_| hexadecimal.is_none());
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let radix = match hexadecimal {
            Some(_) => 16,
            None if text.len() > 1 && text.starts_with('0') && digits(text) => 8,
            None => 10,
        };
        let malformed = |help: &str| {
            Diagnostic::new(Code::MalformedNumber, span, format!("`{text}` is not a number")).with_help(help)
        };
        let problem = if let Some(decimal) = decimal {
            match fixed(decimal) {
                Some(value) => return Literal::Fixed(value),
                None if digits(&decimal.replacen('.', "", 1)) => Diagnostic::new(
                    Code::NumberTooLarge,
                    span,
                    format!("`{text}` has more than {FIXED_DIGITS} digits"),
                )
                .with_help("a fixed-point value has at most 31 significant digits"),
                None => malformed("a fixed-point literal is digits, a point, digits and `d`"),
            }
        } else if hexadecimal.is_some() || digits(text) {
            let body = hexadecimal.unwrap_or(text);
            let valid = !body.is_empty() && body.chars().all(|digit| digit.is_digit(radix));
            match u64::from_str_radix(body, radix) {
                Ok(value) if valid => return Literal::Integer(value),
                _ if valid => Diagnostic::new(
                    Code::NumberTooLarge,
                    span,
                    format!("`{text}` does not fit in 64 bits"),
                )
                .with_help("the largest integer is 18446744073709551615"),
                _ if radix == 8 => malformed("a number that begins with 0 is octal: its digits are 0 to 7"),
                _ => malformed("a hexadecimal number has digits 0 to 9 and A to F behind `0x`"),
            }
        } else {
            let well_formed = text
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'));
            match text.parse::<f64>() {
                Ok(_) if well_formed => return Literal::Float(text.into()),
                _ => malformed("a number and a name must be separated; suffixes as in C do not exist in IDL"),
            }
        };
        self.report(problem);
        Literal::Malformed
    }

    fn character(&mut self, text: &str, span: Span) -> Literal {
        let wide = text.starts_with('L');
        let before = self.out.findings.found();
        let content = self.unescape(text, span, wide);
        let mut characters = content.chars();
        match (characters.next(), characters.next()) {
            (Some(character), None) if wide => Literal::WideChar(character),
            (Some(character), None) if u32::from(character) <= 0xff => Literal::Char(character),
            _ => {
                if self.out.findings.found() == before {
                    self.report(
                        Diagnostic::new(Code::BadEscape, span, format!("{text} is not one character"))
                            .with_help(match content.chars().count() {
                                1 => {
                                    "characters above U+00FF need `wchar` and a literal that begins with `L`"
                                }
                                _ => "several characters are a string: use double quotes",
                            }),
                    );
                }
                Literal::Malformed
            }
        }
    }

    /// Returns the characters of a literal with its quotes and, for a wide one, its `L`.
    fn unescape(&mut self, literal: &str, span: Span, wide: bool) -> String {
        let quoted = literal.strip_prefix('L').unwrap_or(literal);
        let body = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
        let is_string = quoted.starts_with('"');
        let mut result = String::with_capacity(body.len());
        let mut rest = body.chars();
        while let Some(character) = rest.next() {
            if character != '\\' {
                result.push(character);
                continue;
            }
            let escaped = rest.next().unwrap_or('\\');
            let digits = rest.as_str();
            let value = match escaped {
                'n' => Some('\n'),
                't' => Some('\t'),
                'v' => Some('\x0b'),
                'b' => Some('\x08'),
                'r' => Some('\r'),
                'f' => Some('\x0c'),
                'a' => Some('\x07'),
                '\\' | '?' | '\'' | '"' => Some(escaped),
                // A continued line.
                '\n' => continue,
                '\r' => {
                    rest.next();
                    continue;
                }
                '0'..='7' => {
                    let (digits, tail) = leading(rest.as_str(), 2, 8);
                    rest = tail.chars();
                    number(&format!("{escaped}{digits}"), 8).filter(|value| u32::from(*value) <= 0xff)
                }
                'x' => {
                    let (digits, tail) = leading(rest.as_str(), 2, 16);
                    rest = tail.chars();
                    number(digits, 16)
                }
                'u' if wide => {
                    let (value, tail) = utf16(rest.as_str());
                    rest = tail.chars();
                    value
                }
                _ => None,
            };
            match value {
                Some('\0') if is_string => self.report(
                    Diagnostic::new(Code::BadEscape, span, "a string cannot contain the character 0")
                        .with_help("use a `sequence<octet>` for binary data"),
                ),
                Some(value) => result.push(value),
                None => {
                    let problem = match leading(digits, 4, 16).0 {
                        half if wide && escaped == 'u' && !half.is_empty() => {
                            format!("`\\u{half}` is one half of a surrogate pair")
                        }
                        _ => format!("`\\{escaped}` is not a valid escape here"),
                    };
                    self.report(Diagnostic::new(Code::BadEscape, span, problem).with_help(ESCAPES));
                }
            }
        }
        result
    }
}

/// Returns the first at most `most` digits of a text, and what follows.
fn leading(text: &str, most: usize, radix: u32) -> (&str, &str) {
    let length = text
        .bytes()
        .take(most)
        .take_while(|byte| char::from(*byte).is_digit(radix))
        .count();
    text.split_at(length)
}

/// Returns the character behind `\u`, of four digits or of two halves of a surrogate pair, and what follows.
fn utf16(text: &str) -> (Option<char>, &str) {
    let (first, tail) = leading(text, 4, 16);
    let half = |digits: &str| u16::from_str_radix(digits, 16).ok();
    let second = tail.strip_prefix("\\u").map(|tail| leading(tail, 4, 16));
    if let (Some(high), Some((low, after))) = (half(first), second)
        && let Some(low) = half(low)
        && let Some(Ok(pair)) = char::decode_utf16([high, low]).next()
        && pair > '\u{ffff}'
    {
        return (Some(pair), after);
    }
    (number(first, 16), tail)
}

fn number(digits: &str, radix: u32) -> Option<char> {
    u32::from_str_radix(digits, radix).ok().and_then(char::from_u32)
}

/// Returns the value of a fixed-point literal without its `d`; redundant zeros do not count as digits.
fn fixed(text: &str) -> Option<FixedValue> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits = format!("{whole}{fraction}");
    let all = digits.bytes().all(|byte| byte.is_ascii_digit());
    if !all || text.is_empty() || text == "." || digits.trim_start_matches('0').len() > FIXED_DIGITS {
        return None;
    }
    let scale = u8::try_from(fraction.len())
        .ok()
        .filter(|scale| usize::from(*scale) <= FIXED_DIGITS)?;
    let unscaled = if digits.is_empty() {
        0
    } else {
        digits.parse().ok()?
    };
    Some(FixedValue { unscaled, scale })
}
