//! Conditions of the system, as they were measured last.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

/// A named value that one part of a program measures and others read: latency, bandwidth, missed deadlines,
/// use of the CPU. Clones share the value.
///
/// Setting and reading take no lock and do not allocate, so that lanes may do both.
///
/// ```
/// use punctual_qos::Condition;
///
/// let latency = Condition::new("latency_ms");
/// let measured_by_a_lane = latency.clone();
/// measured_by_a_lane.set(12.5);
/// assert_eq!(latency.value(), Some(12.5));
/// ```
#[derive(Clone, Debug)]
pub struct Condition {
    name: Arc<str>,
    bits: Arc<AtomicU64>,
}

impl Condition {
    /// Creates a condition that has not been measured yet. The name should end with the unit.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            bits: Arc::new(AtomicU64::new(f64::NAN.to_bits())),
        }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sets the value. NaN stands for "not measured".
    pub fn set(&self, value: f64) {
        self.bits.store(value.to_bits(), Relaxed);
    }

    /// Sets the value to the mean of the old one and `value`, in which `value` has this weight, 0 to 1.
    pub fn smooth(&self, value: f64, weight: f64) {
        let next = |bits| {
            let old = f64::from_bits(bits);
            let mean = if old.is_nan() {
                value
            } else {
                old + (value - old) * weight
            };
            Some(mean.to_bits())
        };
        // It always has a next value, so this cannot fail.
        let _ = self.bits.fetch_update(Relaxed, Relaxed, next);
    }

    /// Adds to the value, for example to count missed deadlines.
    pub fn add(&self, value: f64) {
        let next = |bits| {
            let old = f64::from_bits(bits);
            let sum = if old.is_nan() { value } else { old + value };
            Some(sum.to_bits())
        };
        let _ = self.bits.fetch_update(Relaxed, Relaxed, next);
    }

    /// Returns the value; `None` before the first measurement.
    pub fn value(&self) -> Option<f64> {
        let value = f64::from_bits(self.bits.load(Relaxed));
        (!value.is_nan()).then_some(value)
    }

    /// Returns whether both are the same condition, not only of the same name.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.bits, &other.bits)
    }
}
