//! Names in a naming service, and their string form. Source: Naming Service 1.3, 2.4 (string names).

use alloc::{
    string::{String, ToString},
    vec,
    vec::Vec,
};
use core::{fmt, str::FromStr};

use punctual_cdr::{CdrError, Decode, Decoder, Encode, Encoder};
use thiserror::Error;

/// One step of a [`Name`]: `CosNaming::NameComponent`. Id and kind both count when names are compared; either
/// may be empty.
///
/// Its string form is `id.kind`, or `id` without a kind; `/`, `.` and `\` in them follow a `\`.
///
/// ```
/// # mod punctual { pub(crate) use punctual_giop as naming; }
/// use punctual::naming::NameComponent;
///
/// let track = NameComponent::new("track.1", "radar");
/// assert_eq!(track.to_string(), r"track\.1.radar");
/// assert_eq!(NameComponent::new("", "").to_string(), ".");
/// ```
#[derive(Clone, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct NameComponent {
    /// Identifier.
    pub id: String,
    /// Description of its purpose, such as `c_source`; often empty.
    pub kind: String,
}

impl NameComponent {
    /// Creates a component of any two texts. One with a NUL cannot be sent.
    pub fn new(id: impl Into<String>, kind: impl Into<String>) -> Self {
        let (id, kind) = (id.into(), kind.into());
        Self { id, kind }
    }
}

/// Formats the string form.
impl fmt::Display for NameComponent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_escaped(f, &self.id)?;
        if !self.kind.is_empty() || self.id.is_empty() {
            f.write_str(".")?;
            write_escaped(f, &self.kind)?;
        }
        Ok(())
    }
}

fn write_escaped(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    for character in text.chars() {
        if matches!(character, '/' | '.' | '\\') {
            f.write_str("\\")?;
        }
        write!(f, "{character}")?;
    }
    Ok(())
}

impl Encode for NameComponent {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        (self.id.as_str(), self.kind.as_str()).encode(encoder)
    }
}

impl<'a> Decode<'a> for NameComponent {
    const MIN_SIZE: usize = 2 * String::MIN_SIZE;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        let id = String::decode(decoder)?;
        let kind = String::decode(decoder)?;
        Ok(Self { id, kind })
    }
}

/// A name in a naming service, `CosNaming::Name`: the way from a naming context through others to a binding.
/// It has at least one component.
///
/// It is parsed from its string form, and formatted in it: components with `/` between them.
///
/// ```
/// # mod punctual { pub(crate) use punctual_giop as naming; }
/// use punctual::naming::{Name, NameComponent, NameError};
///
/// let name: Name = "radar/track.1".parse()?;
/// assert_eq!(name.components(), [NameComponent::new("radar", ""), NameComponent::new("track", "1")]);
/// assert_eq!(name.to_string(), "radar/track.1");
///
/// let error = "radar/track.1.2".parse::<Name>().unwrap_err();
/// assert_eq!(error, NameError::SecondDot { at: 13 });
/// # Ok::<(), NameError>(())
/// ```
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Name(Vec<NameComponent>);

impl Name {
    /// Creates a name of these components.
    ///
    /// # Errors
    /// [`NameError::Empty`] without any component.
    ///
    /// ```
    /// # mod punctual { pub(crate) use punctual_giop as naming; }
    /// use punctual::naming::{Name, NameComponent, NameError};
    ///
    /// let name = Name::new(["a/b", "c"].map(|id| NameComponent::new(id, "")))?;
    /// assert_eq!(name.to_string(), r"a\/b/c");
    /// assert_eq!(Name::new([]), Err(NameError::Empty));
    /// # Ok::<(), NameError>(())
    /// ```
    pub fn new(components: impl IntoIterator<Item = NameComponent>) -> Result<Self, NameError> {
        let components: Vec<_> = components.into_iter().collect();
        match components.is_empty() {
            true => Err(NameError::Empty),
            false => Ok(Self(components)),
        }
    }

    /// Returns its components, the first one being bound in the context where the search begins.
    pub fn components(&self) -> &[NameComponent] {
        &self.0
    }

