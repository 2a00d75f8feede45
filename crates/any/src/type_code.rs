//! Type codes: the encoded form, and reading it.

use alloc::{borrow::Cow, string::String, vec::Vec};
use core::fmt;

use punctual_cdr::{CdrError, CdrErrorKind, Decode, Decoder, Encode, Encoder, Endian, WChar};

use crate::{Kind, ValueModifier, kind::Parameters};

/// Marks a reference to a type code that encloses this one: recursion.
const INDIRECTION: u32 = u32::MAX;

/// A description of an IDL type, `CORBA::TypeCode`.
///
/// ```
/// # mod punctual { pub(crate) use punctual_any as any; }
/// use punctual::any::{Kind, Member, TypeCode};
///
/// let point = TypeCode::structure(
///     "IDL:Point:1.0",
///     "Point",
///     [("x", TypeCode::basic(Kind::Long)), ("y", TypeCode::basic(Kind::Double))],
/// );
/// assert_eq!(point.to_string(), "struct Point { long x; double y; }");
/// assert_eq!(point.view().id()?, "IDL:Point:1.0");
/// assert!(point.equivalent(&TypeCode::alias("IDL:Place:1.0", "Place", point.clone())));
/// # Ok::<(), punctual_any::AnyError>(())
/// ```
#[derive(Clone)]
pub struct TypeCode {
    /// The encoded form; the outermost kind and its parameters outside an encapsulation are little-endian.
    pub(crate) octets: Cow<'static, [u8]>,
    /// References to enclosing types that are not complete yet: offset of the indirection, and repository id.
    pub(crate) open: Vec<(usize, String)>,
}

/// A member of a union as [`TypeCodeView::cases`] returns it: its label, name and type.
///
/// ```
/// # mod punctual { pub(crate) use punctual_any as any; }
/// use punctual::any::{Kind, TypeCode, UnionCase};
///
/// let long = || TypeCode::basic(Kind::Long);
/// let union = TypeCode::union("IDL:U:1.0", "U", long(), None, [(4, "count", long())]);
/// let cases: Vec<UnionCase<'_>> = union.view().cases()?.collect::<Result<_, _>>()?;
/// let (label, name, of) = &cases[0];
/// assert_eq!((*label, *name, of.kind()?), (Some(4), "count", Kind::Long));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type UnionCase<'a> = (Option<i128>, &'a str, TypeCodeView<'a>);

/// A type code that is lent from the message or the type code that contains it.
#[derive(Clone, Copy)]
pub struct TypeCodeView<'a> {
    /// The outermost type code.
    root: &'a [u8],
    /// Offset of the kind.
    at: usize,
    /// Byte order of the kind, and of parameters outside an encapsulation.
    endian: Endian,
}

impl TypeCode {
    /// Creates a type code from its encoded form.
    pub(crate) const fn from_static(octets: &'static [u8]) -> Self {
        Self {
            octets: Cow::Borrowed(octets),
            open: Vec::new(),
        }
    }

    /// Shares a type code that is kept forever, without a copy.
    #[doc(hidden)]
    pub fn shared(code: &'static Self) -> Self {
        Self::from_static(&code.octets)
    }

    /// Returns the encoded form.
    pub(crate) fn octets(&self) -> &[u8] {
        &self.octets
    }

    /// Lends it, to read its parts.
    pub fn view(&self) -> TypeCodeView<'_> {
        TypeCodeView::of_octets(&self.octets)
    }

    /// Returns its kind.
    ///
    /// # Errors
    /// [`CdrErrorKind::TypeCodeInvalid`]: it was received, and is malformed.
    pub fn kind(&self) -> Result<Kind, CdrError> {
        self.view().kind()
    }
}

/// `null`, the type code of an empty [`Any`](crate::Any).
impl Default for TypeCode {
    fn default() -> Self {
        Self::from_static(&[0; 4])
    }
}

impl<'a> TypeCodeView<'a> {
    /// Reads the encoded form of a [`TypeCode`].
    pub(crate) fn of_octets(octets: &'a [u8]) -> Self {
        Self {
            root: octets,
            at: 0,
            endian: Endian::Little,
        }
    }

