//! Endpoints at which a server listens, as the user states them.

use punctual_lane::LaneEndpoint;
use punctual_transport::{AddressError, ProtocolPolicy, Transports};
use punctual_types::Priority;

/// Endpoint at which an ORB or a lane listens; for [`crate::OrbBuilder::listen`] and
/// [`crate::ThreadPoolBuilder::lane_endpoint`], which also take a URL alone.
///
/// ```
/// # mod punctual { pub use {punctual_orb::*, punctual_types::*}; }
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// use punctual::{Endpoint, Orb, Priority};
///
/// // Clients reach the server at a gateway, and none of them gets a higher priority than 10,000.
/// let gateway = Endpoint::new("iiop://0.0.0.0:0")
///     .published_as("iiop://radar.example:2809")
///     .up_to(Priority::new(10_000)?);
/// let orb = Orb::builder().listen(gateway).build()?;
/// let doubler: DoublerRef = orb.root_poa().activate(Doubler)?;
/// assert_eq!(orb.publish("Doubler", &doubler)?, "corbaloc:iiop:1.2@radar.example:2809/Doubler");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Endpoint {
    url: String,
    published: Option<String>,
    highest_priority: Priority,
    stated_at: Option<String>,
}

impl Endpoint {
    /// Creates the endpoint with this URL: `iiop://HOST:PORT`, `uiop://PATH`, `shmiop://PATH`, or one of a
    /// transport that was added with [`crate::OrbBuilder::transport`].
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            published: None,
            highest_priority: Priority::MAX,
            stated_at: None,
        }
    }

    /// Sets the address that references name: that of a gateway that translates addresses, or one of several
    /// names of the host. The scheme must be the same; with port 0, or without a port, references name the
    /// port that is bound. Default: the endpoint's own.
    #[must_use]
    pub fn published_as(mut self, url: impl Into<String>) -> Self {
        self.published = Some(url.into());
        self
    }

    /// Sets the highest priority (0 to 32,767) of requests that arrive here, regardless of what adapters
    /// accept elsewhere. Default: 32,767.
    #[must_use]
    pub fn up_to(mut self, highest_priority: Priority) -> Self {
        self.highest_priority = highest_priority;
        self
    }

    /// Sets the place where the endpoint is stated, such as `radar.toml:3`, which errors then name. Default:
    /// none.
    ///
    /// ```
    /// # use punctual_orb as punctual;
    /// use punctual::{Endpoint, Orb};
    ///
    /// let stated = Endpoint::new("localhost:2809").stated_at("radar.toml:3");
    /// let error = Orb::builder().listen(stated).build().err().expect("it has no scheme");
    /// assert!(error.to_string().ends_with("(stated at radar.toml:3)"));
    /// ```
    #[must_use]
    pub fn stated_at(mut self, place: impl Into<String>) -> Self {
        self.stated_at = Some(place.into());
        self
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// This endpoint of one of these transports.
    pub(crate) fn open_with(
        &self,
        transports: &Transports,
        protocols: &ProtocolPolicy,
    ) -> Result<LaneEndpoint, AddressError> {
        let published = self.published.as_deref();
        let endpoint = LaneEndpoint::parse(transports, &self.url, published, protocols);
        let mut endpoint = endpoint.map_err(|error| match &self.stated_at {
            Some(place) => error.stated_at(place),
            None => error,
        })?;
        endpoint.highest_priority = self.highest_priority;
        endpoint.stated_at.clone_from(&self.stated_at);
        Ok(endpoint)
    }
}

impl From<&str> for Endpoint {
    fn from(url: &str) -> Self {
        Self::new(url)
    }
}

impl From<&String> for Endpoint {
    fn from(url: &String) -> Self {
        Self::new(url)
    }
}

impl From<String> for Endpoint {
    fn from(url: String) -> Self {
        Self::new(url)
    }
}
