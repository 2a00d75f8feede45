//! Passing over, or copying, an encoded value as its type code describes it.

use alloc::{sync::Arc, vec::Vec};

use punctual_cdr::{
    CdrError, CdrErrorKind, CopiedOctets, Decode, Decoder, Encode, Encoder, LongDouble, Text, ValueFactory,
    ValueHeader, ValueTag, WChar, WString,
};

use crate::{
    Kind, TypeCodeView,
    kind::Parameters,
    type_code::{MAX_DEPTH, discriminator},
};

/// Passes over the value at the decoder's position.
///
/// The work is proportional to the octets of type code and value, however many an `any` is one of: a type
/// code that describes many values without octets, or values of few octets with many labels, is refused. In a
/// large message, less work per octet is accepted: it counts as memory of decoded values.
pub(crate) fn skip(code: &TypeCodeView<'_>, from: &mut Decoder<'_>) -> Result<Passed, CdrError> {
    let mut walk = Walk::new(code, from);
    walk.value(code, from, &mut None)?;
    Ok(walk.passed)
}

/// Passes over the members of an exception whose id has been decoded.
pub(crate) fn skip_members(code: &TypeCodeView<'_>, from: &mut Decoder<'_>) -> Result<Passed, CdrError> {
    let mut walk = Walk::new(code, from);
    walk.members(code, from, &mut None)?;
    Ok(walk.passed)
}

/// Findings about a value that was passed over.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Passed {
    /// The octets mean something in their message only: they refer to some before them, or have the form of
    /// GIOP 1.1.
    pub(crate) refers_outside: bool,
    pub(crate) values: Values,
    /// There are values of `wchar` or `wstring`.
    pub(crate) has_wide_text: bool,
    /// A `char` is not ASCII, and so takes more than one octet in UTF-8.
    pub(crate) has_wide_char: bool,
}

/// Findings about the values of value types in a value.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Values {
    /// There are some: they have another form inside of a chunked value.
    pub(crate) are_there: bool,
    /// One is of another type than the type code describes: it cannot be copied part by part.
    pub(crate) has_unknown: bool,
    /// The values farthest away to which those of unknown types may refer.
    pub(crate) reach: Reach,
    /// The octets are the same in each code set and version of GIOP, what is not known included.
    pub(crate) has_no_text: bool,
}

/// Place of the values to which those of unknown types may refer, in ascending order.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Reach {
    /// Inside of each value, behind its tag: it is copied alone.
    #[default]
    Itself,
    /// In the same `any`: both are copied together, as they are.
    Any,
    /// In the message, before the `any`: a copy of it no longer shows to which.
    Message,
}

/// Copies the value at the decoder's position, to another byte order, alignment or code set.
pub(crate) fn copy(
    code: &TypeCodeView<'_>,
    from: &mut Decoder<'_>,
    to: &mut Encoder<'_>,
) -> Result<(), CdrError> {
    Walk::new(code, from).value(code, from, &mut Some(to))
}

/// Copies the value as [`copy`] does, knowing what was found out about its values of value types. Unless it
/// must be whole, they may be truncated.
pub(crate) fn copy_known(
    code: &TypeCodeView<'_>,
    values: Values,
    must_be_whole: bool,
    from: &mut Decoder<'_>,
    to: &mut Encoder<'_>,
) -> Result<(), CdrError> {
    let mut walk = Walk::new(code, from);
    walk.may_truncate = !must_be_whole;
    walk.passed.values = values;
    walk.value(code, from, &mut Some(to))
}

/// Copies the members of an exception whose id has been decoded.
pub(crate) fn copy_members(
    code: &TypeCodeView<'_>,
    from: &mut Decoder<'_>,
    to: &mut Encoder<'_>,
) -> Result<(), CdrError> {
    Walk::new(code, from).members(code, from, &mut Some(to))
}

struct Walk {
    /// Type codes that have been visited, typedefs included, and labels of unions.
    steps: usize,
    /// Octets of the type code.
    described_by: usize,
    /// Position of the value.
    start: usize,
    depth: u16,
    /// Positions of values of value types, ascending, and those of their copies once they have begun.
    values: Vec<(usize, Option<usize>)>,
    /// Headers of values of known types that were copied as they are, ascending: others have the same ids.
    headers: Vec<CopiedOctets>,
    /// Values of unknown types, ascending.
    unknown: Vec<CopiedOctets>,
    may_truncate: bool,
    passed: Passed,
}

