//! Errors of encoding and decoding.

use core::fmt;

use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

/// A value that could not be encoded or decoded, and its position.
///
/// ```
/// # mod punctual { pub(crate) use {punctual_cdr as rt, punctual_cdr as value, punctual_types::*}; }
/// use punctual::{Completion, SystemExceptionKind, rt::CdrErrorKind, value::{Decode, Decoder, Endian}};
///
/// // A string of 100 octets is announced, and two follow.
/// let message = [100, 0, 0, 0, b'h', b'i'];
/// let error = String::decode(&mut Decoder::new(&message, Endian::Little)).unwrap_err();
/// assert_eq!(error.kind, CdrErrorKind::LengthImpossible);
/// let exception = error.system_exception(Completion::No);
/// assert_eq!(exception.kind, SystemExceptionKind::Marshal);
/// ```
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct CdrError {
    /// The kind of error.
    pub kind: CdrErrorKind,
    /// Offset of the error in octets from the start of the message or encapsulation.
    pub offset: usize,
}

punctual_types::debug_as_display!(CdrError);

impl CdrError {
    /// Returns the system exception that reports this error to a peer or caller.
    #[cold]
    pub fn system_exception(self, completed: Completion) -> SystemException {
        SystemException::new(self.kind.exception(), self.kind.minor(), completed)
    }
}

impl fmt::Display for CdrError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.kind.minor().meaning(self.kind.exception());
        let text = text.unwrap_or("malformed value");
        write!(f, "at octet {}: {text}", self.offset)
    }
}

impl core::error::Error for CdrError {}

/// The kinds of [`CdrError`].
///
/// ```
/// # mod punctual { pub(crate) use {punctual_cdr as rt, punctual_cdr as value}; }
/// use punctual::{rt::CdrErrorKind, value::{CdrError, Decode, Decoder, Endian}};
///
/// /// An enum of two enumerators, as generated code decodes it.
/// fn is_tracking(decoder: &mut Decoder<'_>) -> Result<bool, CdrError> {
///     match u32::decode(decoder)? {
///         0 => Ok(false),
///         1 => Ok(true),
///         _ => Err(decoder.error(CdrErrorKind::EnumOutOfRange)),
///     }
/// }
/// let error = is_tracking(&mut Decoder::new(&[0, 0, 0, 7], Endian::Big)).unwrap_err();
/// assert_eq!(error.kind, CdrErrorKind::EnumOutOfRange);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CdrErrorKind {
    /// A boolean is neither 0 nor 1.
    BooleanInvalid,
    /// A bounded string or sequence exceeds its bound.
    BoundExceeded,
    /// The decoded values would take more memory than the limit allows.
    DecodedTooLarge,
    /// An enum value has no enumerator.
    EnumOutOfRange,
    /// The octets of a `fixed` are no digits and sign, or too many.
    FixedInvalid,
    /// A map has the same key twice.
    KeyRepeated,
    /// A length exceeds the data that follows it.
    LengthImpossible,
    /// Values are nested deeper than the limit.
    NestingTooDeep,
    /// The decoded values need more memory than is available.
    OutOfMemory,
    /// A string lacks its final NUL or has another inside.
    StringUnterminated,
    /// Octets are not text in the code set in use.
    TextInvalid,
    /// A character does not exist in the code set in use.
    TextNotInCodeSet,
    /// A reference cannot be bound because none of its profiles is well formed.
    ReferenceMalformed,
    /// The message would exceed the limit.
    TooLarge,
    /// The data ends before the value.
    Truncated,
    /// A type code is malformed, or describes a value without end.
    TypeCodeInvalid,
    /// Values of this form are not supported, such as local objects in an `any`.
    TypeUnsupported,
    /// The discriminator does not select the member that is set.
    UnionLabelMismatch,
    /// A value refers to one that contains it, with a reference that may not close a circle.
    ValueCyclic,
    /// Tags, chunks or indirections of a value are malformed.
    ValueMalformed,
    /// A value in a circle is being released, or nothing keeps it.
    ValueReleased,
    /// A value has a type that is not known, and cannot be truncated to one that is.
    ValueTypeUnknown,
    /// The value cannot be represented on the wire, such as a string with a NUL in it.
    ValueNotRepresentable,
    /// A reply of GIOP 1.0 cannot contain wide text.
    WideTextInReply,
    /// A request of GIOP 1.0 cannot contain wide text.
    WideTextInRequest,
    /// The peer has stated no code set for wide text.
    WideTextWithoutCodeSet,
    /// The decoder has no arena, or no ORB with which to bind a reference: an internal error of the ORB.
    DecoderIncomplete,
}

impl CdrErrorKind {
    fn exception(self) -> SystemExceptionKind {
        match self {
            Self::WideTextInReply | Self::WideTextInRequest => SystemExceptionKind::Marshal,
            Self::WideTextWithoutCodeSet => SystemExceptionKind::InvObjref,
            _ => self.minor().kind().unwrap_or(SystemExceptionKind::Internal),
        }
    }

    fn minor(self) -> Minor {
        match self {
            Self::BooleanInvalid => Minor::BOOLEAN_INVALID,
            Self::BoundExceeded => Minor::BOUND_EXCEEDED,
            Self::DecodedTooLarge => Minor::DECODED_TOO_LARGE,
            Self::DecoderIncomplete => Minor::NONE,
            Self::EnumOutOfRange => Minor::ENUM_OUT_OF_RANGE,
            Self::FixedInvalid => Minor::FIXED_INVALID,
            Self::KeyRepeated => Minor::KEY_REPEATED,
            Self::LengthImpossible => Minor::LENGTH_IMPOSSIBLE,
            Self::NestingTooDeep => Minor::NESTING_TOO_DEEP,
            Self::OutOfMemory => Minor::OUT_OF_MEMORY,
            Self::ReferenceMalformed => Minor::REFERENCE_MALFORMED,
            Self::StringUnterminated => Minor::STRING_UNTERMINATED,
            Self::TextInvalid => Minor::TEXT_INVALID,
            Self::TextNotInCodeSet => Minor::TEXT_NOT_IN_CODE_SET,
            Self::TooLarge => Minor::MESSAGE_TOO_LARGE,
            Self::Truncated => Minor::MESSAGE_TRUNCATED,
            Self::TypeCodeInvalid => Minor::TYPE_CODE_INVALID,
            Self::TypeUnsupported => Minor::TYPE_UNSUPPORTED,
            Self::UnionLabelMismatch => Minor::UNION_LABEL_MISMATCH,
            Self::ValueCyclic => Minor::VALUE_CYCLIC,
            Self::ValueMalformed => Minor::VALUE_MALFORMED,
            Self::ValueReleased => Minor::VALUE_RELEASED,
            Self::ValueTypeUnknown => Minor::VALUE_TYPE_UNKNOWN,
            Self::ValueNotRepresentable => Minor::VALUE_NOT_REPRESENTABLE,
            Self::WideTextInReply => Minor::OMG_WIDE_TEXT_IN_REPLY,
            Self::WideTextInRequest => Minor::OMG_WIDE_TEXT_IN_REQUEST,
            Self::WideTextWithoutCodeSet => Minor::OMG_NO_WIDE_CODE_SET,
        }
    }
}
