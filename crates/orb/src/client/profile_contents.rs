//! Contents of a reference's profiles, as a client reads them: the object, and the policies that its server
//! exposes.

use std::hash::{Hash, Hasher};

use punctual_cdr::{Ior, TaggedProfile};
use punctual_giop::{Component, PolicyValue, TAG_MULTIPLE_COMPONENTS};
use punctual_stub::ExposedPolicies;
use punctual_types::{Priority, PriorityBand};

use super::{reference::Reference, tls_addresses};

/// Object of a profile, as far as this ORB can read it.
///
/// Octets are not compared: TAO leaves padding uninitialised, so that one of its objects has many forms.
#[derive(Eq, Hash, PartialEq)]
enum NamedObject<'p> {
    At {
        tag: u32,
        address: String,
        /// Port for TLS; without one for TCP the address has none.
        secured: Option<u16>,
        object_key: Vec<u8>,
    },
    Unread(&'p TaggedProfile),
}

impl Reference {
    /// Returns whether the other reference names the same object at the same addresses.
    pub(super) fn names_object_of(&self, other: &Ior) -> bool {
        self.named_objects(&self.ior).eq(self.named_objects(other))
    }

    /// Writes what references to this object have in common.
    pub(super) fn hash_named_object(&self, mut hasher: &mut dyn Hasher) {
        for object in self.named_objects(&self.ior) {
            object.hash(&mut hasher);
        }
    }

    /// Components beside profiles name nothing: omniORB adds some to each reference that it receives over a
    /// bidirectional connection.
    fn named_objects<'i>(&self, ior: &'i Ior) -> impl Iterator<Item = NamedObject<'i>> {
        let is_of_components = |profile: &TaggedProfile| profile.tag == TAG_MULTIPLE_COMPONENTS;
        let nothing_else = ior.profiles.iter().all(is_of_components);
        ior.profiles
            .iter()
            .filter(move |profile| nothing_else || !is_of_components(profile))
            .map(|profile| match self.core.configuration.decode_profile(profile) {
                Some(Ok(profile)) => NamedObject::At {
                    tag: profile.tag,
                    secured: tls_addresses::port(profile.tag, &profile.components),
                    address: profile.address,
                    object_key: profile.object_key,
                },
                _ => NamedObject::Unread(profile),
            })
    }

    /// Policies in the profiles; of several with one type, the first counts.
    pub(super) fn policies_of_server(&self) -> ExposedPolicies {
        let forwarded = self.forwarded.load_full();
        let ior = forwarded.as_ref().unwrap_or(&self.route).ior();
        let profiles = ior.profiles.iter();
        let profiles = profiles.filter_map(|profile| self.core.configuration.decode_profile(profile)?.ok());
        let mut exposed = ExposedPolicies::default();
        for component in profiles.flat_map(|profile| profile.components) {
            let Ok(Component::Policies(policies)) = Component::decode(&component) else {
                continue;
            };
            for policy in policies {
                match policy {
                    PolicyValue::PriorityModel(model) => {
                        exposed.priority_model.get_or_insert(model);
                    }
                    PolicyValue::PriorityBands(bands) if exposed.priority_bands.is_empty() => {
                        exposed.priority_bands = bands
                            .into_iter()
                            .filter_map(|(low, high)| band(low, high))
                            .collect();
                    }
                    PolicyValue::ClientProtocols(protocols)
                        if exposed.client_protocols.protocols().is_empty() =>
                    {
                        exposed.client_protocols = protocols;
                    }
                    _ => {}
                }
            }
        }
        exposed
    }
}

fn band(low: i16, high: i16) -> Option<PriorityBand> {
    let (low, high) = (Priority::new(low).ok()?, Priority::new(high).ok()?);
    (low <= high).then(|| PriorityBand::new(low, high))
}
