//! Equality, equivalence and the IDL text of type codes.

use alloc::{format, string::String, vec::Vec};
use core::fmt;

use punctual_cdr::{CdrError, CdrErrorKind, Decode};

use crate::{
    Kind, TypeCode, TypeCodeView,
    kind::Parameters,
    type_code::{ENUMERATORS_PER_STEP, MAX_DEPTH, NAME_OCTETS_PER_STEP, Name},
};

impl TypeCode {
    /// Returns whether values of the two types are interchangeable: typedefs, and names where repository ids
    /// exist, do not matter. `false` for malformed ones.
    ///
    /// Source: CORBA 3.3 part 1, 8.11.1 "equivalent".
    pub fn equivalent(&self, other: &Self) -> bool {
        self.octets == other.octets || self.view().equivalent(&other.view())
    }
}

impl TypeCodeView<'_> {
    /// Returns whether the descriptions are equal, names included. `false` for malformed ones.
    pub fn equal(&self, other: &TypeCodeView<'_>) -> bool {
        Comparison::new(true, self, other)
            .holds(self, other)
            .unwrap_or(false)
    }

    /// Compares type codes like [`TypeCode::equivalent`].
    pub fn equivalent(&self, other: &TypeCodeView<'_>) -> bool {
        match (self.whole(), other.whole()) {
            (Some(one), Some(two)) if one == two && self.endian() == other.endian() => true,
            _ => Comparison::new(false, self, other)
                .holds(self, other)
                .unwrap_or(false),
        }
    }
}

/// Place of a type code: that of its outermost type code, and the offset in it.
type Place = (usize, usize);

struct Comparison {
    /// Names and typedefs matter.
    exact: bool,
    /// Types whose comparison has begun: recursive types are equal unless a difference is found.
    enclosing: Vec<(Place, Place)>,
    /// Comparisons of types and of parts of names that are left.
    left: usize,
}

impl Comparison {
    fn new(exact: bool, one: &TypeCodeView<'_>, two: &TypeCodeView<'_>) -> Self {
        Self {
            exact,
            enclosing: Vec::new(),
            left: 10_000 + (one.size() + two.size()) / NAME_OCTETS_PER_STEP,
        }
    }

    fn holds(&mut self, one: &TypeCodeView<'_>, two: &TypeCodeView<'_>) -> Result<bool, CdrError> {
        let resolve = !self.exact;
        let one = if resolve { one.resolved()? } else { *one };
        let two = if resolve { two.resolved()? } else { *two };
        let places = (one.place(), two.place());
        if self.enclosing.contains(&places) {
            return Ok(true);
        }
        self.left = self.left.saturating_sub(1);
        let kind = one.kind()?;
        if kind != two.kind()? || self.left == 0 || self.enclosing.len() > MAX_DEPTH.into() {
            return Ok(false);
        }
        match kind.parameters() {
            Parameters::None => return Ok(true),
            Parameters::Bound => return Ok(one.length()? == two.length()?),
            Parameters::Fixed => return Ok(one.digits_and_scale()? == two.digits_and_scale()?),
            Parameters::Encapsulation => {}
        }
        self.enclosing.push(places);
        let equal = self.complex(kind, &one, &two);
        self.enclosing.pop();
        equal
    }

    fn complex(
        &mut self,
        kind: Kind,
        one: &TypeCodeView<'_>,
        two: &TypeCodeView<'_>,
    ) -> Result<bool, CdrError> {
        if matches!(kind, Kind::Sequence | Kind::Array) {
            return Ok(one.length()? == two.length()? && self.holds(&one.content()?, &two.content()?)?);
        }
        let ((one_id, one_name), (two_id, two_name)) = (one.unread_names()?, two.unread_names()?);
        if !self.exact && !one_id.octets.is_empty() && !two_id.octets.is_empty() {
            return Ok(self.same(one_id, two_id));
        }
        if self.exact && !(self.same(one_id, two_id) && self.same(one_name, two_name)) {
            return Ok(false);
        }
        match kind {
            Kind::Alias | Kind::ValueBox => self.holds(&one.content()?, &two.content()?),
            Kind::Struct | Kind::Except => self.members(one, two),
            Kind::Enum => self.enums(one, two),
            Kind::Union => self.unions(one, two),
            Kind::Value | Kind::Event => self.values(one, two),
            _ => Ok(true),
        }
    }

    /// Compares ids or names, which are not read, and counts it. `false` if there have been too many.
    fn same(&mut self, one: Name<'_>, two: Name<'_>) -> bool {
        if one.octets.len() != two.octets.len() {
            return false;
        }
        self.left = self.left.saturating_sub(one.octets.len() / NAME_OCTETS_PER_STEP);
        self.left > 0 && one.octets == two.octets
    }

    fn differ(&mut self, one: Name<'_>, two: Name<'_>) -> bool {
        self.exact && !self.same(one, two)
    }

