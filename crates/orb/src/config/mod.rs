//! Settings, limits and endpoints of an ORB.

pub(crate) mod bidirectional;
pub(crate) mod configuration;
pub(crate) mod endpoint;
pub(crate) mod expired_requests;
pub(crate) mod initial_references;
pub(crate) mod limits;
pub(crate) mod settings;