/// Steps without octets: depth of nesting.
const FREE_STEPS: usize = MAX_DEPTH as usize;

/// Steps for each octet of type code and value.
const STEPS_PER_OCTET: usize = 8;

/// Octets counted as memory for each step: by default, half a million steps in a message.
pub(crate) const OCTETS_PER_STEP: usize = 128;

/// Octets counted instead for numbers and texts, which cost less.
const OCTETS_PER_LEAF: usize = 16;

/// Labels of a union that are read in a step.
const LABELS_PER_STEP: usize = 4;

type Target<'t, 'e> = Option<&'t mut Encoder<'e>>;

impl Walk {
    fn new(code: &TypeCodeView<'_>, from: &Decoder<'_>) -> Self {
        Self {
            steps: 0,
            described_by: code.size(),
            start: from.position(),
            depth: 0,
            values: Vec::new(),
            headers: Vec::new(),
            unknown: Vec::new(),
            may_truncate: true,
            passed: Passed::default(),
        }
    }

    /// Counts work. Fails if there is more of it than the octets so far allow.
    fn count(&mut self, steps: usize, from: &mut Decoder<'_>) -> Result<(), CdrError> {
        self.count_as(steps * OCTETS_PER_STEP, steps, from)
    }

    fn count_as(&mut self, memory: usize, steps: usize, from: &mut Decoder<'_>) -> Result<(), CdrError> {
        self.steps += steps;
        let octets = self.described_by + from.position().saturating_sub(self.start);
        if self.steps > FREE_STEPS + STEPS_PER_OCTET * octets {
            return Err(from.error(CdrErrorKind::TypeCodeInvalid));
        }
        from.reserve(memory)
    }

    fn value(
        &mut self,
        code: &TypeCodeView<'_>,
        from: &mut Decoder<'_>,
        to: &mut Target<'_, '_>,
    ) -> Result<(), CdrError> {
        let kind = code.kind()?;
        let memory = match kind.parameters() {
            Parameters::Encapsulation => OCTETS_PER_STEP,
            _ => OCTETS_PER_LEAF,
        };
        self.count_as(memory, 1, from)?;
        if self.depth > from.nesting_left() {
            return Err(from.error(CdrErrorKind::NestingTooDeep));
        }
        self.depth += 1;
        let result = self.of_kind(kind, code, from, to);
        self.depth -= 1;
        result
    }

    fn of_kind(
        &mut self,
        kind: Kind,
        code: &TypeCodeView<'_>,
        from: &mut Decoder<'_>,
        to: &mut Target<'_, '_>,
    ) -> Result<(), CdrError> {
        match kind {
            Kind::Null | Kind::Void => Ok(()),
            Kind::Boolean => pass::<bool>(from, to),
            Kind::Octet => pass::<u8>(from, to),
            Kind::Char => {
                let value = char::decode(from)?;
                self.passed.has_wide_char |= !value.is_ascii();
                to.as_mut().map_or(Ok(()), |to| value.encode(to))
            }
            Kind::Short | Kind::UShort => pass::<u16>(from, to),
            Kind::Long | Kind::ULong | Kind::Float => pass::<u32>(from, to),
            Kind::LongLong | Kind::ULongLong | Kind::Double => pass::<u64>(from, to),
            Kind::LongDouble => pass::<LongDouble>(from, to),
            Kind::String => string(code, from, to),
            Kind::Enum => pass_enumerator(code.enumerators()?.len(), from, to),
            Kind::Alias => self.value(&code.content()?, from, to),
            Kind::Struct => self.members(code, from, to),
            Kind::Except => {
                pass::<Text<'_>>(from, to)?;
                self.members(code, from, to)
            }
            Kind::Union => self.union(code, from, to),
            Kind::Sequence => self.sequence(code, from, to),
            Kind::Array => self.elements(code.length()? as usize, &code.content()?, from, to),
            Kind::Any => {
                let code = type_code(from, to)?;
                self.value(&code, from, to)
            }
            Kind::TypeCode => type_code(from, to).map(drop),
            Kind::Principal => octets(from, to),
            Kind::ObjRef | Kind::Component | Kind::Home => reference(from, to),
            Kind::Fixed => {
                let (digits, _) = code.digits_and_scale()?;
                copy_octets(usize::from(digits) / 2 + 1, from, to)
            }
            Kind::Value | Kind::ValueBox | Kind::Event => self.shared(Some(code), from, to),
            Kind::WChar => {
                self.passed.has_wide_text = true;
                self.passed.refers_outside |= from.has_fixed_wide_form();
                pass::<WChar>(from, to)
            }
            Kind::WString => self.wide_string(code, from, to),
            Kind::AbstractInterface => match pass_flag(from, to)? {
                true => reference(from, to),
                false => self.shared(None, from, to),
            },
            Kind::Native | Kind::LocalInterface => Err(from.error(CdrErrorKind::TypeUnsupported)),
        }
    }