    fn members(&mut self, one: &TypeCodeView<'_>, two: &TypeCodeView<'_>) -> Result<bool, CdrError> {
        let (mut one, mut two) = (one.unread_members()?, two.unread_members()?);
        loop {
            match (one.next(), two.next()) {
                (None, None) => return Ok(true),
                (Some(one), Some(two)) => {
                    let ((one_name, one), (two_name, two)) = (one?, two?);
                    if self.differ(one_name, two_name) || !self.holds(&one, &two)? {
                        return Ok(false);
                    }
                }
                _ => return Ok(false),
            }
        }
    }

    fn enums(&mut self, one: &TypeCodeView<'_>, two: &TypeCodeView<'_>) -> Result<bool, CdrError> {
        let (one, two) = (one.unread_enumerators()?, two.unread_enumerators()?);
        if one.len() != two.len() {
            return Ok(false);
        }
        if self.exact {
            self.left = self.left.saturating_sub(one.len() / ENUMERATORS_PER_STEP);
            for (one, two) in one.zip(two) {
                if self.differ(one?, two?) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn unions(&mut self, one: &TypeCodeView<'_>, two: &TypeCodeView<'_>) -> Result<bool, CdrError> {
        let (mut one, mut two) = (one.union()?, two.union()?);
        if one.members != two.members
            || one.default != two.default
            || !self.holds(&one.discriminator, &two.discriminator)?
        {
            return Ok(false);
        }
        for _ in 0..one.members {
            let (one_label, one_name, one) = one.next_unread()?;
            let (two_label, two_name, two) = two.next_unread()?;
            if one_label != two_label || self.differ(one_name, two_name) || !self.holds(&one, &two)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn values(&mut self, one: &TypeCodeView<'_>, two: &TypeCodeView<'_>) -> Result<bool, CdrError> {
        let (mut one, mut two) = (one.named_parameters()?, two.named_parameters()?);
        if i16::decode(&mut one.decoder)? != i16::decode(&mut two.decoder)?
            || !self.holds(&one.type_code()?, &two.type_code()?)?
        {
            return Ok(false);
        }
        let members = one.decoder.length(9)?;
        if members != two.decoder.length(9)? {
            return Ok(false);
        }
        for _ in 0..members {
            let names = (Name::pass(&mut one.decoder)?, Name::pass(&mut two.decoder)?);
            if self.differ(names.0, names.1)
                || !self.holds(&one.type_code()?, &two.type_code()?)?
                || i16::decode(&mut one.decoder)? != i16::decode(&mut two.decoder)?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// IDL text, in which nested structs and unions are named only; at most 1 KiB of it, then `...`, because a
/// type code of 1 MB can describe members whose types have names of 16 GB.
impl fmt::Display for TypeCodeView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Description::default();
        match describe(self, &mut text, 0) {
            Ok(()) => f.pad(&text.0),
            Err(_) => f.pad("malformed type code"),
        }
    }
}

/// Octets of the text of a type, without the dots.
const MOST_TEXT: usize = 1024;

/// The text of a type, as far as there is room for it.
#[derive(Default)]
struct Description(String);

impl Description {
    fn is_full(&self) -> bool {
        self.0.len() > MOST_TEXT
    }

    /// Appends ASCII text.
    fn push(&mut self, text: &str) {
        if self.is_full() {
            return;
        }
        match MOST_TEXT - self.0.len() {
            room if room < text.len() => {
                self.0.push_str(&text[..room]);
                self.0.push_str("...");
            }
            _ => self.0.push_str(text),
        }
    }
}

fn describe(code: &TypeCodeView<'_>, text: &mut Description, depth: u16) -> Result<(), CdrError> {
    let kind = code.kind()?;
    if depth > MAX_DEPTH {
        return Err(code.error(CdrErrorKind::NestingTooDeep));
    }
    match kind {
        Kind::Sequence | Kind::Array => {
            text.push(if kind == Kind::Sequence { "sequence<" } else { "" });
            describe(&code.content()?, text, depth + 1)?;
            text.push(&match (kind, code.length()?) {
                (Kind::Array, length) => format!("[{length}]"),
                (_, 0) => String::from(">"),
                (_, bound) => format!(", {bound}>"),
            });
        }
        Kind::String | Kind::WString => {
            text.push(kind.idl());
            match code.length()? {
                0 => {}
                bound => text.push(&format!("<{bound}>")),
            }
        }
        Kind::Fixed => {
            let (digits, scale) = code.digits_and_scale()?;
            text.push(&format!("fixed<{digits}, {scale}>"));
        }
        _ if kind.parameters() != Parameters::Encapsulation => text.push(kind.idl()),
        _ => {
            let name = code.name()?;
            let name = if name.is_empty() { code.id()? } else { name };
            if depth > 0 {
                // The entries of a map have neither name nor id. Their members are left out too: with
                // indirections, the text of a short type code could be very long.
                text.push(if name.is_empty() { kind.idl() } else { name });
                return Ok(());
            }
            text.push(&format!("{} {name}", kind.idl()));
            if matches!(kind, Kind::Struct | Kind::Except) {
                text.push(" {");
                for member in code.members()? {
                    if text.is_full() {
                        break;
                    }
                    let (name, of) = member?;
                    text.push(" ");
                    describe(&of, text, depth + 1)?;
                    text.push(&format!(" {name};"));
                }
                text.push(" }");
            }
        }
    }
    Ok(())
}
