use std::{io, time::Duration};

use punctual_cdr::{CdrError, Decoder, Encoder};

use crate::{Listener, ProtocolProperties, Stream};

/// A protocol below GIOP: how octets get from one ORB to another, and how references say where.
///
/// The ORB has one object of each; a crate of your own adds another with `Orb::builder().transport(…)`. Addresses are texts of
/// the transport's own, as they stand behind `SCHEME://`; the ORB passes them on and compares them, and never looks inside.
///
/// Nothing here is on the path of a call but the streams. See `examples/03-transport-of-your-own`.
pub trait Transport: Send + Sync {
    /// What its endpoints begin with, in lower case and without `://`, such as `iiop`.
    fn scheme(&self) -> &str;

    /// The tag of its profiles in references. Source: CORBA 3.3 part 2, 7.6.2; the OMG gives out ranges of tags to vendors.
    fn profile_tag(&self) -> u32;

    /// Whether it leads from host to host. Default: it does.
    fn reach(&self) -> Reach {
        Reach::Network
    }

    /// Where an ORB listens that was told to use this transport and not where. Default: the empty text.
    fn default_address(&self) -> &str {
        ""
    }

    /// Listens at an address. The listener says `published` to clients where that is given, for those that reach it under
    /// another address than the one it is bound to.
    ///
    /// # Errors
    /// `InvalidInput` with an [`crate::AddressError`] inside for a text that is no address, and whatever the system says.
    fn listen(
        &self,
        address: &str,
        published: Option<&str>,
        properties: &ProtocolProperties,
    ) -> io::Result<Box<dyn Listener>>;

    /// Connects to a published address, in blocking mode, within `timeout`. May wait for the server to accept.
    ///
    /// # Errors
    /// `TimedOut`; `ConnectionRefused` where nobody listens there; anything else the system says.
    fn connect(
        &self,
        address: &str,
        properties: &ProtocolProperties,
        timeout: Duration,
    ) -> io::Result<Box<dyn Stream>>;

    /// An address beside this one (bound or published) for the acceptor of a lane, whose name differs from all others of the
    /// process: the same host with any free port, a path with the name behind it.
    fn lane_address(&self, address: &str, lane: &str) -> String;

    /// Writes a published address as it stands in a profile behind the version, and in `TAO_TAG_ENDPOINTS` before the priority.
    fn encode_address(&self, address: &str, encoder: &mut Encoder<'_>) -> Result<(), CdrError>;

    /// Reads what [`Self::encode_address`] writes; text that a peer chose.
    fn decode_address(&self, decoder: &mut Decoder<'_>) -> Result<String, CdrError>;
}

/// How far a transport leads.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reach {
    /// To other hosts.
    Network,
    /// Within the host.
    Host {
        /// Clients on the same host try the higher one first, and all of them before transports of the network.
        preference: u8,
    },
}
