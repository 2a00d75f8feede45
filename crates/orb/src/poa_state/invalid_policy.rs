//! Conflicts between the policies of an adapter.

use punctual_types::{Priority, PriorityBand};
use thiserror::Error;

use crate::PriorityModel;

/// Conflict between policies of an adapter, `PortableServer::POA::InvalidPolicy`.
///
/// Source: Real-time CORBA 1.2, the rules for policies at `create_POA`, as TAO checks them.
///
/// ```
/// # mod punctual { pub use {punctual_orb::*, punctual_types::*}; }
/// use punctual::{InvalidPolicy, Orb, OrbError, Priority};
///
/// let orb = Orb::builder().build()?;
/// let pool = orb.threadpool().lane(Priority::MIN, 1).lane(Priority::MAX, 1).build()?;
/// match orb.root_poa().child("rt").threadpool(&pool).build() {
///     Err(OrbError::InvalidPolicy { of, conflict: invalid }) => {
///         assert_eq!(of, "adapter `rt`");
///         assert_eq!(invalid, InvalidPolicy::LanesWithoutModel);
///         assert_eq!(invalid.policy_type(), 40);
///         assert!(invalid.to_string().contains("add `priority_model`"));
///     }
///     _ => unreachable!("which lane would serve a request?"),
/// }
/// # Ok::<(), OrbError>(())
/// ```
#[derive(Clone, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum InvalidPolicy {
    /// A pool with lanes, but no priority model to choose the lane of a request.
    #[error(
        "PriorityModelPolicy is missing: a pool with lanes needs one to choose the lane; add `priority_model`"
    )]
    LanesWithoutModel,
    /// Bands without a priority model whose priorities they divide.
    #[error(
        "PriorityBandedConnectionPolicy without PriorityModelPolicy: bands divide the priorities of a model; add \
         `priority_model` or remove `priority_bands`"
    )]
    BandsWithoutModel,
    /// An empty list of bands.
    #[error("PriorityBandedConnectionPolicy has no band; give at least one or remove `priority_bands`")]
    NoBands,
    /// A band whose lowest priority is above its highest.
    #[error("PriorityBandedConnectionPolicy: the band {0} is reversed; give the lower priority first")]
    BandReversed(PriorityBand),
    /// No band contains the priority that the server declares.
    #[error(
        "PriorityModelPolicy: no band of PriorityBandedConnectionPolicy contains the declared priority {0}; declare another \
         priority or add a band for it"
    )]
    DeclaredOutsideBands(Priority),
    /// A band that contains the priority of no lane.
    #[error(
        "PriorityBandedConnectionPolicy: no lane of ThreadpoolPolicy has a priority in the band {0}; add such a lane or \
         remove the band"
    )]
    BandWithoutLane(PriorityBand),
    /// No lane has the priority that the server declares.
    #[error(
        "PriorityModelPolicy: no lane of ThreadpoolPolicy has the declared priority {0}; declare the priority of a lane \
         or add a lane with this one"
    )]
    DeclaredWithoutLane(Priority),
    /// Clients propagate priorities, but the server's configuration accepts none above 0.
    #[error(
        "PriorityModelPolicy CLIENT_PROPAGATED without lanes accepts no priority above 0: clients' priorities \
         are claims; set the highest accepted one with `highest_priority`, `accept_priorities` or \
         `priority_bands`"
    )]
    NothingAccepted,
    /// Persistent objects whose ids would change in the next run.
    #[error(
        "LifespanPolicy PERSISTENT requires ids chosen by the user (IdAssignmentPolicy USER_ID): add `user_ids`"
    )]
    PersistentSystemIds,
    /// References would name a protocol over which the ORB does not listen.
    #[error(
        "ServerProtocolPolicy names a protocol over which the ORB does not listen: add an endpoint of it with `listen`"
    )]
    ProtocolWithoutAcceptor,
}

punctual_types::debug_as_display!(InvalidPolicy);

impl InvalidPolicy {
    /// Returns the type of the wrong or missing policy, such as 40 for PriorityModelPolicy.
    ///
    /// ```
    /// # use punctual_orb as punctual;
    /// use punctual::InvalidPolicy;
    ///
    /// assert_eq!(InvalidPolicy::NoBands.policy_type(), 45);
    /// ```
    pub const fn policy_type(&self) -> u32 {
        match self {
            Self::LanesWithoutModel
            | Self::DeclaredOutsideBands(_)
            | Self::DeclaredWithoutLane(_)
            | Self::NothingAccepted => 40,
            Self::BandsWithoutModel | Self::NoBands | Self::BandReversed(_) | Self::BandWithoutLane(_) => 45,
            Self::PersistentSystemIds => 17,
            Self::ProtocolWithoutAcceptor => 42,
        }
    }

    /// Checks priority model, bands and lanes (`None`: a pool without lanes) against each other.
    pub(crate) fn check(
        model: Option<PriorityModel>,
        bands: Option<&[PriorityBand]>,
        lanes: Option<&[Priority]>,
    ) -> Result<(), Self> {
        let Some(model) = model else {
            return match (bands, lanes) {
                (_, Some(_)) => Err(Self::LanesWithoutModel),
                (Some(_), None) => Err(Self::BandsWithoutModel),
                (None, None) => Ok(()),
            };
        };
        if let Some(bands) = bands {
            if bands.is_empty() {
                return Err(Self::NoBands);
            }
            if let Some(reversed) = bands.iter().find(|band| band.low > band.high) {
                return Err(Self::BandReversed(*reversed));
            }
            let without_lane = |band: &&PriorityBand| {
                lanes.is_some_and(|lanes| !lanes.iter().any(|lane| band.contains(*lane)))
            };
            if let Some(band) = bands.iter().find(without_lane) {
                return Err(Self::BandWithoutLane(*band));
            }
        }
        if let PriorityModel::ServerDeclared(priority) = model {
            if bands.is_some_and(|bands| !bands.iter().any(|band| band.contains(priority))) {
                return Err(Self::DeclaredOutsideBands(priority));
            }
            if lanes.is_some_and(|lanes| !lanes.contains(&priority)) {
                return Err(Self::DeclaredWithoutLane(priority));
            }
        }
        Ok(())
    }
}
