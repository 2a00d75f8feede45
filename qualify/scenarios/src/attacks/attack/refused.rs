//! Messages that no servant sees, as fast as the lane reads them.

use std::time::Instant;

use punctual_giop::{Version, write_cancel_request};

use crate::attacks::{
    flood::Flood,
    messages::{self, request, unknown_key},
    target::Target,
};

/// Messages in one write.
const AT_A_TIME: usize = 256;

/// Requests for an object that does not exist.
pub(super) fn requests(target: &Target, deadline: Instant) -> u64 {
    let key = unknown_key(target);
    let request = request(Version::V1_2, target, &key, "method", |_| Ok(()));
    Flood::of(&request, AT_A_TIME).run(target, deadline)
}

/// CancelRequests for requests that were never sent.
pub(super) fn cancels(target: &Target, deadline: Instant) -> u64 {
    let mut cancel = Vec::new();
    write_cancel_request(&mut cancel, Version::V1_2, 7);
    Flood::of(&cancel, AT_A_TIME).run(target, deadline)
}

/// LocateRequests for an object that does not exist.
pub(super) fn locates(target: &Target, deadline: Instant) -> u64 {
    let locate = messages::locate_request(Version::V1_2, &unknown_key(target));
    Flood::of(&locate, AT_A_TIME).run(target, deadline)
}
