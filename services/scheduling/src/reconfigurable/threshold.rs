//! Thresholds of admission.

/// A threshold that is no utilisation.
#[derive(Clone, Copy, PartialEq, thiserror::Error)]
#[error("{0} is not a utilisation; expected 0 to 1")]
pub struct InvalidThreshold(pub f64);

punctual_types::debug_as_display!(InvalidThreshold);

impl InvalidThreshold {
    pub(super) fn check(threshold: f64) -> Result<(), Self> {
        match (0.0..=1.0).contains(&threshold) {
            true => Ok(()),
            false => Err(Self(threshold)),
        }
    }
}
