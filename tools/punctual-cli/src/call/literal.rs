//! Values as they are written on the command line: JSON, and the literals of IDL.

/// A value whose type is not known yet.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// `null`
    Null,
    /// `true`, `TRUE`, `false`, `FALSE`
    Boolean(bool),
    /// A number as it is written.
    Number(String),
    /// `"text"`, `L"text"`, `'c'`, `L'c'`
    Text(String),
    /// An enumerator, with or without its scope, or a number that is none: `NaN`.
    Name(String),
    /// `[1, 2]` and `{1, 2}`
    List(Vec<Self>),
    /// `{"x": 1, y: 2}`
    Record(Vec<(String, Self)>),
}

/// Lists and records in each other. No IDL type needs more.
const MAX_DEPTH: usize = 64;

impl Literal {
    /// Reads one literal.
    ///
    /// # Errors
    /// The text is not a literal; the error states the expected form and its place.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut reader = Reader { text, at: 0 };
        let literal = reader.literal(0)?;
        match reader.peek() {
            None => Ok(literal),
            Some(_) => Err(reader.expected("nothing more")),
        }
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    /// The next character that is no white space.
    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    /// Passes over this text, if it is the next.
    fn take(&mut self, wanted: &str) -> bool {
        self.peek();
        let found = self.text[self.at..].starts_with(wanted);
        self.at += if found { wanted.len() } else { 0 };
        found
    }

    fn expected(&self, what: &str) -> String {
        let rest: String = self.text[self.at..].chars().take(20).collect();
        let found = if rest.is_empty() {
            "the end".to_owned()
        } else {
            format!("`{rest}`")
        };
        format!(
            "expected {what} at character {}, found {found}",
            self.text[..self.at].chars().count() + 1
        )
    }

    fn literal(&mut self, depth: usize) -> Result<Literal, String> {
        if depth > MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} levels of brackets"));
        }
        if self.take("L\"") || self.take("\"") {
            return self.quoted('"').map(Literal::Text);
        }
        if self.take("L'") || self.take("'") {
            return self.quoted('\'').map(Literal::Text);
        }
        if self.take("[") {
            return self.list("]", depth).map(Literal::List);
        }
        if self.take("{") {
            return self.braces(depth);
        }
        match self.peek() {
            Some(first) if first.is_ascii_digit() || "+-.".contains(first) => {
                let number = self.run(|octet| octet.is_ascii_alphanumeric() || "+-.".contains(octet));
                Ok(Literal::Number(number.to_owned()))
            }
            Some(first) if is_name(first) => {
                Ok(match self.run(|octet| is_name(octet) || octet.is_ascii_digit()) {
                    "null" => Literal::Null,
                    "true" | "TRUE" => Literal::Boolean(true),
                    "false" | "FALSE" => Literal::Boolean(false),
                    name => Literal::Name(name.to_owned()),
                })
            }
            _ => Err(self.expected("a value, such as 5, \"text\", [1, 2] or {\"x\": 1}")),
        }
    }

    fn run(&mut self, belongs: impl Fn(char) -> bool) -> &'t str {
        let rest = &self.text[self.at..];
        let end = rest.find(|character| !belongs(character)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn list(&mut self, end: &str, depth: usize) -> Result<Vec<Literal>, String> {
        let mut elements = Vec::new();
        while !self.take(end) {
            if !elements.is_empty() && !self.take(",") {
                return Err(self.expected(&format!("`,` or `{end}`")));
            }
            elements.push(self.literal(depth + 1)?);
        }
        Ok(elements)
    }

    /// A record, if a name and a colon follow, else a list.
    fn braces(&mut self, depth: usize) -> Result<Literal, String> {
        let start = self.at;
        if self.member_name().is_none() {
            self.at = start;
            let elements = self.list("}", depth)?;
            return Ok(if elements.is_empty() {
                Literal::Record(Vec::new())
            } else {
                Literal::List(elements)
            });
        }
        self.at = start;
        let mut members = Vec::new();
        while !self.take("}") {
            if !members.is_empty() && !self.take(",") {
                return Err(self.expected("`,` or `}`"));
            }
            let name = self
                .member_name()
                .ok_or_else(|| self.expected("a member, such as `\"x\": 1`"))?;
            members.push((name, self.literal(depth + 1)?));
        }
        Ok(Literal::Record(members))
    }

    fn member_name(&mut self) -> Option<String> {
        let name = if self.take("\"") {
            self.quoted('"').ok()?
        } else {
            self.peek()
                .filter(|first| first.is_ascii_alphabetic() || *first == '_')?;
            self.run(|octet| octet.is_ascii_alphanumeric() || octet == '_')
                .to_owned()
        };
        (self.take(":") && !self.text[self.at..].starts_with(':')).then_some(name)
    }

    /// Reads the text up to this quotation mark, and resolves escapes.
    fn quoted(&mut self, mark: char) -> Result<String, String> {
        let mut text = String::new();
        loop {
            let unclosed = || format!("a text is not closed: `{mark}` is missing");
            let character = self.next().ok_or_else(unclosed)?;
            match character {
                '\\' => text.push(self.escape()?),
                _ if character == mark => return Ok(text),
                _ => text.push(character),
            }
        }
    }

    fn next(&mut self) -> Option<char> {
        let character = self.text[self.at..].chars().next()?;
        self.at += character.len_utf8();
        Some(character)
    }

    /// Reads the rest of an escape after its backslash, in JSON or IDL.
    fn escape(&mut self) -> Result<char, String> {
        let start = self.at;
        let escaped = match self.next() {
            Some('n') => Some('\n'),
            Some('t') => Some('\t'),
            Some('r') => Some('\r'),
            Some('b') => Some('\u{8}'),
            Some('f') => Some('\u{c}'),
            Some('v') => Some('\u{b}'),
            Some('a') => Some('\u{7}'),
            Some('x') => self.digits(16, 2).and_then(char::from_u32),
            Some('u') => self.utf16(),
            Some('0'..='7') => {
                self.at -= 1;
                self.digits(8, 3).and_then(char::from_u32)
            }
            Some(mark @ ('\\' | '"' | '\'' | '/' | '?')) => Some(mark),
            _ => None,
        };
        escaped.ok_or_else(|| {
            self.at = start;
            self.expected("an escape such as `n`, `\"`, `x41` or `u00e9` behind `\\`")
        })
    }

    /// A character, or the two halves of one beyond the first 65,536.
    fn utf16(&mut self) -> Option<char> {
        let first = self.digits(16, 4)?;
        if !(0xd800..0xdc00).contains(&first) {
            return char::from_u32(first);
        }
        let second = self.take("\\u").then(|| self.digits(16, 4))??;
        char::decode_utf16([first as u16, second as u16]).next()?.ok()
    }

    fn digits(&mut self, radix: u32, most: usize) -> Option<u32> {
        let rest = &self.text[self.at..];
        let count = rest
            .chars()
            .take(most)
            .take_while(|digit| digit.is_digit(radix))
            .count();
        self.at += count;
        u32::from_str_radix(&rest[..count], radix).ok()
    }
}

