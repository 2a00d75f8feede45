//! Layout of events, as described by the kernel's `format` files.

use std::collections::HashMap;

/// Layout of one kind of event.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Format {
    pub(super) id: u16,
    fields: HashMap<String, Field>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Field {
    pub(super) offset: usize,
    pub(super) size: usize,
    signed: bool,
}

impl Format {
    /// Parses a description; `None` for other texts.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let id = text.lines().find_map(|line| line.strip_prefix("ID:"))?;
        Some(Self {
            id: id.trim().parse().ok()?,
            fields: fields(text),
        })
    }

    /// Returns the number in a field; `None` if there is no such field.
    pub(super) fn number(&self, field: &str, event: &[u8]) -> Option<i64> {
        self.fields.get(field)?.number(event)
    }

    /// Returns the text in a field, up to its end or the first zero.
    pub(super) fn text<'e>(&self, field: &str, event: &'e [u8]) -> Option<&'e [u8]> {
        let octets = self.fields.get(field)?.octets(event)?;
        octets.split(|octet| *octet == 0).next()
    }
}

impl Field {
    pub(super) fn number(self, event: &[u8]) -> Option<i64> {
        let octets = self.octets(event)?;
        Some(match (self.size, self.signed) {
            (1, false) => octets[0].into(),
            (1, true) => (octets[0] as i8).into(),
            (2, false) => u16::from_ne_bytes(octets.try_into().ok()?).into(),
            (2, true) => i16::from_ne_bytes(octets.try_into().ok()?).into(),
            (4, false) => u32::from_ne_bytes(octets.try_into().ok()?).into(),
            (4, true) => i32::from_ne_bytes(octets.try_into().ok()?).into(),
            (8, _) => i64::from_ne_bytes(octets.try_into().ok()?),
            _ => return None,
        })
    }

    fn octets(self, event: &[u8]) -> Option<&[u8]> {
        event.get(self.offset..self.offset.checked_add(self.size)?)
    }
}

/// Parses lines such as `field:pid_t prev_pid; offset:24; size:4; signed:1;` (with tabs between the parts).
pub(super) fn fields(text: &str) -> HashMap<String, Field> {
    let field = |line: &str| {
        let mut declaration = None;
        let (mut offset, mut size, mut signed) = (None, None, false);
        for part in line.trim().split(';') {
            match part.trim().split_once(':') {
                Some(("field", text)) => declaration = Some(text),
                Some(("offset", text)) => offset = text.parse().ok(),
                Some(("size", text)) => size = text.parse().ok(),
                Some(("signed", text)) => signed = text == "1",
                _ => {}
            }
        }
        let name = declaration?.split_whitespace().next_back()?.split('[').next()?;
        Some((
            name.to_owned(),
            Field {
                offset: offset?,
                size: size?,
                signed,
            },
        ))
    };
    text.lines().filter_map(field).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SWITCH: &str = "name: sched_switch
ID: 372
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:char prev_comm[16];	offset:8;	size:16;	signed:0;
	field:pid_t prev_pid;	offset:24;	size:4;	signed:1;
	field:long prev_state;	offset:32;	size:8;	signed:1;

print fmt: \"prev_comm=%s\", REC->prev_comm
";

    #[test]
    fn fields_are_found_by_name() {
        let format = Format::parse(SWITCH).unwrap();
        assert_eq!(format.id, 372);
        let mut event = vec![0; 40];
        event[8..13].copy_from_slice(b"lane ");
        event[24..28].copy_from_slice(&(-5_i32).to_ne_bytes());
        event[32..40].copy_from_slice(&256_i64.to_ne_bytes());
        assert_eq!(format.text("prev_comm", &event), Some(&b"lane "[..]));
        assert_eq!(format.number("prev_pid", &event), Some(-5));
        assert_eq!(format.number("prev_state", &event), Some(256));
        assert_eq!(format.number("next_pid", &event), None, "no such field");
        assert_eq!(
            format.number("prev_state", &event[..39]),
            None,
            "a truncated event"
        );
    }

    #[test]
    fn other_texts_are_refused() {
        assert_eq!(Format::parse(""), None);
        assert_eq!(Format::parse("ID: many"), None);
    }
}
