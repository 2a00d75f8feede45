//! Priority models.

use crate::Priority;

/// Determines the priority at which a request is executed: the value of `RTCORBA::PriorityModelPolicy`.
///
/// ```
/// # use punctual_types as punctual;
/// use punctual::{Priority, PriorityModel};
///
/// let alarms = PriorityModel::ServerDeclared(Priority::MAX);
/// let tracks = PriorityModel::ClientPropagated { default: Priority::MIN };
/// assert_eq!(alarms.server_priority(), Priority::MAX);
/// assert_eq!(tracks.server_priority(), Priority::MIN);
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum PriorityModel {
    /// The caller's priority, which travels with the request.
    ClientPropagated {
        /// Priority of requests without one, such as those of ORBs without Real-time CORBA.
        default: Priority,
    },
    /// The priority declared by the server. Objects may have their own.
    ServerDeclared(Priority),
}

impl PriorityModel {
    /// Returns the priority in references, `RTCORBA::PriorityModelPolicy::server_priority`.
    pub const fn server_priority(self) -> Priority {
        match self {
            Self::ClientPropagated { default: priority } | Self::ServerDeclared(priority) => priority,
        }
    }
}
