//! Time spans with units.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// A time span in a file: a number with a unit, exact to the nanosecond.
///
/// Units: `ns`, `us` (or `µs`), `ms`, `s`, `min`. The space before the unit is optional.
///
/// ```
/// use std::time::Duration;
///
/// use punctual_toml::Span;
///
/// assert_eq!("10 ms".parse(), Ok(Span(Duration::from_millis(10))));
/// assert_eq!("2.5us".parse(), Ok(Span(Duration::from_nanos(2_500))));
/// assert_eq!(Span(Duration::from_micros(1_500)).to_string(), "1500 us");
/// assert!("10".parse::<Span>().unwrap_err().to_string().contains("such as \"10 ms\""));
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub struct Span(pub Duration);

impl Span {
    /// Returns the nanoseconds, saturating at `u64::MAX` (584 years).
    pub fn nanoseconds(self) -> u64 {
        u64::try_from(self.0.as_nanos()).unwrap_or(u64::MAX)
    }

    /// Returns whether the span is empty.
    pub fn is_zero(&self) -> bool {
        self.0.is_zero()
    }
}

/// Units in descending order, with their nanoseconds.
const UNITS: [(&str, u64); 6] = [
    ("min", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("µs", 1_000),
    ("ns", 1),
];

impl FromStr for Span {
    type Err = BadSpan;

    fn from_str(text: &str) -> Result<Self, BadSpan> {
        let bad = || BadSpan(text.to_owned());
        let trimmed = text.trim();
        let end = trimmed
            .find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_')
            .ok_or_else(bad)?;
        let (number, unit) = (trimmed[..end].replace('_', ""), trimmed[end..].trim_start());
        let (_, scale) = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(bad)?;
        let (whole, fraction) = number.split_once('.').unwrap_or((&number, "0"));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
        if !digits(whole) || !digits(fraction) {
            return Err(bad());
        }
        let scale = u128::from(*scale);
        let whole = whole
            .parse::<u128>()
            .ok()
            .and_then(|whole| whole.checked_mul(scale));
        // Digits beyond nanoseconds are an error unless they are zero.
        let fraction = fraction.trim_end_matches('0');
        let denominator = 10u128.checked_pow(u32::try_from(fraction.len()).map_err(|_| bad())?);
        let parts = if fraction.is_empty() {
            Some(0)
        } else {
            fraction.parse().ok()
        };
        let parts = parts.and_then(|parts: u128| parts.checked_mul(scale));
        let (Some(whole), Some(denominator), Some(parts)) = (whole, denominator, parts) else {
            return Err(bad());
        };
        if parts % denominator != 0 {
            return Err(bad());
        }
        let nanoseconds = u64::try_from(whole + parts / denominator).map_err(|_| bad())?;
        Ok(Self(Duration::from_nanos(nanoseconds)))
    }
}

/// Uses the largest unit, up to seconds, in which the span is a whole number.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanoseconds = self.nanoseconds();
        let fits = |(_, scale): &&(&str, u64)| nanoseconds > 0 && nanoseconds.is_multiple_of(*scale);
        let (unit, scale) = UNITS[1..].iter().find(fits).unwrap_or(&("ns", 1));
        write!(f, "{} {unit}", nanoseconds / scale)
    }
}

/// A text that is not a time span.
#[derive(Clone, Eq, PartialEq, thiserror::Error)]
#[error(
    "invalid time span `{0}`; write a number and one of ns, us, ms, s, min, such as \"10 ms\", in whole \
     nanoseconds"
)]
pub struct BadSpan(pub String);

punctual_types::debug_as_display!(BadSpan);

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Span;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time span with its unit, such as \"10 ms\"")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Span, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Visitor).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_units_are_exact() {
        for (text, nanoseconds) in [
            ("0 ns", 0),
            ("0s", 0),
            ("1ns", 1),
            ("  7 us ", 7_000),
            ("7 µs", 7_000),
            ("0.001 us", 1),
            ("1.50 ms", 1_500_000),
            ("1_000 us", 1_000_000),
            ("2 min", 120_000_000_000),
            ("18446744073709551615 ns", u64::MAX),
        ] {
            assert_eq!(
                text.parse::<Span>().map(Span::nanoseconds),
                Ok(nanoseconds),
                "{text}"
            );
        }
    }

    #[test]
    fn invalid_spans_are_refused_with_an_example() {
        for text in [
            "",
            "10",
            "ms",
            "10 MS",
            "-1 ms",
            "1e3 ms",
            "1..5 ms",
            ".5 ms",
            "5. ms",
            "10 ms 5 us",
            "0.0001 us",
            "1.5 ns",
            "18446744073709551616 ns",
            "99999999999999999999999999999999999999999 s",
            "1.00000000000000000000000000000000000000001 s",
            "١ ms",
        ] {
            let error = text.parse::<Span>().unwrap_err();
            assert!(error.to_string().contains("such as \"10 ms\""), "{text}");
        }
    }

    #[test]
    fn written_spans_parse_to_the_same_value() {
        for nanoseconds in [
            0,
            1,
            999,
            1_000,
            1_500,
            2_000_000,
            60_000_000_000,
            61_000_000_001,
            u64::MAX,
        ] {
            let span = Span(Duration::from_nanos(nanoseconds));
            assert_eq!(span.to_string().parse(), Ok(span));
        }
    }
}