    fn wide_string(
        &mut self,
        code: &TypeCodeView<'_>,
        from: &mut Decoder<'_>,
        to: &mut Target<'_, '_>,
    ) -> Result<(), CdrError> {
        self.passed.has_wide_text = true;
        // That of GIOP 1.1 has another form than that of an `any` of its own.
        self.passed.refers_outside |= from.has_fixed_wide_form();
        let characters = WString::pass(from, to.as_deref_mut())?;
        expect_within_bound(code, || characters, from)
    }

    /// A value of a value type, null, or one that was there before. Of which type the values of an abstract
    /// interface are, no type code describes.
    fn shared(
        &mut self,
        code: Option<&TypeCodeView<'_>>,
        from: &mut Decoder<'_>,
        to: &mut Target<'_, '_>,
    ) -> Result<(), CdrError> {
        self.passed.values.are_there = true;
        let unsupported = from.error(CdrErrorKind::TypeUnsupported);
        let header = match from.value_tag()? {
            ValueTag::Null => return to.as_mut().map_or(Ok(()), |to| to.null_value()),
            ValueTag::Earlier(position) => {
                let copy = self.copy_at(position).ok_or(unsupported)?;
                return to.as_mut().map_or(Ok(()), |to| to.value_at(copy));
            }
            ValueTag::Value(header) => header,
        };
        // What can be passed over can be copied: a string is text without NUL.
        for id in &header.ids {
            if id.contains(&0) || str::from_utf8(id).is_err() {
                return Err(from.error(CdrErrorKind::ValueMalformed));
            }
        }
        let index = self.values.len();
        let no_copy = to.is_none().then_some(header.position);
        self.values.push((header.position, no_copy));
        self.passed.refers_outside |= header.refers_to < self.start;
        let described = match code {
            Some(code) if code.kind()? == Kind::ValueBox || !code.value()?.is_custom => Some(code),
            _ => None,
        };
        // Those that may be truncated have the described type behind their own.
        let left_out = match header.ids.len() {
            0 => Some(0),
            _ => header
                .ids
                .iter()
                .position(|id| described.is_some_and(|code| code.has_id(id))),
        };
        let (Some(code), Some(left_out)) = (described, left_out) else {
            return self.unknown(index, header, from, to, unsupported);
        };
        if left_out > 0 {
            let before = from.clone();
            match self.unknown(index, header.clone(), from, to, unsupported) {
                Err(error) if error == unsupported && self.may_truncate && header.is_chunked => {
                    *from = before
                }
                ended => return ended,
            }
        }
        let Some(to) = to else {
            return from.value_state(&header, false, |from| self.state(code, from, &mut None));
        };
        let ids = header.ids[left_out..]
            .iter()
            .filter_map(|id| str::from_utf8(id).ok());
        let ids: Vec<_> = ids.collect();
        to.value(None, &ids, header.is_chunked, |to, copy| {
            self.values[index].1 = Some(copy);
            let is_truncated = left_out > 0;
            if !is_truncated {
                self.note_header(&header, from.position(), copy, to);
            }
            from.value_state(&header, is_truncated, |from| {
                self.state(code, from, &mut Some(to))
            })
        })
    }

    /// The position of the copy of an earlier value.
    fn copy_at(&self, position: usize) -> Option<usize> {
        match self.values.binary_search_by_key(&position, |(at, _)| *at) {
            Ok(index) => self.values[index].1,
            // In what was copied as it is.
            Err(_) => CopiedOctets::find(&self.unknown, position)
                .or_else(|| CopiedOctets::find(&self.headers, position)),
        }
    }

    /// Notes where the copy of a header with the same ids is that ends here and there. If both are equally
    /// long, and no URLs are left out, the ids are in the same places.
    fn note_header(&mut self, header: &ValueHeader<'_>, end: usize, copy: usize, to: &Encoder<'_>) {
        let size_of_chunk = if to.is_in_chunk() { 4 } else { 0 };
        let octets = header.position..end.next_multiple_of(4);
        if header.refers_to >= self.start
            && !header.has_codebase()
            && octets.len() + size_of_chunk == to.position().next_multiple_of(4) - copy
        {
            self.headers.push(CopiedOctets {
                tag: copy,
                octets,
                begin: copy,
            });
        }
    }