    /// Returns its kind.
    ///
    /// # Errors
    /// [`CdrErrorKind::TypeCodeInvalid`]: no such kind exists.
    pub fn kind(&self) -> Result<Kind, CdrError> {
        Kind::from_number(self.number(0)?).ok_or_else(|| self.invalid())
    }

    /// Returns the repository id of an interface, struct, union, enum, typedef, exception or value type.
    ///
    /// # Errors
    /// [`CdrErrorKind::TypeCodeInvalid`]: it has none, or is malformed.
    pub fn id(&self) -> Result<&'a str, CdrError> {
        if !self.is_named()? {
            return Err(self.invalid());
        }
        Name::pass(&mut self.parameters()?.decoder)?.read()
    }

    /// The repository id and the name, which are read on request only.
    pub(crate) fn unread_names(&self) -> Result<(Name<'a>, Name<'a>), CdrError> {
        if !self.is_named()? {
            return Err(self.invalid());
        }
        let mut parameters = self.parameters()?;
        let id = Name::pass(&mut parameters.decoder)?;
        Ok((id, Name::pass(&mut parameters.decoder)?))
    }

    /// Returns whether the octets are those of the repository id.
    pub(crate) fn has_id(&self, id: &[u8]) -> bool {
        let parameters = self.parameters();
        parameters.is_ok_and(|mut parameters| {
            Name::pass(&mut parameters.decoder).is_ok_and(|name| name.octets == id)
        })
    }

    /// Returns the name, without scope; empty in compact type codes.
    ///
    /// # Errors
    /// [`CdrErrorKind::TypeCodeInvalid`]: it has none, or is malformed.
    pub fn name(&self) -> Result<&'a str, CdrError> {
        if !self.is_named()? {
            return Err(self.invalid());
        }
        let mut parameters = self.parameters()?;
        Name::pass(&mut parameters.decoder)?;
        Name::pass(&mut parameters.decoder)?.read()
    }

    /// Returns the members of a struct or exception, in order.
    ///
    /// # Errors
    /// [`CdrErrorKind::TypeCodeInvalid`]: it is of another kind, or malformed.
    pub fn members(
        &self,
    ) -> Result<impl Iterator<Item = Result<(&'a str, TypeCodeView<'a>), CdrError>> + use<'a>, CdrError> {
        if !matches!(self.kind()?, Kind::Struct | Kind::Except) {
            return Err(self.invalid());
        }
        let members = self.unread_members()?;
        Ok(members.map(|member| member.and_then(|(name, of)| Ok((name.read()?, of)))))
    }

    /// Returns the members of a value type's state, those of the base first; a boxed type has one, `value`.
    ///
    /// # Errors
    /// [`CdrErrorKind::TypeCodeInvalid`]: it is of another kind, or malformed;
    /// [`CdrErrorKind::NestingTooDeep`]: more bases than values may be nested.
    pub fn state(&self) -> Result<Vec<(&'a str, TypeCodeView<'a>)>, CdrError> {
        match self.kind()? {
            Kind::ValueBox => return Ok(Vec::from([(BOXED, self.content()?)])),
            Kind::Value | Kind::Event => {}
            _ => return Err(self.invalid()),
        }
        let mut types = Vec::from([self.value()?]);
        let mut count = types[0].members;
        while let Some(base) = types.last().and_then(|value| value.base) {
            if types.len() > usize::from(MAX_DEPTH) {
                return Err(self.error(CdrErrorKind::NestingTooDeep));
            }
            let base = base.resolved()?.value()?;
            count += base.members;
            types.push(base);
            // Bases in a circle, or in each other, have more members than there is room for.
            if count > self.size() / MEMBER_OF_VALUE {
                return Err(self.invalid());
            }
        }
        let mut members = Vec::new();
        for value in types.iter_mut().rev() {
            for _ in 0..value.members {
                let (name, of) = value.next()?;
                members.push((name.read()?, of));
            }
        }
        Ok(members)
    }

    /// The members of a struct or exception, whose names are read on request only.
    pub(crate) fn unread_members(
        &self,
    ) -> Result<impl Iterator<Item = Result<(Name<'a>, TypeCodeView<'a>), CdrError>> + use<'a>, CdrError>
    {
        let mut parameters = self.named_parameters()?;
        let mut left = parameters.decoder.length(9)?;
        Ok(core::iter::from_fn(move || {
            left = left.checked_sub(1)?;
            let member =
                Name::pass(&mut parameters.decoder).and_then(|name| Ok((name, parameters.type_code()?)));
            if member.is_err() {
                left = 0;
            }
            Some(member)
        }))
    }

    /// The description of a value type.
    pub(crate) fn value(&self) -> Result<ValueView<'a>, CdrError> {
        let mut parameters = self.named_parameters()?;
        let modifier = i16::decode(&mut parameters.decoder)?;
        let base = parameters.type_code()?;
        let members = parameters.decoder.length(MEMBER_OF_VALUE)?;
        Ok(ValueView {
            is_custom: modifier == ValueModifier::Custom as i16,
            is_truncatable: modifier == ValueModifier::Truncatable as i16,
            base: (base.kind()? != Kind::Null).then_some(base),
            members,
            parameters,
        })
    }

    /// Returns the union's description.
    pub(crate) fn union(&self) -> Result<UnionView<'a>, CdrError> {
        if self.kind()? != Kind::Union {
            return Err(self.invalid());
        }
        let mut parameters = self.named_parameters()?;
        let discriminator = parameters.type_code()?;
        let label_kind = discriminator.resolved()?.kind()?;
        let is_discrete = match label_kind {
            Kind::Enum | Kind::WChar => true,
            Kind::Float | Kind::Double => false,
            kind => kind.number_size().is_some(),
        };
        if !is_discrete {
            return Err(self.invalid());
        }
        let default = i32::decode(&mut parameters.decoder)?;
        let members = parameters.decoder.length(10)?;
        Ok(UnionView {
            discriminator,
            label_kind,
            default: usize::try_from(default).ok(),
            members,
            parameters,
        })
    }

    /// Returns the type of a union's discriminator.
    ///
    /// # Errors
    /// [`CdrErrorKind::TypeCodeInvalid`]: it is of another kind, or malformed.
    pub fn discriminator(&self) -> Result<TypeCodeView<'a>, CdrError> {
        Ok(self.union()?.discriminator)
    }

    /// Returns labels, names and types of a union's members, in order: a member for each label. Labels of
    /// characters and enums are their numbers; the member for all other discriminators has none.
    ///
    /// # Errors
    /// [`CdrErrorKind::TypeCodeInvalid`]: it is of another kind, or malformed.
    ///
    /// ```
    /// # mod punctual { pub(crate) use punctual_any as any; }
    /// use punctual::any::{Kind, TypeCode};
    ///
    /// let members = [(1, "speed", TypeCode::basic(Kind::Double)), (0, "name", TypeCode::string(0))];
    /// let report = TypeCode::union("IDL:R:1.0", "R", TypeCode::basic(Kind::Short), Some(1), members);
    /// let cases = report.view().cases()?.map(|case| case.map(|(label, name, _)| (label, name)));
    /// let labels: Result<Vec<_>, _> = cases.collect();
    /// assert_eq!(labels?, [(Some(1), "speed"), (None, "name")]);
    /// # Ok::<(), punctual_any::AnyError>(())
    /// ```
    pub fn cases(&self) -> Result<impl Iterator<Item = Result<UnionCase<'a>, CdrError>> + use<'a>, CdrError> {
        let mut union = self.union()?;
        Ok((0..union.members).map(move |index| {
            let (label, name, of) = union.next()?;
            Ok(((union.default != Some(index)).then_some(label), name, of))
        }))
    }

    /// Returns the names of an enum's values, in order.
    ///
    /// # Errors
    /// [`CdrErrorKind::TypeCodeInvalid`]: it is of another kind, or malformed.
    pub fn enumerators(
        &self,
    ) -> Result<impl ExactSizeIterator<Item = Result<&'a str, CdrError>> + use<'a>, CdrError> {
        if self.kind()? != Kind::Enum {
            return Err(self.invalid());
        }
        let names = self.unread_enumerators()?;
        Ok(names.map(|name| name?.read()))
    }

    /// The names of an enum's values, which are read on request only.
    pub(crate) fn unread_enumerators(
        &self,
    ) -> Result<impl ExactSizeIterator<Item = Result<Name<'a>, CdrError>> + use<'a>, CdrError> {
        if self.kind()? != Kind::Enum {
            return Err(self.invalid());
        }
        let mut parameters = self.named_parameters()?;
        let count = parameters.decoder.length(5)?;
        Ok((0..count).map(move |_| Name::pass(&mut parameters.decoder)))
    }

    /// Returns the type of a sequence's or an array's elements, and the aliased type of a typedef.
    ///
    /// # Errors
    /// [`CdrErrorKind::TypeCodeInvalid`]: it is of another kind, or malformed.
    pub fn content(&self) -> Result<TypeCodeView<'a>, CdrError> {
        match self.kind()? {
            Kind::Sequence | Kind::Array => self.parameters()?.type_code(),
            Kind::Alias | Kind::ValueBox => self.named_parameters()?.type_code(),
            _ => Err(self.invalid()),
        }
    }

    /// Returns the bound of a string or sequence, 0 if it has none, or the length of an array.
    ///
    /// # Errors
    /// [`CdrErrorKind::TypeCodeInvalid`]: it is of another kind, or malformed.
    pub fn length(&self) -> Result<u32, CdrError> {
        match self.kind()? {
            Kind::String | Kind::WString => self.number(4),
            Kind::Sequence | Kind::Array => {
                let mut parameters = self.parameters()?;
                parameters.type_code()?;
                u32::decode(&mut parameters.decoder)
            }
            _ => Err(self.invalid()),
        }
    }

    /// Returns the digits and the scale of a `fixed`.
    ///
    /// # Errors
    /// [`CdrErrorKind::TypeCodeInvalid`]: it is of another kind, or malformed.
    pub fn digits_and_scale(&self) -> Result<(u16, i16), CdrError> {
        if self.kind()? != Kind::Fixed {
            return Err(self.invalid());
        }
        let mut decoder = self.decoder()?;
        u32::decode(&mut decoder)?;
        Ok((u16::decode(&mut decoder)?, i16::decode(&mut decoder)?))
    }

    /// Returns the type behind typedefs.
    ///
    /// # Errors
    /// [`CdrErrorKind::TypeCodeInvalid`]: it is malformed; [`CdrErrorKind::NestingTooDeep`]: too many
    /// typedefs.
    pub fn resolved(&self) -> Result<TypeCodeView<'a>, CdrError> {
        self.resolved_in_steps(|| Ok(()))
    }

    /// Like [`Self::resolved`], calling `step` for each typedef.
    pub(crate) fn resolved_in_steps(
        &self,
        mut step: impl FnMut() -> Result<(), CdrError>,
    ) -> Result<TypeCodeView<'a>, CdrError> {
        let mut resolved = *self;
        for _ in 0..MAX_DEPTH {
            if resolved.kind()? != Kind::Alias {
                return Ok(resolved);
            }
            step()?;
            resolved = resolved.content()?;
        }
        Err(resolved.error(CdrErrorKind::NestingTooDeep))
    }

    /// Offset that identifies this type code within its root, for recursion.
    pub(crate) fn place(&self) -> (usize, usize) {
        (self.root.as_ptr() as usize, self.at)
    }

    /// The octets of this type code, without those of the enclosing ones; `None` if they refer to an
    /// enclosing type code.
    pub(crate) fn whole(&self) -> Option<&'a [u8]> {
        (self.at == 0).then_some(self.root)
    }

    pub(crate) fn endian(&self) -> Endian {
        self.endian
    }

    /// Octets of the outermost type code.
    pub(crate) fn size(&self) -> usize {
        self.root.len()
    }

    fn is_named(&self) -> Result<bool, CdrError> {
        let kind = self.kind()?;
        Ok(kind.parameters() == Parameters::Encapsulation && !matches!(kind, Kind::Sequence | Kind::Array))
    }

    /// The parameters behind repository id and name.
    pub(crate) fn named_parameters(&self) -> Result<ParametersView<'a>, CdrError> {
        let mut parameters = self.parameters()?;
        Name::pass(&mut parameters.decoder)?;
        Name::pass(&mut parameters.decoder)?;
        Ok(parameters)
    }

    /// The encapsulated parameters.
    pub(crate) fn parameters(&self) -> Result<ParametersView<'a>, CdrError> {
        let length = self.number(4)? as usize;
        let base = self.at + 8;
        let octets = self.root.get(base..).and_then(|octets| octets.get(..length));
        let octets = octets.ok_or_else(|| self.invalid())?;
        let flag = *octets.first().ok_or_else(|| self.invalid())?;
        Ok(ParametersView {
            root: self.root,
            base,
            decoder: Decoder::new(octets, Endian::from_flag(flag)).at(1),
        })
    }

    /// The number at this offset from the kind. Walks read one at each step: no decoder is made for it.
    fn number(&self, offset: usize) -> Result<u32, CdrError> {
        let octets = self.root.get(self.at + offset..).and_then(<[u8]>::first_chunk);
        match (octets, self.endian) {
            (Some(octets), Endian::Big) => Ok(u32::from_be_bytes(*octets)),
            (Some(octets), Endian::Little) => Ok(u32::from_le_bytes(*octets)),
            (None, _) => Err(self.error(CdrErrorKind::Truncated)),
        }
    }

    fn decoder(&self) -> Result<Decoder<'a>, CdrError> {
        let octets = self.root.get(self.at..).ok_or_else(|| self.invalid())?;
        Ok(Decoder::new(octets, self.endian))
    }

    #[cold]
    pub(crate) fn invalid(&self) -> CdrError {
        self.error(CdrErrorKind::TypeCodeInvalid)
    }

    #[cold]
    pub(crate) fn error(&self, kind: CdrErrorKind) -> CdrError {
        CdrError {
            kind,
            offset: self.at,
        }
    }
}

