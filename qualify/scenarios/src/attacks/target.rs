//! A lane as an attacker sees it: everything is in the reference.

use std::net::SocketAddrV4;

use punctual_cdr::{Decode, Ior};
use punctual_giop::{
    IiopProfile, Profile, TAG_INTERNET_IOP, TAG_PUNCTUAL_SHM, TAO_TAG_ENDPOINTS, decode_endpoints_with,
    ior_from_string,
};
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// A lane, and an object that can be called over it.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Target {
    pub(super) tcp: SocketAddrV4,
    /// Path of the Unix socket at which clients get their shared memory.
    pub(super) shm: String,
    pub(super) key: Vec<u8>,
    pub(super) priority: i16,
    /// CPU of the server.
    pub(super) cpu: usize,
}

impl Target {
    /// Returns the lanes of these priorities that a reference names.
    pub(super) fn of_reference(
        reference: &str,
        priorities: impl IntoIterator<Item = i16>,
        cpu: usize,
    ) -> Result<Vec<Self>, Error> {
        let ior = ior_from_string(reference)?;
        let key = IiopProfile::decode(profile(&ior, TAG_INTERNET_IOP)?)?.object_key;
        let tcp = endpoints(&ior, TAG_INTERNET_IOP, |decoder| {
            Ok((String::decode(decoder)?, u16::decode(decoder)?))
        })?;
        let shm = endpoints(&ior, TAG_PUNCTUAL_SHM, |decoder| {
            let address = String::decode(decoder)?;
            Ok(address.split('?').next().map(str::to_owned).unwrap_or_default())
        })?;
        let target = |priority: i16| {
            let (host, port) = of_priority(&tcp, priority)?;
            Ok(Self {
                tcp: SocketAddrV4::new(host.parse()?, *port),
                shm: of_priority(&shm, priority)?.clone(),
                key: key.clone(),
                priority,
                cpu,
            })
        };
        priorities.into_iter().map(target).collect()
    }
}

fn profile(ior: &Ior, tag: u32) -> Result<&punctual_cdr::TaggedProfile, Error> {
    let found = ior.profiles.iter().find(|profile| profile.tag == tag);
    Ok(found.ok_or_else(|| format!("the server's reference has no profile with tag {tag:#x}"))?)
}

type Endpoints<A> = Vec<(A, i16)>;

fn endpoints<A>(
    ior: &Ior,
    tag: u32,
    mut address: impl FnMut(&mut punctual_cdr::Decoder<'_>) -> Result<A, punctual_cdr::CdrError>,
) -> Result<Endpoints<A>, Error> {
    let profile = Profile::decode_with(profile(ior, tag)?, |decoder| address(decoder))?;
    let component = profile.components.iter().find(|one| one.tag == TAO_TAG_ENDPOINTS);
    let component = component.ok_or("the server's reference does not name its lanes")?;
    Ok(decode_endpoints_with(component, |decoder| address(decoder))?)
}

fn of_priority<A>(endpoints: &Endpoints<A>, priority: i16) -> Result<&A, Error> {
    let found = endpoints.iter().find(|(_, of)| *of == priority);
    let (address, _) = found.ok_or_else(|| format!("the server has no lane of priority {priority}"))?;
    Ok(address)
}