    /// A value whose state no type code describes, as octets. One without chunks ends where its factory
    /// finds its end.
    fn unknown<'a>(
        &mut self,
        index: usize,
        header: ValueHeader<'a>,
        from: &mut Decoder<'a>,
        to: &mut Target<'_, '_>,
        unsupported: CdrError,
    ) -> Result<(), CdrError> {
        self.passed.values.has_unknown = true;
        self.passed.refers_outside |= from.has_fixed_wide_form();
        let id = header.ids.first();
        let factory = id.and_then(|id| from.context()?.value_factory(id));
        if let (Some(to), Some(factory), false) = (&mut *to, factory, header.is_chunked) {
            return self.registered(index, &header, factory, from, to);
        }
        // Where it ends is known to the ORB only that has received it.
        self.passed.refers_outside |= !header.is_chunked;
        let value = from.unknown_value(header, factory)?;
        let values = &mut self.passed.values;
        values.reach = values.reach.max(match value.refers_to() {
            None => Reach::Itself,
            Some(least) if least >= self.start => Reach::Any,
            Some(_) => Reach::Message,
        });
        let copied = match to {
            Some(_) if values.reach == Reach::Message => None,
            Some(to) => {
                let has_no_text = self.passed.values.has_no_text;
                to.unknown_value(&value, &|position| self.copy_at(position), has_no_text)?
            }
            None => Some(value.in_place()),
        };
        let copied = copied.ok_or(unsupported)?;
        self.values[index].1 = Some(copied[0].tag);
        self.unknown.extend(copied);
        Ok(())
    }

    /// Copies a value of a registered type, with chunks.
    fn registered(
        &mut self,
        index: usize,
        header: &ValueHeader<'_>,
        factory: &'static ValueFactory,
        from: &mut Decoder<'_>,
        to: &mut Encoder<'_>,
    ) -> Result<(), CdrError> {
        let object = from.known_value(header.position, factory, |from| {
            from.value_state(header, false, factory.decode)
        })?;
        to.value(Some(Arc::clone(&object) as _), object.ids(), true, |to, copy| {
            self.values[index].1 = Some(copy);
            object.encode_state(to)
        })
    }

    fn state(
        &mut self,
        code: &TypeCodeView<'_>,
        from: &mut Decoder<'_>,
        to: &mut Target<'_, '_>,
    ) -> Result<(), CdrError> {
        self.count(1, from)?;
        if code.kind()? == Kind::ValueBox {
            return self.value(&code.content()?, from, to);
        }
        if self.depth > from.nesting_left() {
            return Err(from.error(CdrErrorKind::NestingTooDeep));
        }
        let mut value = code.value()?;
        if let Some(base) = value.base {
            self.depth += 1;
            let base = base.resolved_in_steps(|| self.count(1, from))?;
            self.state(&base, from, to)?;
            self.depth -= 1;
        }
        for _ in 0..value.members {
            self.value(&value.next()?.1, from, to)?;
        }
        Ok(())
    }

    fn members(
        &mut self,
        code: &TypeCodeView<'_>,
        from: &mut Decoder<'_>,
        to: &mut Target<'_, '_>,
    ) -> Result<(), CdrError> {
        for member in code.unread_members()? {
            self.value(&member?.1, from, to)?;
        }
        Ok(())
    }

    fn union(
        &mut self,
        code: &TypeCodeView<'_>,
        from: &mut Decoder<'_>,
        to: &mut Target<'_, '_>,
    ) -> Result<(), CdrError> {
        let mut union = code.union()?;
        let chosen = discriminator(union.label_kind, &mut from.clone())?;
        self.value(&union.discriminator, from, to)?;
        let selected = union.select(chosen)?;
        self.count(1 + selected.labels / LABELS_PER_STEP, from)?;
        match selected.member {
            Some((_, of)) => self.value(&of, from, to),
            None => Ok(()),
        }
    }

    fn sequence(
        &mut self,
        code: &TypeCodeView<'_>,
        from: &mut Decoder<'_>,
        to: &mut Target<'_, '_>,
    ) -> Result<(), CdrError> {
        let count = pass_number(from, to)?;
        let bound = code.length()?;
        if bound != 0 && count > bound {
            return Err(from.error(CdrErrorKind::BoundExceeded));
        }
        self.elements(count as usize, &code.content()?, from, to)
    }

    fn elements(
        &mut self,
        count: usize,
        element: &TypeCodeView<'_>,
        from: &mut Decoder<'_>,
        to: &mut Target<'_, '_>,
    ) -> Result<(), CdrError> {
        if count == 0 {
            return Ok(());
        }
        let element = element.resolved_in_steps(|| self.count(1, from))?;
        let kind = element.kind()?;
        // Numbers in one step, unless each has to be swapped, aligned or checked.
        let plain = match kind {
            Kind::Octet => true,
            Kind::Boolean | Kind::Char => false,
            _ => to.is_none() && !from.is_fragmented(),
        };
        match kind.number_size() {
            Some(size) if plain => {
                from.align(size)?;
                copy_octets(count.saturating_mul(size), from, to)
            }
            Some(_) => (0..count).try_for_each(|_| self.of_kind(kind, &element, from, to)),
            None if kind == Kind::Enum => {
                let enumerators = element.enumerators()?.len();
                (0..count).try_for_each(|_| pass_enumerator(enumerators, from, to))
            }
            None => (0..count).try_for_each(|_| self.value(&element, from, to)),
        }
    }
}