/// Least octets of the description of a value type's member: name, type and visibility.
const MEMBER_OF_VALUE: usize = 11;

/// Name of a boxed value type's only member.
pub(crate) const BOXED: &str = "value";

/// Octets of ids and names that count as one type code, where type codes are copied or compared.
pub(crate) const NAME_OCTETS_PER_STEP: usize = 64;

/// Enumerators that count as one type code there, besides their names.
pub(crate) const ENUMERATORS_PER_STEP: usize = 8;

/// Depth to which type codes and values of type codes may be nested.
pub(crate) const MAX_DEPTH: u16 = Decoder::DEFAULT_NESTING_LIMIT;

/// The parameters of a type code, from which nested type codes are read.
#[derive(Clone)]
pub(crate) struct ParametersView<'a> {
    root: &'a [u8],
    /// Offset of the encapsulation in the root.
    base: usize,
    pub(crate) decoder: Decoder<'a>,
}

impl<'a> ParametersView<'a> {
    /// Reads a nested type code, or the enclosing one to which an indirection refers.
    pub(crate) fn type_code(&mut self) -> Result<TypeCodeView<'a>, CdrError> {
        let decoder = &mut self.decoder;
        decoder.align(4)?;
        let at = self.base + decoder.position();
        let endian = decoder.endian();
        let number = u32::decode(decoder)?;
        if number == INDIRECTION {
            return self.indirection(at + 4);
        }
        let kind = Kind::from_number(number).ok_or_else(|| decoder.error(CdrErrorKind::TypeCodeInvalid))?;
        pass_parameters(kind, decoder)?;
        Ok(TypeCodeView {
            root: self.root,
            at,
            endian,
        })
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, CdrError> {
        Name::pass(&mut self.decoder)?.read()
    }

