//! Messaging policies of one request, in its service context INVOCATION_POLICIES: they determine when it is
//! stale.
//!
//! Source: CORBA 3.3 part 1, 17 (Messaging), `Messaging::PolicyValueSeq` and the time policies.

use core::time::Duration;

use punctual_cdr::{CdrError, Decode, Decoder, Encode, Encoder, encode_encapsulation};

use crate::encapsulation;

const REQUEST_END_TIME: u32 = 28;
const REPLY_END_TIME: u32 = 30;
const RELATIVE_REQUEST_TIMEOUT: u32 = 31;
const RELATIVE_ROUNDTRIP_TIMEOUT: u32 = 32;

/// Timeouts and deadlines of a request; `None` if not stated.
///
/// Timeouts count from the start of the call. The receiver does not know the transmission time, so that it
/// measures them too generously. Deadlines are as exact as the clocks of both hosts agree.
///
/// ```
/// use core::time::Duration;
///
/// use punctual_giop::{InvocationPolicies, decode_invocation_policies};
///
/// let policies = InvocationPolicies {
///     relative_roundtrip: Some(Duration::from_millis(20)),
///     ..InvocationPolicies::default()
/// };
/// // Big-endian: one policy, 32, of 16 octets, which contain 200,000 units of 100 ns.
/// let data = [
///     0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 32, 0, 0, 0, 16, // the list
///     0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0x0d, 0x40,
/// ];
/// assert_eq!(decode_invocation_policies(&data)?, policies);
/// # Ok::<(), punctual_cdr::CdrError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct InvocationPolicies {
    /// RequestEndTime (28): the request is stale from this time on, counted from the start of 1970 (UTC).
    pub request_end: Option<Duration>,
    /// ReplyEndTime (30): the reply is stale from this time on, counted from the start of 1970 (UTC).
    pub reply_end: Option<Duration>,
    /// RelativeRequestTimeout (31): timeout until the request is delivered.
    pub relative_request: Option<Duration>,
    /// RelativeRoundtripTimeout (32): timeout until the reply arrives.
    pub relative_roundtrip: Option<Duration>,
}

impl InvocationPolicies {
    /// Returns the time from which the request must no longer be started, counted from the start of 1970
    /// (UTC).
    pub fn stale_from(&self) -> Option<Duration> {
        match (self.request_end, self.reply_end) {
            (Some(request), Some(reply)) => Some(request.min(reply)),
            (request, reply) => request.or(reply),
        }
    }

    /// Returns the period after the start of the call within which the request may be started.
    pub fn wanted_for(&self) -> Option<Duration> {
        match (self.relative_request, self.relative_roundtrip) {
            (Some(request), Some(roundtrip)) => Some(request.min(roundtrip)),
            (request, roundtrip) => request.or(roundtrip),
        }
    }
}

/// Encoded as `Messaging::PolicyValueSeq`, inside the encapsulation of the context.
impl Encode for InvocationPolicies {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        let ends = [
            (REQUEST_END_TIME, self.request_end),
            (REPLY_END_TIME, self.reply_end),
        ];
        let relative = [
            (RELATIVE_REQUEST_TIMEOUT, self.relative_request),
            (RELATIVE_ROUNDTRIP_TIMEOUT, self.relative_roundtrip),
        ];
        let stated = ends.iter().chain(&relative).filter(|(_, time)| time.is_some());
        encoder.length(stated.count())?;
        for (id, time) in ends {
            if let Some(time) = time {
                id.encode(encoder)?;
                // TimeBase::UtcT: time, inaccuracy in two parts (unknown: all ones), minutes east of
                // Greenwich.
                let time = units(time).saturating_add(EPOCH);
                encode_encapsulation(encoder, |inner| {
                    (time, u32::MAX).encode(inner)?;
                    (u16::MAX, 0_i16).encode(inner)
                })?;
            }
        }
        for (id, time) in relative {
            if let Some(time) = time {
                id.encode(encoder)?;
                encode_encapsulation(encoder, |inner| units(time).encode(inner))?;
            }
        }
        Ok(())
    }
}

/// Decodes the data of an [`INVOCATION_POLICIES`](crate::INVOCATION_POLICIES) context. Other policies are
/// ignored.
///
/// Fails if the list or one of these policies is truncated. Of several policies of one type, the last one
/// counts.
pub fn decode_invocation_policies(data: &[u8]) -> Result<InvocationPolicies, CdrError> {
    let mut decoder = encapsulation::open(data)?;
    let mut policies = InvocationPolicies::default();
    for _ in 0..u32::decode(&mut decoder)? {
        let id = u32::decode(&mut decoder)?;
        let value = <&[u8]>::decode(&mut decoder)?;
        match id {
            REQUEST_END_TIME => policies.request_end = Some(point(value)?),
            REPLY_END_TIME => policies.reply_end = Some(point(value)?),
            RELATIVE_REQUEST_TIMEOUT => policies.relative_request = Some(period(value)?),
            RELATIVE_ROUNDTRIP_TIMEOUT => policies.relative_roundtrip = Some(period(value)?),
            _ => {}
        }
    }
    Ok(policies)
}

/// The start of 1970 in `TimeBase::TimeT`, which counts units of 100 ns from 15 October 1582.
const EPOCH: u64 = 0x01b2_1dd2_1381_4000;
const NANOSECONDS: u64 = 100;
const UNITS_PER_SECOND: u64 = 1_000_000_000 / NANOSECONDS;

/// Converts to units of `TimeT`; saturates at about 58,000 years.
fn units(time: Duration) -> u64 {
    let part = u64::from(time.subsec_nanos()) / NANOSECONDS;
    time.as_secs()
        .saturating_mul(UNITS_PER_SECOND)
        .saturating_add(part)
}

fn duration(units: u64) -> Duration {
    let part = (units % UNITS_PER_SECOND) * NANOSECONDS;
    Duration::new(units / UNITS_PER_SECOND, part as u32)
}

fn time_t(value: &[u8]) -> Result<u64, CdrError> {
    let decoder: &mut Decoder<'_> = &mut encapsulation::open(value)?;
    u64::decode(decoder)
}

fn period(value: &[u8]) -> Result<Duration, CdrError> {
    time_t(value).map(duration)
}

/// Decodes a point in time; times before 1970 become 1970, which is as stale.
fn point(value: &[u8]) -> Result<Duration, CdrError> {
    time_t(value).map(|time| duration(time.saturating_sub(EPOCH)))
}
