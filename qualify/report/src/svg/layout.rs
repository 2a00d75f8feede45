//! Dimensions that several parts of a figure share.

/// Width of a figure. It is drawn at twice its display size because the library rounds to whole units.
pub(super) const WIDTH: i32 = 1440;
/// Left edge of the plot.
pub(super) const LEFT: i32 = 140;
/// Size of text.
pub(super) const TEXT_SIZE: f64 = 32.0;