    /// Returns the name without its last component, which leads to the context of the binding; `None`: that
    /// is the context where the search begins.
    ///
    /// ```
    /// # mod punctual { pub(crate) use punctual_giop as naming; }
    /// use punctual::naming::{Name, NameError};
    ///
    /// let context = "radar/track.1".parse::<Name>()?.context().expect("it has two components");
    /// assert_eq!((context.to_string(), context.context()), ("radar".to_owned(), None));
    /// # Ok::<(), NameError>(())
    /// ```
    pub fn context(&self) -> Option<Self> {
        let (_, context) = self.0.split_last()?;
        Self::new(context.iter().cloned()).ok()
    }
}

impl Name {
    /// Parses the string form of a name with at most so many components, id and kind of each having at most
    /// so many octets together. A longer text takes no more memory than the longest name: use this for texts
    /// of peers, as the components of a text take up to 57 times its memory.
    ///
    /// # Errors
    /// [`NameError::TooManyComponents`], [`NameError::ComponentTooLong`], and those of a malformed text.
    ///
    /// ```
    /// # mod punctual { pub(crate) use punctual_giop as naming; }
    /// use punctual::naming::{Name, NameError};
    ///
    /// assert_eq!(Name::parse_within("radar/track.1", 2, 6), "radar/track.1".parse());
    /// assert_eq!(Name::parse_within("a/b/c", 2, 6), Err(NameError::TooManyComponents { most: 2 }));
    /// ```
    pub fn parse_within(text: &str, components: usize, octets: usize) -> Result<Self, NameError> {
        let (most, mut parsed) = (components, Vec::new());
        if text.is_empty() {
            return Err(NameError::Empty);
        }
        let mut component = Parsed::default();
        let mut characters = text.char_indices();
        while let Some((at, character)) = characters.next() {
            match character {
                '/' if parsed.len() + 1 >= most => return Err(NameError::TooManyComponents { most }),
                '/' => parsed.push(core::mem::take(&mut component).finished(at)?),
                '.' if component.dot.is_some() => return Err(NameError::SecondDot { at }),
                '.' => component.dot = Some(at),
                '\\' => match characters.next() {
                    Some((_, escaped @ ('/' | '.' | '\\'))) => component.push(escaped, at, octets)?,
                    _ => return Err(NameError::BadEscape { at }),
                },
                other => component.push(other, at, octets)?,
            }
        }
        parsed.push(component.finished(text.len())?);
        Ok(Self(parsed))
    }
}

impl From<NameComponent> for Name {
    fn from(component: NameComponent) -> Self {
        Self(vec![component])
    }
}

/// Formats the string form.
impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, component) in self.0.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { "/" })?;
            component.fmt(f)?;
        }
        Ok(())
    }
}

impl FromStr for Name {
    type Err = NameError;

    /// Parses the string form, of any length.
    fn from_str(text: &str) -> Result<Self, NameError> {
        Self::parse_within(text, usize::MAX, usize::MAX)
    }
}

/// A component as far as it has been read.
#[derive(Default)]
struct Parsed {
    value: NameComponent,
    /// Place of the dot before the kind.
    dot: Option<usize>,
}

impl Parsed {
    /// Adds a character, the one at `at`, to at most so many octets.
    fn push(&mut self, character: char, at: usize, octets: usize) -> Result<(), NameError> {
        let NameComponent { id, kind } = &mut self.value;
        if id.len() + kind.len() + character.len_utf8() > octets {
            return Err(NameError::ComponentTooLong { at, most: octets });
        }
        match self.dot {
            None => id.push(character),
            Some(_) => kind.push(character),
        }
        Ok(())
    }

    /// The component, which ends at `end`.
    fn finished(self, end: usize) -> Result<NameComponent, NameError> {
        let Self { value, dot } = self;
        match (value.id.is_empty(), value.kind.is_empty(), dot) {
            (true, true, None) => Err(NameError::EmptyComponent { at: end }),
            (false, true, Some(at)) => Err(NameError::TrailingDot { at }),
            _ => Ok(value),
        }
    }
}

