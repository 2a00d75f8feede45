use core::fmt;

use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

/// Why a value could not be encoded or decoded, and where.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CdrError {
    /// What is wrong.
    pub kind: CdrErrorKind,
    /// The octet at which it was found, counted from the start of the message or encapsulation.
    pub offset: usize,
}

impl CdrError {
    /// The system exception a peer or caller gets for this.
    #[cold]
    pub fn system_exception(self, completed: Completion) -> SystemException {
        let (kind, minor) = self.kind.system();
        SystemException::new(kind, minor, completed)
    }
}

impl fmt::Display for CdrError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (_, minor) = self.kind.system();
        write!(
            f,
            "at octet {}: {}",
            self.offset,
            minor.text().unwrap_or("malformed value")
        )
    }
}

impl core::error::Error for CdrError {}

/// What is wrong with a value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CdrErrorKind {
    /// A boolean is neither 0 nor 1.
    BooleanInvalid,
    /// A bounded string or sequence exceeds its bound.
    BoundExceeded,
    /// An enum value has no enumerator.
    EnumOutOfRange,
    /// A length exceeds what follows it.
    LengthImpossible,
    /// Values are nested deeper than the limit.
    NestingTooDeep,
    /// A string lacks its final NUL or has another inside.
    StringUnterminated,
    /// Octets are not text in the code set in use.
    TextInvalid,
    /// A character does not exist in the code set in use.
    TextNotInCodeSet,
    /// A reference cannot be bound: no profile of it is well formed.
    ReferenceMalformed,
    /// The message would exceed the limit.
    TooLarge,
    /// The data ends before the value.
    Truncated,
    /// The discriminator does not select the member that is set.
    UnionLabelMismatch,
    /// The value cannot be represented on the wire, such as a string with a NUL in it.
    ValueNotRepresentable,
    /// The owner of the decoder gave it no arena, or no ORB to bind a reference with: a fault of this ORB.
    DecoderIncomplete,
}

impl CdrErrorKind {
    fn system(self) -> (SystemExceptionKind, Minor) {
        use SystemExceptionKind as Kind;
        match self {
            Self::BooleanInvalid => (Kind::Marshal, Minor::BOOLEAN_INVALID),
            Self::BoundExceeded => (Kind::Marshal, Minor::BOUND_EXCEEDED),
            Self::EnumOutOfRange => (Kind::Marshal, Minor::ENUM_OUT_OF_RANGE),
            Self::LengthImpossible => (Kind::Marshal, Minor::LENGTH_IMPOSSIBLE),
            Self::NestingTooDeep => (Kind::ImpLimit, Minor::NESTING_TOO_DEEP),
            Self::StringUnterminated => (Kind::Marshal, Minor::STRING_UNTERMINATED),
            Self::ReferenceMalformed => (Kind::InvObjref, Minor::REFERENCE_MALFORMED),
            Self::TextInvalid => (Kind::DataConversion, Minor::TEXT_INVALID),
            Self::TextNotInCodeSet => (Kind::DataConversion, Minor::TEXT_NOT_IN_CODE_SET),
            Self::TooLarge => (Kind::ImpLimit, Minor::MESSAGE_TOO_LARGE),
            Self::Truncated => (Kind::Marshal, Minor::MESSAGE_TRUNCATED),
            Self::UnionLabelMismatch => (Kind::BadParam, Minor::UNION_LABEL_MISMATCH),
            Self::ValueNotRepresentable => (Kind::BadParam, Minor::VALUE_NOT_REPRESENTABLE),
            Self::DecoderIncomplete => (Kind::Internal, Minor::NONE),
        }
    }
}
