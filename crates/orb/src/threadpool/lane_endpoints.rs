use punctual_transport::AddressError;
use punctual_types::Priority;

use super::ThreadPoolBuilder;
use crate::{OrbError, orb_core::OrbCore};

/// Endpoints that the user chose for single lanes of a pool.
#[derive(Default)]
pub(crate) struct LaneEndpoints(Vec<LaneEndpoint>);

struct LaneEndpoint {
    lane: Priority,
    endpoint: String,
    published: Option<String>,
}

impl ThreadPoolBuilder {
    /// Adds a place where the lane of this priority listens, in place of those beside the ORB's: for firewalls, and for
    /// references that outlive the server. TAO's `-ORBLaneListenEndpoints`.
    ///
    /// A pool without lanes has one, of its `default_priority`.
    ///
    /// ```
    /// # use punctual_orb::{Orb, OrbError};
    /// use punctual_types::Priority;
    ///
    /// let orb = Orb::builder().listen("iiop://127.0.0.1").build()?;
    /// let (low, high) = (Priority::MIN, Priority::MAX);
    /// let pool = |endpoint| orb.threadpool().lane(low, 1).lane(high, 1).lane_endpoint(high, endpoint).build();
    /// assert!(pool("iiop://127.0.0.1:0").is_ok());
    /// assert!(matches!(pool("127.0.0.1:2810"), Err(OrbError::Address(_))), "it has no scheme");
    ///
    /// let nowhere = orb.threadpool().lane(low, 1).lane_endpoint(high, "iiop://127.0.0.1").build();
    /// assert!(nowhere.err().is_some_and(|error| error.to_string().contains("no lane of priority 32767")));
    /// # Ok::<(), OrbError>(())
    /// ```
    pub fn lane_endpoint(mut self, lane: Priority, endpoint: &str) -> Self {
        self.endpoints.add(lane, endpoint, None);
        self
    }

    /// As [`Self::lane_endpoint`], where clients reach it under another address; see `OrbBuilder::listen_as`.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// use punctual_types::Priority;
    ///
    /// let orb = Orb::builder().listen_as("iiop://0.0.0.0", "iiop://radar.example").build()?;
    /// let high = Priority::MAX;
    /// let pool = orb
    ///     .threadpool()
    ///     .lane(high, 1)
    ///     .lane_endpoint_as(high, "iiop://0.0.0.0", "iiop://radar.example:2811")
    ///     .build()?;
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn lane_endpoint_as(mut self, lane: Priority, endpoint: &str, published: &str) -> Self {
        self.endpoints.add(lane, endpoint, Some(published));
        self
    }
}

impl LaneEndpoints {
    fn add(&mut self, lane: Priority, endpoint: &str, published: Option<&str>) {
        self.0.push(LaneEndpoint {
            lane,
            endpoint: endpoint.to_owned(),
            published: published.map(str::to_owned),
        });
    }

    /// Fails where one is for a lane that the pool does not have.
    pub(crate) fn check(&self, lanes: &[Priority]) -> Result<(), OrbError> {
        match self.0.iter().find(|place| !lanes.contains(&place.lane)) {
            None => Ok(()),
            Some(LaneEndpoint { lane, endpoint, .. }) => {
                let hint = format!("the pool has no lane of priority {lane}; its lanes have {lanes:?}");
                Err(AddressError::new(endpoint, hint).into())
            }
        }
    }

    /// Where the lane of this name and priority listens.
    pub(crate) fn places(
        &self,
        orb: &OrbCore,
        name: &str,
        lane: Priority,
    ) -> Result<Vec<punctual_lane::LaneEndpoint>, OrbError> {
        let own: Result<Vec<_>, _> = self
            .0
            .iter()
            .filter(|place| place.lane == lane)
            .map(|place| orb.endpoint(&place.endpoint, place.published.as_deref()))
            .collect();
        match own? {
            own if own.is_empty() => Ok(orb.pools.endpoints_beside(name)),
            own => Ok(own),
        }
    }
}