/// A text that is not the string form of a name. Places are counted in octets from 0.
///
/// ```
/// # mod punctual { pub(crate) use punctual_giop as naming; }
/// use punctual::naming::{Name, NameError};
///
/// let error = "radar//track".parse::<Name>().unwrap_err();
/// assert_eq!(error, NameError::EmptyComponent { at: 6 });
/// assert!(error.to_string().contains("write `.` for one whose id and kind are empty"));
/// ```
#[derive(Clone, Copy, Eq, Error, PartialEq)]
pub enum NameError {
    /// There is no component.
    #[error("a name has at least one component; write it as `id.kind`, or `id`, with `/` between components")]
    Empty,
    /// Nothing is between two `/`, before the first or behind the last one.
    #[error(
        "a component of a name is missing before octet {at}; remove the `/`, or write `.` for one whose id \
         and kind are empty"
    )]
    EmptyComponent {
        /// Place of the end of the component.
        at: usize,
    },
    /// A component has two dots.
    #[error("a component of a name has a second `.` at octet {at}; `id.kind` has one, write others as `\\.`")]
    SecondDot {
        /// Place of the dot.
        at: usize,
    },
    /// A component has an id, a dot and no kind.
    #[error(
        "no kind follows the `.` at octet {at} of a name; leave it out, or write `\\.` if it is part of the id"
    )]
    TrailingDot {
        /// Place of the dot.
        at: usize,
    },
    /// A `\` is not followed by `/`, `.` or `\`.
    #[error("the `\\` at octet {at} of a name escapes nothing; it stands before `/`, `.` and `\\` only")]
    BadEscape {
        /// Place of the `\`.
        at: usize,
    },
    /// There are more components than permitted.
    #[error("a name has more than {most} components; bind a context within another one, and begin there")]
    TooManyComponents {
        /// Greatest permitted number.
        most: usize,
    },
    /// A component has more octets than permitted.
    #[error("id and kind of a component of a name have more than {most} octets, at octet {at}; shorten them")]
    ComponentTooLong {
        /// Place of the first character beyond the limit.
        at: usize,
        /// Greatest permitted number of octets.
        most: usize,
    },
}

/// Reason why a name is not found: `CosNaming::NamingContext::NotFoundReason`.
///
/// ```
/// # mod punctual { pub(crate) use punctual_giop as naming; }
/// use punctual::naming::NotFoundReason;
///
/// assert_eq!(NotFoundReason::from_number(1), Some(NotFoundReason::NotContext));
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum NotFoundReason {
    /// Nothing is bound as the component.
    MissingNode,
    /// The component is bound to an object where a context is needed.
    NotContext,
    /// The component is bound to a context where an object is needed.
    NotObject,
}

impl NotFoundReason {
    /// Returns the reason with this number on the wire.
    pub fn from_number(number: u32) -> Option<Self> {
        [Self::MissingNode, Self::NotContext, Self::NotObject]
            .get(usize::try_from(number).ok()?)
            .copied()
    }
}

/// A name that a naming service does not find, with the component where the search ended.
///
/// ```
/// # mod punctual { pub(crate) use punctual_giop as naming; }
/// use punctual::naming::{NameNotFound, NotFoundReason};
///
/// let error = NameNotFound::new(&"radar/track.1".parse()?, NotFoundReason::MissingNode, 1);
/// assert_eq!(error.position, 1);
/// assert!(error.to_string().starts_with(
///     "`radar/track.1` is not found: `radar` has no `track.1` (component 2 of 2)"
/// ));
/// # Ok::<(), punctual::naming::NameError>(())
/// ```
#[derive(Clone, Eq, Error, PartialEq)]
pub struct NameNotFound {
    /// The name.
    pub name: Name,
    /// Why.
    pub reason: NotFoundReason,
    /// Index of the component where the search ended, from 0.
    pub position: usize,
}

impl NameNotFound {
    /// Creates the error from an exception whose `rest_of_name` has this many components. A server that
    /// states more or none means the first one.
    pub fn new(name: &Name, reason: NotFoundReason, rest: usize) -> Self {
        let position = match rest {
            0 => 0,
            rest => name.0.len().saturating_sub(rest),
        };
        let name = name.clone();
        Self {
            name,
            reason,
            position,
        }
    }
}

