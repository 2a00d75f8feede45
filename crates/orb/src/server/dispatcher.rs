//! Server side of an ORB: the parts that serve requests.

use std::sync::Arc;

use punctual_stub::OrbContext;

use crate::{configuration::Configuration, interception::Interceptors, objects::Objects};

/// Server side of an ORB, which serves the requests of its lanes.
pub(crate) struct RequestDispatcher {
    pub(crate) configuration: Arc<Configuration>,
    pub(crate) objects: Arc<Objects>,
    pub(crate) interceptors: Arc<Interceptors>,
    /// ORB of references in requests.
    pub(crate) orb: OrbContext,
}
