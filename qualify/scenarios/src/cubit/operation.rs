//! The operations that are measured.

use serde::{Deserialize, Serialize};

/// An operation with its argument, as a row of the results.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub(crate) enum Operation {
    Void,
    Octet,
    Short,
    Long,
    Struct,
    String,
    SmallLongSequence,
    LargeLongSequence,
    LargeOctetSequence,
    SmallManySequence,
    AnyStruct,
    Oneway,
}

/// All operations, in the order of the rows.
pub(super) const OPERATIONS: &[Operation] = &[
    Operation::Void,
    Operation::Octet,
    Operation::Short,
    Operation::Long,
    Operation::Struct,
    Operation::String,
    Operation::SmallLongSequence,
    Operation::LargeLongSequence,
    Operation::LargeOctetSequence,
    Operation::SmallManySequence,
    Operation::AnyStruct,
    Operation::Oneway,
];

impl Operation {
    /// Name in rows.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Void => "cube_void",
            Self::Octet => "cube_octet",
            Self::Short => "cube_short",
            Self::Long => "cube_long",
            Self::Struct => "cube_struct",
            Self::String => "cube_string",
            Self::SmallLongSequence => "cube_long_sequence_4",
            Self::LargeLongSequence => "cube_long_sequence_1024",
            Self::LargeOctetSequence => "cube_octet_sequence_4096",
            Self::SmallManySequence => "cube_many_sequence_4",
            Self::AnyStruct => "cube_any_struct",
            Self::Oneway => "cube_oneway",
        }
    }

    /// Name in IDL.
    pub(super) fn idl_name(self) -> &'static str {
        match self {
            Self::SmallLongSequence | Self::LargeLongSequence => "cube_long_sequence",
            Self::LargeOctetSequence => "cube_octet_sequence",
            Self::SmallManySequence => "cube_many_sequence",
            Self::AnyStruct => "cube_any",
            _ => self.name(),
        }
    }

    /// Returns `twoway` or `oneway`.
    pub(super) fn mode(self) -> &'static str {
        if self == Self::Oneway { "oneway" } else { "twoway" }
    }
}
