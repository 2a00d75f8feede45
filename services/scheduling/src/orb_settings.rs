//! Settings of the ORB of a host in a schedule: endpoints, timeout, threads and limits.

use std::{collections::BTreeMap, time::Duration};

use punctual::{Endpoint, Limits, OrbBuilder, SchedulingClass};
use serde::{Deserialize, Serialize};

use crate::{Class, Span};

/// Settings of the ORB of a host; missing ones keep their defaults, those of [`OrbBuilder`].
///
/// ```
/// use punctual_scheduling::Schedule;
///
/// let text = "
///     [[orb]]
///     listen = ['iiop://127.0.0.1']
///     call_timeout = '2 s'
///     limits = { max_connections = 64, connection_idle = '10 min' }";
/// let orb = Schedule::parse("valve.toml", text)?.orb_builder("localhost")?.build()?;
///
/// let error = Schedule::parse("valve.toml", "[[orb]]\nlimits = { max_connections = '64' }").unwrap_err();
/// let expected = "valve.toml:2:30: orb[1].limits.max_connections: expected an integer from 0, found ";
/// assert!(error.to_string().starts_with(expected), "{error}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct OrbSettings {
    /// Name of the host. Default: the only host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// [`OrbBuilder::listen`], in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub listen: Vec<String>,
    /// [`OrbBuilder::call_timeout`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_timeout: Option<Span>,
    /// [`OrbBuilder::scheduling_class`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// [`OrbBuilder::lock_memory`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lock_memory: Option<bool>,
    /// [`OrbBuilder::initial_reference`], by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub initial_references: BTreeMap<String, String>,
    /// [`OrbBuilder::default_initial_reference`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_initial_reference: Option<String>,
    /// [`OrbBuilder::limits`].
    #[serde(skip_serializing_if = "OrbLimits::is_empty")]
    pub limits: OrbLimits,
}

impl OrbSettings {
    /// `listen`: the endpoints, with the places where they are stated.
    pub(crate) fn applied_to(
        &self,
        builder: OrbBuilder,
        listen: impl Iterator<Item = Endpoint>,
    ) -> OrbBuilder {
        let builder = listen.fold(builder, OrbBuilder::listen);
        let references = self.initial_references.iter();
        let builder = references.fold(builder, |builder, (name, url)| {
            builder.initial_reference(name, url)
        });
        let default = self.default_initial_reference.iter();
        let builder = default.fold(builder, OrbBuilder::default_initial_reference);
        let timeout = self.call_timeout.map(|timeout| timeout.0).into_iter();
        let builder = timeout.fold(builder, OrbBuilder::call_timeout);
        let class = self.class.map(SchedulingClass::from).into_iter();
        let builder = class.fold(builder, OrbBuilder::scheduling_class);
        let builder = self
            .lock_memory
            .into_iter()
            .fold(builder, OrbBuilder::lock_memory);
        builder.limits(self.limits.applied_to(Limits::default()))
    }
}

/// Declares the limits of a file, each with its type there and its conversion.
macro_rules! limits {
    ($($name:ident: $type:ty => $converted:expr,)*) => {
        /// Limits of an ORB in a file, named as those of [`Limits`]; missing ones have their defaults.
        #[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct OrbLimits {
            $(
                #[doc = concat!("[`Limits::", stringify!($name), "`].")]
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $name: Option<$type>,
            )*
        }

        impl OrbLimits {
            fn applied_to(&self, limits: Limits) -> Limits {
                $(
                    let limits = match self.$name {
                        Some(value) => limits.$name($converted(value)),
                        None => limits,
                    };
                )*
                limits
            }
        }
    };
}

limits! {
    max_message_size: usize => same,
    max_decoded_size: usize => same,
    max_kept_buffer: usize => same,
    max_lane_memory: usize => same,
    max_connections: usize => same,
    max_connections_per_peer: usize => same,
    accept_rate_per_peer: u32 => same,
    accepts_per_wake_up: usize => same,
    accept_percent: u32 => same,
    unserved_percent: u32 => same,
    max_connections_per_thread: usize => same,
    max_client_connections: usize => same,
    max_shared_calls: usize => same,
    max_deferred_replies: usize => same,
    max_fragmented_messages: usize => same,
    fragment_size: usize => Some,
    max_refused_requests: u32 => same,
    max_unserved_messages: u32 => same,
    message_completion: Span => duration,
    connection_idle: Span => some_duration,
    max_nesting: u16 => same,
    max_object_key: usize => same,
    max_endpoints: usize => same,
    max_forwards: usize => same,
    max_nested_calls: usize => same,
    connect_timeout: Span => duration,
    resolve_timeout: Span => duration,
    startup: Span => duration,
    deactivation: Span => duration,
    held_while_ending: usize => same,
}

impl OrbLimits {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

fn same<T>(value: T) -> T {
    value
}

fn duration(span: Span) -> Duration {
    span.0
}

fn some_duration(span: Span) -> Option<Duration> {
    Some(span.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fields of a structure and their values, as `Debug` writes them.
    fn fields(shown: &str) -> BTreeMap<String, String> {
        let inner = shown.split_once(" { ").unwrap().1.trim_end_matches(" }");
        let fields = inner.split(", ").map(|field| field.split_once(": ").unwrap());
        fields
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    }

    #[test]
    fn initial_references_reach_the_orb() {
        let text = "default_initial_reference = 'corbaloc:rir:'\n[initial_references]\nRadar = 'IOR:00'";
        let settings: OrbSettings = toml::from_str(text).unwrap();
        let orb = settings.applied_to(punctual::Orb::builder(), std::iter::empty());
        let orb = orb.build().unwrap();
        for (url, expected) in [
            ("corbaloc:rir:/Radar", "IOR:"),
            ("corbaloc:rir:/Other", "more than 8 times"),
        ] {
            let error = orb.resolve_object(url).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn every_limit_can_be_set_and_reaches_the_orb() {
        let default = fields(&format!("{:?}", Limits::default()));
        let names = fields(&format!("{:?}", OrbLimits::default()));
        assert!(default.keys().eq(names.keys()), "{default:?}\n{names:?}");
        for name in default.keys() {
            let values = ["7", "\"7 s\""].map(|value| toml::from_str(&format!("{name} = {value}")));
            let set: OrbLimits = values.into_iter().find_map(Result::ok).expect(name);
            let limits = fields(&format!("{:?}", set.applied_to(Limits::default())));
            let changed: Vec<_> = limits
                .iter()
                .filter(|(other, value)| default[*other] != **value)
                .collect();
            let [(other, value)] = changed[..] else {
                panic!("{name}: {changed:?}")
            };
            assert!(other == name && value.contains('7'), "{name}: {changed:?}");
        }
    }
}