fn is_name(character: char) -> bool {
    character.is_ascii_alphabetic() || "_:".contains(character)
}

#[cfg(test)]
mod tests {
    use super::Literal::{self, *};

    fn number(text: &str) -> Literal {
        Number(text.into())
    }

    #[test]
    fn json_and_idl_are_read() {
        let rows = [
            ("5", number("5")),
            (" -0.5e-3 ", number("-0.5e-3")),
            ("0x1F", number("0x1F")),
            ("TRUE", Boolean(true)),
            ("null", Null),
            ("Radar::RED", Name("Radar::RED".into())),
            (r#""a\n\u00e9\x41\101\"""#, Text("a\né\u{41}A\"".into())),
            (r#"L"\ud83d\ude00""#, Text("😀".into())),
            ("'\\''", Text("'".into())),
            ("[]", List(Vec::new())),
            ("{}", Record(Vec::new())),
            ("[1, [2]]", List(vec![number("1"), List(vec![number("2")])])),
            ("{1, 2}", List(vec![number("1"), number("2")])),
            ("{A::b, 2}", List(vec![Name("A::b".into()), number("2")])),
            (
                r#"{"x": 1, y: {}}"#,
                Record(vec![("x".into(), number("1")), ("y".into(), Record(Vec::new()))]),
            ),
        ];
        for (text, literal) in rows {
            assert_eq!(Literal::parse(text).as_ref(), Ok(&literal), "{text}");
        }
    }

    #[test]
    fn errors_say_what_is_missing_and_deep_nesting_ends() {
        let rows = [
            ("", "expected a value"),
            ("[1 2]", "`,` or `]` at character 4, found `2]`"),
            ("{\"x\": 1, 2}", "a member"),
            ("\"abc", "not closed"),
            ("\"\\q\"", "an escape"),
            ("\"\\ud83d\"", "an escape"),
            ("1 2", "expected nothing more"),
            ("[1", "found the end"),
        ];
        for (text, error) in rows {
            let found = Literal::parse(text).unwrap_err();
            assert!(found.contains(error), "{text}: {found}");
        }
        for open in ["[", "{x:"] {
            assert!(
                Literal::parse(&open.repeat(100_000))
                    .unwrap_err()
                    .contains("64 levels")
            );
        }
    }
}
