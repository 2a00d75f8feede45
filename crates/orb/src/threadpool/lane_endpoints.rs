//! Endpoints of single lanes of a pool.

use punctual_transport::AddressError;
use punctual_types::Priority;

use super::ThreadPoolBuilder;
use crate::{Endpoint, OrbError, orb_core::OrbCore};

/// Endpoints that the user chose for single lanes of a pool.
#[derive(Default)]
pub(crate) struct LaneEndpoints(Vec<(Priority, Endpoint)>);

impl ThreadPoolBuilder {
    /// Adds an endpoint at which the lane of this priority listens, in place of those beside the ORB's: for
    /// firewalls, and for references that outlive the server. `-ORBLaneListenEndpoints` of TAO.
    ///
    /// A pool without lanes has one lane, of its `default_priority`.
    ///
    /// ```
    /// # use punctual_orb::{Endpoint, Orb, OrbError};
    /// use punctual_types::Priority;
    ///
    /// let orb = Orb::builder().listen("iiop://127.0.0.1").build()?;
    /// let (low, high) = (Priority::MIN, Priority::MAX);
    /// let two_lanes = || orb.threadpool().lane(low, 1).lane(high, 1);
    /// let pool = |endpoint: Endpoint| two_lanes().lane_endpoint(high, endpoint).build();
    /// assert!(pool(Endpoint::new("iiop://0.0.0.0").published_as("iiop://radar.example:2811")).is_ok());
    /// assert!(matches!(pool("127.0.0.1:2810".into()), Err(OrbError::Address(_))), "it has no scheme");
    ///
    /// let nowhere = orb.threadpool().lane(low, 1).lane_endpoint(high, "iiop://127.0.0.1").build();
    /// assert!(nowhere.err().is_some_and(|error| error.to_string().contains("no lane of priority 32767")));
    /// # Ok::<(), OrbError>(())
    /// ```
    pub fn lane_endpoint(mut self, lane: Priority, endpoint: impl Into<Endpoint>) -> Self {
        self.endpoints.0.push((lane, endpoint.into()));
        self
    }
}

impl LaneEndpoints {
    /// Fails if an endpoint is for a lane that the pool does not have.
    pub(crate) fn check(&self, lanes: &[Priority]) -> Result<(), OrbError> {
        match self.0.iter().find(|(lane, _)| !lanes.contains(lane)) {
            None => Ok(()),
            Some((lane, endpoint)) => {
                let hint = format!("the pool has no lane of priority {lane}; its lanes have {lanes:?}");
                Err(AddressError::new(endpoint.url(), hint).into())
            }
        }
    }

    /// Endpoints of the lane with this name and priority.
    pub(crate) fn of_lane(
        &self,
        orb: &OrbCore,
        name: &str,
        lane: Priority,
    ) -> Result<Vec<punctual_lane::LaneEndpoint>, OrbError> {
        let (transports, protocols) = (&orb.configuration.transports, &orb.configuration.server_protocols);
        let own: Result<Vec<_>, _> = self
            .0
            .iter()
            .filter(|(own, _)| *own == lane)
            .map(|(_, endpoint)| endpoint.open_with(transports, protocols))
            .collect();
        match own? {
            own if own.is_empty() => Ok(orb.pools.endpoints_beside(name)),
            own => Ok(own),
        }
    }
}