    /// Follows the offset at `at`, which counts from itself.
    fn indirection(&mut self, at: usize) -> Result<TypeCodeView<'a>, CdrError> {
        let offset = i32::decode(&mut self.decoder)?;
        let invalid = || CdrError {
            kind: CdrErrorKind::TypeCodeInvalid,
            offset: at,
        };
        let back = usize::try_from(offset.unsigned_abs()).map_err(|_| invalid())?;
        let target = at
            .checked_sub(back)
            .filter(|target| offset < -4 && target % 4 == 0);
        let target = target.ok_or_else(invalid)?;
        let number: [u8; 4] = self.root[target..target + 4].try_into().map_err(|_| invalid())?;
        // The byte order is that of the target's encapsulation. Kinds are small numbers in it only.
        let endian = [Endian::Little, Endian::Big]
            .into_iter()
            .find(|endian| {
                let number = match endian {
                    Endian::Little => u32::from_le_bytes(number),
                    Endian::Big => u32::from_be_bytes(number),
                };
                Kind::from_number(number).is_some()
            })
            .ok_or_else(invalid)?;
        Ok(TypeCodeView {
            root: self.root,
            at: target,
            endian,
        })
    }
}

/// The description of a value type.
pub(crate) struct ValueView<'a> {
    pub(crate) is_custom: bool,
    pub(crate) is_truncatable: bool,
    pub(crate) base: Option<TypeCodeView<'a>>,
    pub(crate) members: usize,
    parameters: ParametersView<'a>,
}