fn pass<'a, T: Decode<'a> + Encode>(from: &mut Decoder<'a>, to: &mut Target<'_, '_>) -> Result<(), CdrError> {
    let value = T::decode(from)?;
    match to {
        Some(to) => value.encode(to),
        None => Ok(()),
    }
}

fn pass_number(from: &mut Decoder<'_>, to: &mut Target<'_, '_>) -> Result<u32, CdrError> {
    let number = u32::decode(from)?;
    if let Some(to) = to {
        number.encode(to)?;
    }
    Ok(number)
}

fn string(code: &TypeCodeView<'_>, from: &mut Decoder<'_>, to: &mut Target<'_, '_>) -> Result<(), CdrError> {
    let text = Text::decode(from)?;
    let characters = || match text {
        Text::Utf8(text) => text.chars().count(),
        Text::SingleOctets(octets, _) => octets.len(),
    };
    expect_within_bound(code, characters, from)?;
    match to {
        Some(to) => text.encode(to),
        None => Ok(()),
    }
}

/// Fails if a string has more characters than its type allows.
fn expect_within_bound(
    code: &TypeCodeView<'_>,
    characters: impl FnOnce() -> usize,
    from: &Decoder<'_>,
) -> Result<(), CdrError> {
    match code.length()? as usize {
        0 => Ok(()),
        bound if characters() <= bound => Ok(()),
        _ => Err(from.error(CdrErrorKind::BoundExceeded)),
    }
}

/// Enumerator of an enum with this many enumerators.
fn pass_enumerator(
    enumerators: usize,
    from: &mut Decoder<'_>,
    to: &mut Target<'_, '_>,
) -> Result<(), CdrError> {
    match pass_number(from, to)? {
        ordinal if (ordinal as usize) < enumerators => Ok(()),
        _ => Err(from.error(CdrErrorKind::EnumOutOfRange)),
    }
}

/// Whether a reference or a value of an abstract interface follows.
fn pass_flag(from: &mut Decoder<'_>, to: &mut Target<'_, '_>) -> Result<bool, CdrError> {
    let flag = bool::decode(from)?;
    if let Some(to) = to {
        flag.encode(to)?;
    }
    Ok(flag)
}

fn type_code<'a>(from: &mut Decoder<'a>, to: &mut Target<'_, '_>) -> Result<TypeCodeView<'a>, CdrError> {
    let code = TypeCodeView::decode(from)?;
    if let Some(to) = to {
        code.encode(to)?;
    }
    Ok(code)
}

fn copy_octets(count: usize, from: &mut Decoder<'_>, to: &mut Target<'_, '_>) -> Result<(), CdrError> {
    let octets = from.octets(count)?;
    match to {
        Some(to) => to.octets(octets),
        None => Ok(()),
    }
}

fn octets(from: &mut Decoder<'_>, to: &mut Target<'_, '_>) -> Result<(), CdrError> {
    let count = pass_number(from, to)?;
    copy_octets(count as usize, from, to)
}

/// An object reference: type id and profiles.
fn reference(from: &mut Decoder<'_>, to: &mut Target<'_, '_>) -> Result<(), CdrError> {
    pass::<Text<'_>>(from, to)?;
    for _ in 0..pass_number(from, to)? {
        pass_number(from, to)?;
        octets(from, to)?;
    }
    Ok(())
}
