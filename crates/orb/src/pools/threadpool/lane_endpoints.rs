//! Endpoints of a pool, and of single lanes of the pool.

use punctual_transport::AddressError;
use punctual_types::Priority;

use super::ThreadPoolBuilder;
use crate::{Endpoint, OrbError, orb_core::OrbCore};

/// Endpoints that the user chose for a pool.
#[derive(Default)]
pub(crate) struct LaneEndpoints {
    of_pool: Vec<Endpoint>,
    of_lanes: Vec<(Priority, Endpoint)>,
}

impl ThreadPoolBuilder {
    /// Gives the pool a fixed address, instead of free ports beside the ORB's: references to its objects
    /// remain valid when the server is started again, if their adapter is
    /// [`persistent`](crate::PoaBuilder::persistent), and firewalls can be opened for it.
    ///
    /// The lane of the lowest priority listens at the endpoint itself, the others in order of their
    /// priorities at the following ports (`iiop`), or at the path with `.1`, `.2` and so on appended. Several
    /// endpoints can be added. [`Self::lane_endpoint`] places single lanes elsewhere.
    ///
    /// ```
    /// # use punctual_types as punctual;
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::{Orb, OrbError};
    /// use punctual::{Priority, PriorityModel};
    ///
    /// let orb = Orb::builder().build()?;
    /// // Ports 28110 and 28111.
    /// let lanes = orb.threadpool().lane(Priority::MIN, 1).lane(Priority::MAX, 1);
    /// let pool = lanes.listen("iiop://127.0.0.1:28110").build()?;
    /// let model = PriorityModel::ClientPropagated { default: Priority::MIN };
    /// let numbers = orb.root_poa().child("numbers").threadpool(&pool).priority_model(model);
    /// let numbers = numbers.persistent().user_ids().build()?;
    /// let doubler: DoublerRef = numbers.object(Doubler).id("doubler").activate()?;
    /// # Ok::<(), OrbError>(())
    /// ```
    pub fn listen(mut self, endpoint: impl Into<Endpoint>) -> Self {
        self.endpoints.of_pool.push(endpoint.into());
        self
    }

    /// Adds an endpoint at which the lane of this priority listens, instead of those beside the ORB's: for
    /// firewalls, and for references that outlive the server. Corresponds to `-ORBLaneListenEndpoints` of
    /// TAO.
    ///
    /// A pool without lanes has one lane, of its `default_priority`.
    ///
    /// ```
    /// # use punctual_types as punctual;
    /// # use punctual_orb::{Endpoint, Orb, OrbError};
    /// use punctual::Priority;
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
        self.endpoints.of_lanes.push((lane, endpoint.into()));
        self
    }
}

impl LaneEndpoints {
    /// Fails if an endpoint is for a lane that the pool does not have.
    pub(crate) fn check(&self, lanes: &[Priority]) -> Result<(), OrbError> {
        match self.of_lanes.iter().find(|(lane, _)| !lanes.contains(lane)) {
            None => Ok(()),
            Some((lane, endpoint)) => {
                let hint = format!("the pool has no lane of priority {lane}; its lanes have {lanes:?}");
                Err(AddressError::new(endpoint.url(), hint).into())
            }
        }
    }

    /// Endpoints of the lane with this name and priority, number `number` from the lowest.
    pub(crate) fn of_lane(
        &self,
        orb: &OrbCore,
        name: &str,
        lane: Priority,
        number: usize,
    ) -> Result<Vec<punctual_lane::LaneEndpoint>, OrbError> {
        let (transports, protocols) = (&orb.configuration.transports, &orb.configuration.server_protocols);
        let open = |endpoint: &Endpoint| endpoint.open_with(transports, protocols);
        let own = self.of_lanes.iter().filter(|(own, _)| *own == lane);
        let own = own
            .map(|(_, endpoint)| open(endpoint))
            .collect::<Result<Vec<_>, _>>()?;
        if !own.is_empty() {
            return Ok(own);
        }
        if self.of_pool.is_empty() {
            return Ok(orb.pools.endpoints_beside(name));
        }
        // A lane takes a thread at least, and there are fewer of these than 65,536.
        let number = u16::try_from(number).unwrap_or(u16::MAX);
        let numbered = self
            .of_pool
            .iter()
            .map(|endpoint| Ok(open(endpoint)?.numbered(number)));
        numbered.collect()
    }
}
