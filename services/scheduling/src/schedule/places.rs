//! Where the endpoints of a schedule are stated, for the errors of starting ORBs and pools.

use std::collections::HashMap;

use punctual::Endpoint;
use punctual_toml::{Key, line_of};

use super::Schedule;

/// File and line of each endpoint, by its key. Two schedules are equal wherever they come from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places(HashMap<String, String>);

impl PartialEq for Places {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Places {}

impl Places {
    pub(super) fn of(schedule: &Schedule, file: &str, text: &str) -> Self {
        let orbs = schedule.orbs.iter().map(|orb| &orb.listen).enumerate();
        let pools = schedule.pools.iter().map(|pool| &pool.listen).enumerate();
        let orbs = orbs.map(|(index, listen)| (Key::default().item("orb", index), listen));
        let pools = pools.map(|(index, listen)| (Key::default().item("pool", index), listen));
        let places = orbs.chain(pools).flat_map(|(of, listen)| {
            (0..listen.len()).map(move |number| {
                let key = of.item("listen", number);
                (key.to_string(), format!("{file}:{}", line_of(text, &key)))
            })
        });
        Self(places.collect())
    }

    /// The endpoints `listen` of the table with this key, each with its place.
    pub(crate) fn endpoints<'a>(
        &'a self,
        of: &'a Key,
        listen: &'a [String],
    ) -> impl Iterator<Item = Endpoint> + 'a {
        listen.iter().enumerate().map(move |(number, url)| {
            match self.0.get(&of.item("listen", number).to_string()) {
                Some(place) => Endpoint::new(url).stated_at(place),
                None => Endpoint::new(url),
            }
        })
    }
}