impl<'a> ValueView<'a> {
    /// Reads the next member: its name and type.
    pub(crate) fn next(&mut self) -> Result<(Name<'a>, TypeCodeView<'a>), CdrError> {
        let name = Name::pass(&mut self.parameters.decoder)?;
        let of = self.parameters.type_code()?;
        i16::decode(&mut self.parameters.decoder)?;
        Ok((name, of))
    }
}

/// A union's description.
pub(crate) struct UnionView<'a> {
    pub(crate) discriminator: TypeCodeView<'a>,
    /// Kind of the discriminator behind typedefs.
    pub(crate) label_kind: Kind,
    /// Index of the member for all other discriminators.
    pub(crate) default: Option<usize>,
    pub(crate) members: usize,
    parameters: ParametersView<'a>,
}

impl<'a> UnionView<'a> {
    /// Reads the next member: its label, name and type.
    pub(crate) fn next(&mut self) -> Result<(i128, &'a str, TypeCodeView<'a>), CdrError> {
        let (label, name, of) = self.next_unread()?;
        Ok((label, name.read()?, of))
    }

    /// Like [`Self::next`]; the name is read on request only.
    pub(crate) fn next_unread(&mut self) -> Result<(i128, Name<'a>, TypeCodeView<'a>), CdrError> {
        let label = discriminator(self.label_kind, &mut self.parameters.decoder)?;
        let name = Name::pass(&mut self.parameters.decoder)?;
        Ok((label, name, self.parameters.type_code()?))
    }

