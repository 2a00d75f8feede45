//! A whole schedule file.

mod check;
mod parts;
mod places;

use std::{path::Path, str::FromStr};

use punctual::{Orb, OrbBuilder, PriorityMapping, StandardMapping};
use punctual_toml::{FileError, Key};
use serde::{Deserialize, Serialize};

pub use self::parts::{Part, Parts};
use self::places::Places;
use crate::{Activity, Adapter, Host, Object, OrbSettings, Place, Pool, Resource, Step, UnknownName};

/// Hosts, pools, adapters, objects and activities with their priorities. The crate's page shows a complete
/// file.
///
/// ```
/// use punctual_scheduling::Schedule;
///
/// let schedule = Schedule::parse("radar.toml", include_str!("../radar.toml"))?;
/// assert_eq!(schedule.activities[0].name, "track");
/// assert_eq!(schedule.pools[0].lanes.len(), 2);
/// assert_eq!(Schedule::parse("again.toml", &schedule.to_toml())?, schedule);
/// # Ok::<(), punctual_scheduling::FileError>(())
/// ```
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// Computers, each with one CPU for this work unless it names several. Default: `localhost`.
    #[serde(default = "localhost")]
    pub hosts: Vec<Host>,
    /// Mapping from CORBA to native priorities. Default: linear.
    #[serde(default, with = "mapping")]
    pub mapping: StandardMapping,
    /// Settings of the ORBs, at most one for each host.
    #[serde(default, rename = "orb", skip_serializing_if = "Vec::is_empty")]
    pub orbs: Vec<OrbSettings>,
    /// Thread pools.
    #[serde(default, rename = "pool", skip_serializing_if = "Vec::is_empty")]
    pub pools: Vec<Pool>,
    /// Resources that activities lock.
    #[serde(default, rename = "resource", skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<Resource>,
    /// Object adapters.
    #[serde(default, rename = "adapter", skip_serializing_if = "Vec::is_empty")]
    pub adapters: Vec<Adapter>,
    /// Objects that have their own priorities.
    #[serde(default, rename = "object", skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<Object>,
    /// Activities of clients.
    #[serde(default, rename = "activity", skip_serializing_if = "Vec::is_empty")]
    pub activities: Vec<Activity>,
    /// Where the endpoints are stated.
    #[serde(skip)]
    pub(crate) places: Places,
}

impl Schedule {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn read(file: impl AsRef<Path>) -> Result<Self, FileError> {
        punctual_toml::read_with(file, Self::parse)
    }

    /// Parses and checks a text; `file` is its name in errors.
    ///
    /// # Errors
    /// [`FileError::Invalid`].
    pub fn parse(file: &str, text: &str) -> Result<Self, FileError> {
        let mut schedule: Self = punctual_toml::parse(file, text, check::check)?;
        schedule.places = Places::of(&schedule, file, text);
        Ok(schedule)
    }

    /// Returns the text of a file that parses as this schedule, without comments.
    pub fn to_toml(&self) -> String {
        toml::to_string_pretty(self).expect("every schedule can be written as TOML")
    }

    /// Returns the text of a file with this schedule, made of one with another schedule: unchanged parts keep
    /// their comments and their order.
    ///
    /// ```
    /// use punctual::Priority;
    /// use punctual_scheduling::Schedule;
    ///
    /// let text = include_str!("../radar.toml");
    /// let mut schedule = Schedule::parse("radar.toml", text)?;
    /// schedule.activities[1].priority = Priority::new(32_767)?;
    /// let edited = schedule.edited(text);
    /// assert_eq!(edited.lines().count(), text.lines().count());
    /// assert_eq!(Schedule::parse("edited.toml", &edited)?, schedule);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn edited(&self, text: &str) -> String {
        let before = Self::parse("", text).ok();
        let edited =
            before.and_then(|before| punctual_toml::edited(text, &before.to_toml(), &self.to_toml()));
        let is_this = |text: &String| Self::parse("", text).is_ok_and(|schedule| schedule == *self);
        edited.filter(is_this).unwrap_or_else(|| self.to_toml())
    }

    /// Returns the priority mapping over SCHED_FIFO's priorities, 1 to 99.
    pub fn native_mapping(&self) -> Box<dyn PriorityMapping> {
        self.mapping.over(1..=99)
    }

    /// Returns the builder of the ORB of a host, with its settings and the priority mapping of the schedule.
    /// Settings that the program makes afterwards replace these; endpoints are added.
    ///
    /// # Errors
    /// [`UnknownName`] for a host that is not in the schedule.
    pub fn orb_builder(&self, host: &str) -> Result<OrbBuilder, UnknownName> {
        if self.host(host).is_none() {
            return Err(UnknownName::of(
                "host",
                host,
                self.hosts.iter().map(|host| &host.name),
            ));
        }
        let builder = Orb::builder().standard_mapping(self.mapping);
        let only = self.hosts.first().map(|host| host.name.as_str());
        let is_here = |orb: &OrbSettings| orb.host.as_deref().or(only) == Some(host);
        Ok(match self.orbs.iter().position(is_here) {
            Some(index) => {
                let (settings, key) = (&self.orbs[index], Key::default().item("orb", index));
                settings.applied_to(builder, self.places.endpoints(&key, &settings.listen))
            }
            None => builder,
        })
    }

    /// Returns the pool of this name. Every name in a checked schedule exists.
    pub fn pool(&self, name: &str) -> Option<&Pool> {
        self.pools.iter().find(|pool| pool.name == name)
    }

    /// Returns the adapter of this name.
    pub fn adapter(&self, name: &str) -> Option<&Adapter> {
        self.adapters.iter().find(|adapter| adapter.name == name)
    }

    /// Returns the object of this name.
    pub fn object(&self, name: &str) -> Option<&Object> {
        self.objects.iter().find(|object| object.name == name)
    }

    /// Returns the pool that serves the call of a step, if it is a call.
    pub fn pool_of(&self, step: &Step) -> Option<&Pool> {
        match step.place()? {
            Place::Host(_) => None,
            Place::Pool(name) => self.pool(name),
            Place::Adapter(name) => self.pool(&self.adapter(name)?.pool),
            Place::Object(name) => self.pool(&self.adapter(&self.object(name)?.adapter)?.pool),
        }
    }

    /// Returns the host on which a step runs.
    pub fn host_of<'a>(&'a self, step: &'a Step) -> Option<&'a str> {
        match step.place()? {
            Place::Host(name) => Some(name),
            _ => self.host_of_pool(self.pool_of(step)?),
        }
    }

    /// Returns the host of a pool; the only host if the pool names none.
    pub fn host_of_pool<'a>(&'a self, pool: &'a Pool) -> Option<&'a str> {
        let first = self.hosts.first().map(|host| host.name.as_str());
        pool.host.as_deref().or(first)
    }
}

fn localhost() -> Vec<Host> {
    vec![Host::new("localhost")]
}

/// Mappings by name.
mod mapping {
    use super::{FromStr, StandardMapping};
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(
        mapping: &StandardMapping,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_str(mapping)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<StandardMapping, D::Error> {
        let name = String::deserialize(deserializer)?;
        StandardMapping::from_str(&name).map_err(D::Error::custom)
    }
}
