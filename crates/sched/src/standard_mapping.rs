//! Priority mappings by name.

use alloc::{borrow::ToOwned, boxed::Box, string::String};
use core::{fmt, ops::RangeInclusive, str::FromStr};

use crate::{ContinuousMapping, DirectMapping, LinearMapping, PriorityMapping};

/// Priority mappings that configurations select by name: `linear`, `direct`, `continuous`, as TAO's
/// `-ORBPriorityMapping`.
///
/// ```
/// # mod punctual { pub use {punctual_sched::*, punctual_types::*}; }
/// use punctual::{NativePriority, Priority, StandardMapping};
///
/// let name: StandardMapping = "continuous".parse()?;
/// assert_eq!(name.over(1..=99).to_native(Priority::MIN), Some(NativePriority(1)));
/// assert_eq!(name.to_string(), "continuous");
/// # Ok::<(), punctual_sched::UnknownMapping>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum StandardMapping {
    /// [`LinearMapping`].
    #[default]
    Linear,
    /// [`DirectMapping`].
    Direct,
    /// [`ContinuousMapping`].
    Continuous,
}

impl StandardMapping {
    const ALL: [(Self, &'static str); 3] = [
        (Self::Linear, "linear"),
        (Self::Direct, "direct"),
        (Self::Continuous, "continuous"),
    ];

    /// Creates the mapping onto these native priorities.
    ///
    /// # Panics
    /// If the range is empty.
    ///
    /// ```
    /// # mod punctual { pub use {punctual_sched::*, punctual_types::*}; }
    /// use punctual::{NativePriority, Priority, StandardMapping};
    ///
    /// let mapping = StandardMapping::Linear.over(1..=99);
    /// assert_eq!(mapping.to_native(Priority::MAX), Some(NativePriority(99)));
    /// ```
    pub fn over(self, native: RangeInclusive<i16>) -> Box<dyn PriorityMapping> {
        match self {
            Self::Linear => Box::new(LinearMapping::new(native)),
            Self::Direct => Box::new(DirectMapping::new(native)),
            Self::Continuous => Box::new(ContinuousMapping::new(native)),
        }
    }
}

impl fmt::Display for StandardMapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = Self::ALL.iter().find(|(mapping, _)| mapping == self);
        f.write_str(known.map_or("", |(_, name)| name))
    }
}

impl FromStr for StandardMapping {
    type Err = UnknownMapping;

    fn from_str(text: &str) -> Result<Self, UnknownMapping> {
        let known = Self::ALL.iter().find(|(_, name)| *name == text);
        known
            .map(|(mapping, _)| *mapping)
            .ok_or_else(|| UnknownMapping(text.to_owned()))
    }
}

/// A text that is not the name of a priority mapping.
///
/// ```
/// # use punctual_sched as punctual;
/// use punctual::StandardMapping;
///
/// let error = "linar".parse::<StandardMapping>().unwrap_err();
/// assert_eq!(error.to_string(), "unknown priority mapping `linar`; use `linear`, `direct` or `continuous`");
/// ```
#[derive(Clone, Eq, PartialEq)]
pub struct UnknownMapping(pub String);

punctual_types::debug_as_display!(UnknownMapping);

impl fmt::Display for UnknownMapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "unknown priority mapping `{}`; use `linear`, `direct` or `continuous`",
            self.0
        )
    }
}

impl core::error::Error for UnknownMapping {}
