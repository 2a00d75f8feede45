//! Settings of an ORB that do not change while it runs.

use std::{collections::HashMap, ops::RangeInclusive};

use punctual_cdr::{CdrError, TaggedProfile, ValueFactory};
use punctual_giop::Profile;
use punctual_lane::LaneLimits;
use punctual_os::{Scheduling, SchedulingClass, scheduling};
use punctual_sched::{NetworkPriorityMapping, PriorityMapping};
use punctual_transport::{ProtocolPolicy, Transports};
use punctual_types::{Completion, Minor, NativePriority, Priority, SystemException, SystemExceptionKind};

use crate::{BidirectionalRule, Limits};

/// Settings of an ORB.
pub(crate) struct Configuration {
    pub(crate) limits: Limits,
    pub(crate) mapping: Box<dyn PriorityMapping>,
    pub(crate) network_mapping: Box<dyn NetworkPriorityMapping>,
    /// Class of real-time threads, unless a pool states another one.
    pub(crate) scheduling_class: SchedulingClass,
    pub(crate) lock_memory: bool,
    pub(crate) transports: Transports,
    /// Protocols of adapters that state none.
    pub(crate) server_protocols: ProtocolPolicy,
    /// Peers that may make their connections bidirectional.
    pub(crate) bidirectional: Vec<BidirectionalRule>,
    pub(crate) value_factories: ValueFactories,
}

/// Types of values that may arrive where a type of other generated code is declared, by repository id.
pub(crate) type ValueFactories = HashMap<&'static str, &'static ValueFactory>;

impl Configuration {
    /// Range of native priorities that a standard mapping covers for this class.
    pub(crate) fn mapped_range(class: SchedulingClass) -> RangeInclusive<i16> {
        // Threads in the ordinary class have no priority to map to; calls carry the CORBA priority
        // nevertheless.
        scheduling::priority_range(match class {
            SchedulingClass::Other => SchedulingClass::Fifo,
            class => class,
        })
    }

    /// Limits that each lane enforces.
    pub(crate) fn lane_limits(&self) -> LaneLimits {
        self.limits.of_lane(!self.bidirectional.is_empty())
    }

    /// Native priority of a CORBA priority. Fails with DATA_CONVERSION if the mapping has none.
    pub(crate) fn to_native(&self, priority: Priority) -> Result<NativePriority, SystemException> {
        self.mapping.to_native(priority).ok_or_else(|| {
            let minor = Minor::OMG_PRIORITY_UNMAPPABLE;
            SystemException::new(SystemExceptionKind::DataConversion, minor, Completion::No)
        })
    }

    /// Returns the scheduling of a thread of this class and CORBA priority; `None` if the mapping has no
    /// native one.
    pub(crate) fn scheduling(&self, class: SchedulingClass, priority: Priority) -> Option<Scheduling> {
        let priority = self.mapping.to_native(priority)?;
        Some(match class {
            SchedulingClass::Other => Scheduling::OTHER,
            class => Scheduling { class, priority },
        })
    }

    /// Decodes a profile; `None` if this ORB does not have its protocol.
    pub(crate) fn decode_profile(
        &self,
        profile: &TaggedProfile,
    ) -> Option<Result<Profile<String>, CdrError>> {
        let transport = self.transports.with_tag(profile.tag)?;
        Some(Profile::decode_with(profile, |decoder| {
            transport.decode_address(decoder)
        }))
    }
}
