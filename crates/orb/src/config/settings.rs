//! Settings of an ORB in the making.

use std::sync::Arc;

use punctual_cdr::CharSet;
use punctual_inspect::Inspection;
use punctual_os::SchedulingClass;
use punctual_sched::{LinearNetworkMapping, NetworkPriorityMapping, PriorityMapping, StandardMapping};
use punctual_stub::PolicyOverrides;
use punctual_transport::{ProtocolPolicy, Transport};

use crate::{
    BidirectionalRule, Endpoint, Limits, config::configuration::ValueFactories, interception::Interceptors,
    poa_state::defaults::PoaDefaults,
};

/// Settings of an ORB in the making.
pub(crate) struct OrbSettings {
    pub(crate) transports: Vec<Arc<dyn Transport>>,
    pub(crate) listen: Vec<Endpoint>,
    pub(crate) server_protocols: ProtocolPolicy,
    pub(crate) limits: Limits,
    pub(crate) mapping: MappingSetting,
    pub(crate) network_mapping: Box<dyn NetworkPriorityMapping>,
    pub(crate) poa_defaults: PoaDefaults,
    pub(crate) class: SchedulingClass,
    pub(crate) lock_memory: bool,
    pub(crate) native_code_set: Option<CharSet>,
    pub(crate) policies: PolicyOverrides,
    pub(crate) inspection: Option<Inspection>,
    pub(crate) interceptors: Interceptors,
    pub(crate) bidirectional: Vec<BidirectionalRule>,
    pub(crate) value_factories: ValueFactories,
}

/// Priority mapping of an ORB.
pub(crate) enum MappingSetting {
    /// One of the ORB's mappings, for the scheduling class in force.
    Standard(StandardMapping),
    /// A user-defined mapping.
    Own(Box<dyn PriorityMapping>),
}

impl Default for OrbSettings {
    fn default() -> Self {
        Self {
            transports: Vec::new(),
            listen: Vec::new(),
            server_protocols: ProtocolPolicy::default(),
            limits: Limits::default(),
            mapping: MappingSetting::Standard(StandardMapping::default()),
            network_mapping: Box::new(LinearNetworkMapping),
            poa_defaults: PoaDefaults::default(),
            class: SchedulingClass::Fifo,
            lock_memory: true,
            native_code_set: None,
            policies: PolicyOverrides::new(),
            inspection: None,
            interceptors: Interceptors::default(),
            bidirectional: Vec::new(),
            value_factories: ValueFactories::new(),
        }
    }
}