    /// Finds the member that a discriminator selects.
    pub(crate) fn select(&mut self, chosen: i128) -> Result<Selected<'a>, CdrError> {
        let mut default = None;
        for index in 0..self.members {
            let (label, name, of) = self.next_unread()?;
            if self.default == Some(index) {
                default = Some((name, of));
            } else if label == chosen {
                return Ok(Selected {
                    labels: index + 1,
                    member: Some((name, of)),
                });
            }
        }
        Ok(Selected {
            labels: self.members,
            member: default,
        })
    }
}

/// The member that a discriminator selects.
pub(crate) struct Selected<'a> {
    /// Number of labels that were read to find it.
    pub(crate) labels: usize,
    pub(crate) member: Option<(Name<'a>, TypeCodeView<'a>)>,
}

/// Reads a union's discriminator or label.
pub(crate) fn discriminator(kind: Kind, decoder: &mut Decoder<'_>) -> Result<i128, CdrError> {
    Ok(match kind {
        Kind::Boolean | Kind::Char | Kind::Octet => u8::decode(decoder)?.into(),
        Kind::Short => i16::decode(decoder)?.into(),
        Kind::UShort => u16::decode(decoder)?.into(),
        Kind::Long => i32::decode(decoder)?.into(),
        Kind::ULong | Kind::Enum => u32::decode(decoder)?.into(),
        Kind::LongLong => i64::decode(decoder)?.into(),
        Kind::ULongLong => u64::decode(decoder)?.into(),
        Kind::WChar => u32::from(WChar::decode(decoder)?.0).into(),
        _ => return Err(decoder.error(CdrErrorKind::TypeCodeInvalid)),
    })
}

/// Passes over the parameters: the bound, or the length of an encapsulation, and other octets.
fn pass_parameters<'a>(kind: Kind, decoder: &mut Decoder<'a>) -> Result<(Option<u32>, &'a [u8]), CdrError> {
    Ok(match kind.parameters() {
        Parameters::None => (None, &[]),
        Parameters::Bound => (Some(u32::decode(decoder)?), &[]),
        Parameters::Fixed => (None, decoder.octets(4)?),
        Parameters::Encapsulation => {
            let length = decoder.length(1)?;
            (Some(length as u32), decoder.octets(length)?)
        }
    })
}

