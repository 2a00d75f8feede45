//! Thread pools and their lanes: as users build them, as adapters know them, and the list of an ORB.

pub(crate) mod accepted_priorities;
pub(crate) mod info;
pub(crate) mod lane;
pub(crate) mod lane_data;
pub(crate) mod registry;
pub(crate) mod threadpool;
pub(crate) mod unstarted_servers;