impl fmt::Display for NameNotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            reason,
            position,
        } = self;
        let (component, count) = (&name.0[*position], name.0.len());
        let context = Name::new(name.0[..*position].iter().cloned()).ok();
        let context = context.map_or_else(|| "the context".to_string(), |name| format_code(&name));
        let place = position + 1;
        write!(f, "`{name}` is not found: ")?;
        match reason {
            NotFoundReason::MissingNode => write!(
                f,
                "{context} has no `{component}` (component {place} of {count}); list its bindings \
                 (`punctual naming list`): id and kind both have to match"
            ),
            NotFoundReason::NotContext => write!(
                f,
                "`{component}` (component {place} of {count}) in {context} is no naming context; an object \
                 has no names below it, and a binding to a context of another server may be stale: list the \
                 bindings (`punctual naming list`)"
            ),
            NotFoundReason::NotObject => write!(
                f,
                "`{component}` (component {place} of {count}) in {context} is a naming context, which a \
                 binding to an object does not replace; unbind it first, or use `rebind_context`"
            ),
        }
    }
}

fn format_code(name: &Name) -> String {
    alloc::format!("`{name}`")
}

punctual_types::debug_as_display!(NameError, NameNotFound);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_the_specification() {
        let component = NameComponent::new;
        for (text, expected) in [
            ("a", vec![component("a", "")]),
            ("a/b/c", ["a", "b", "c"].map(|id| component(id, "")).to_vec()),
            ("id.kind", vec![component("id", "kind")]),
            (".kind", vec![component("", "kind")]),
            (".", vec![component("", "")]),
            (
                "a/./c.d/.e",
                vec![
                    component("a", ""),
                    component("", ""),
                    component("c", "d"),
                    component("", "e"),
                ],
            ),
            (r"a\/x\.y\.z\\.b", vec![component(r"a/x.y.z\", "b")]),
            (r"\.\./b", vec![component("..", ""), component("b", "")]),
            (" ü .\u{20ac}", vec![component(" ü ", "\u{20ac}")]),
        ] {
            let name: Name = text.parse().unwrap();
            assert_eq!(name.components(), expected, "{text}");
            assert_eq!(name.to_string(), text);
        }
    }

    #[test]
    fn malformed_names_are_refused_with_their_place() {
        use NameError::*;
        for (text, error) in [
            ("", Empty),
            ("/", EmptyComponent { at: 0 }),
            ("/a", EmptyComponent { at: 0 }),
            ("a/", EmptyComponent { at: 2 }),
            ("a//b", EmptyComponent { at: 2 }),
            ("a.", TrailingDot { at: 1 }),
            ("a./b", TrailingDot { at: 1 }),
            ("..", SecondDot { at: 1 }),
            ("a.b.c", SecondDot { at: 3 }),
            (r"a\b", BadEscape { at: 1 }),
            (r"a\", BadEscape { at: 1 }),
            (r"ü/\", BadEscape { at: 3 }),
        ] {
            assert_eq!(text.parse::<Name>(), Err(error), "{text}");
        }
    }

    #[test]
    fn names_are_parsed_within_limits() {
        let within = |text| Name::parse_within(text, 2, 4);
        for text in ["ab.cd/efgh", r"\/\.\\x/.", "\u{20ac}x", ".abcd"] {
            assert_eq!(within(text), text.parse(), "{text}");
        }
        let (most, long) = (2, |at| NameError::ComponentTooLong { at, most: 4 });
        for (text, error) in [
            ("a/b/", NameError::TooManyComponents { most }),
            ("a/b/c/d//", NameError::TooManyComponents { most }),
            ("abcde", long(4)),
            ("ab.cde/x", long(5)),
            (r"x/abc\.d", long(7)),
            ("\u{20ac}\u{20ac}", long(3)),
        ] {
            assert_eq!(within(text), Err(error), "{text}");
        }
    }

    #[test]
    fn the_position_of_a_component_is_within_the_name() {
        let name: Name = "a/b/c".parse().unwrap();
        for (rest, position) in [(0, 0), (1, 2), (2, 1), (3, 0), (4, 0), (usize::MAX, 0)] {
            let error = NameNotFound::new(&name, NotFoundReason::NotContext, rest);
            assert_eq!(error.position, position, "{rest}");
            assert!(!error.to_string().is_empty());
        }
    }
}