/// A repository id or name, passed over in constant time: its octets are checked when it is read.
#[derive(Clone, Copy)]
pub(crate) struct Name<'a> {
    pub(crate) octets: &'a [u8],
    at: usize,
}

impl<'a> Name<'a> {
    pub(crate) fn pass(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        let length = decoder.length(1)?;
        let octets = decoder.octets(length)?;
        Ok(Self {
            octets: octets.split_last().map_or(octets, |(_, name)| name),
            at: decoder.position(),
        })
    }

    /// Ids and names are ASCII.
    pub(crate) fn read(&self) -> Result<&'a str, CdrError> {
        match core::str::from_utf8(self.octets) {
            Ok(name) if name.is_ascii() => Ok(name),
            _ => Err(CdrError {
                kind: CdrErrorKind::TypeCodeInvalid,
                offset: self.at,
            }),
        }
    }
}

/// Lent from the message, whose octets it reads when its parts are requested.
impl<'a> Decode<'a> for TypeCodeView<'a> {
    const MIN_SIZE: usize = 4;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        decoder.align(4)?;
        let start = decoder.position();
        let number = u32::decode(decoder)?;
        let kind = Kind::from_number(number).ok_or_else(|| decoder.error(CdrErrorKind::TypeCodeInvalid))?;
        let (length, octets) = pass_parameters(kind, decoder)?;
        let mut root = decoder.passed(start);
        if root.len() != 4 + length.map_or(0, |_| 4) + octets.len() {
            root = joined(number, length, octets, decoder)?;
        }
        Ok(Self {
            root,
            at: 0,
            endian: decoder.endian(),
        })
    }
}

/// Copies a type code that is in several chunks of a value, or fragments of a message, to the arena.
#[cold]
fn joined<'a>(
    number: u32,
    length: Option<u32>,
    octets: &[u8],
    decoder: &mut Decoder<'a>,
) -> Result<&'a [u8], CdrError> {
    let mut copy = Vec::new();
    let mut encoder = Encoder::new(&mut copy, decoder.endian());
    number.encode(&mut encoder)?;
    length.map_or(Ok(()), |length| length.encode(&mut encoder))?;
    encoder.octets(octets)?;
    decoder.lend_copy(&copy).map_err(|error| match error.kind {
        // There is no arena.
        CdrErrorKind::DecoderIncomplete => decoder.error(CdrErrorKind::TypeUnsupported),
        _ => error,
    })
}

impl Encode for TypeCodeView<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        match self.whole() {
            Some(octets) => encode_whole(self, octets, encoder),
            None => self.to_owned()?.encode(encoder),
        }
    }
}

/// Writes an outermost type code: what is in an encapsulation is copied, with its own byte order.
fn encode_whole(code: &TypeCodeView<'_>, octets: &[u8], encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
    let kind = code.kind()?;
    (kind as u32).encode(encoder)?;
    match kind.parameters() {
        Parameters::None => Ok(()),
        Parameters::Bound => code.length()?.encode(encoder),
        Parameters::Fixed => {
            let (digits, scale) = code.digits_and_scale()?;
            digits.encode(encoder)?;
            scale.encode(encoder)
        }
        Parameters::Encapsulation => {
            let parameters = octets.get(8..).ok_or_else(|| code.invalid())?;
            encoder.length(parameters.len())?;
            encoder.octets(parameters)
        }
    }
}

impl Encode for TypeCode {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        if !self.open.is_empty() {
            return Err(encoder.error(CdrErrorKind::TypeCodeInvalid));
        }
        self.view().encode(encoder)
    }
}

impl<'a> Decode<'a> for TypeCode {
    const MIN_SIZE: usize = 4;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
        TypeCodeView::decode(decoder)?.to_owned()
    }
}

impl PartialEq for TypeCode {
    /// Whether the descriptions are equal, names included.
    fn eq(&self, other: &Self) -> bool {
        self.octets == other.octets || self.view().equal(&other.view())
    }
}

impl fmt::Debug for TypeCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for TypeCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.view(), f)
    }
}

impl fmt::Debug for TypeCodeView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
