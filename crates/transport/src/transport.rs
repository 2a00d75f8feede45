//! The interface of transports.

use std::{error::Error, fmt, io, time::Duration};

use punctual_cdr::{CdrError, Decoder, Encoder};
use punctual_giop::AssociationOptions;

use crate::{Listener, ProtocolProperties, Stream};

/// A protocol below GIOP: connections between ORBs, and the form of their addresses in references.
///
/// An ORB has one object of each; add your own with `Orb::builder().transport(…)`. An address is the text
/// after `SCHEME://` in a form of the transport; the ORB passes it on and compares it, but does not interpret
/// it.
///
/// Only the streams are on the path of a call. See `examples/03-transport-of-your-own`.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use std::{io, time::Duration};
///
/// use punctual::transport::{ProtocolProperties, Shm, Stream, Tcp, Transport, Unix};
///
/// /// Opens a connection to a listener of the same transport, which is closed afterwards.
/// fn connect(transport: &dyn Transport, address: &str) -> io::Result<Box<dyn Stream>> {
///     let properties = ProtocolProperties::default();
///     let listener = transport.listen(address, None, &properties)?;
///     // Port 0 and an empty path are replaced by what the listener is bound to.
///     assert_ne!(listener.address(), address);
///     transport.connect(listener.address(), &properties, Duration::from_secs(5))
/// }
/// connect(&Tcp, "127.0.0.1:0")?;
/// connect(&Unix, "")?;
/// assert_eq!([Tcp.scheme(), Unix.scheme(), Shm.scheme()], ["iiop", "uiop", "shmiop"]);
/// # Ok::<(), io::Error>(())
/// ```
pub trait Transport: Send + Sync {
    /// Returns the scheme of endpoints, in lower case and without `://`, such as `iiop`.
    fn scheme(&self) -> &str;

    /// Returns the tag of profiles in references. Source: CORBA 3.3 part 2, 7.6.2; the OMG assigns ranges of
    /// tags to vendors.
    fn profile_tag(&self) -> u32;

    /// Returns whether the transport connects different hosts. Default: it does.
    fn reach(&self) -> Reach {
        Reach::Network
    }

    /// Returns how its connections are protected, if it is IIOP over TLS. Default: `None`.
    ///
    /// The addresses of such a transport have the form of those of [`Tcp`](crate::Tcp), and are stated by the
    /// component TAG_SSL_SEC_TRANS of IIOP profiles, as other ORBs know it; none of its profiles has
    /// [`Self::profile_tag`]. An ORB has one at most.
    fn protection(&self) -> Option<Protection> {
        None
    }

    /// Returns the address of acceptors without an explicit address. Default: the empty text.
    fn default_address(&self) -> &str {
        ""
    }

    /// Returns the number of descriptors that each accepted connection has open. Default: 1.
    fn descriptors_per_connection(&self) -> usize {
        1
    }

    /// Returns whether it can listen. Default: it can; IIOP over TLS needs a certificate.
    ///
    /// An ORB to which no endpoint was stated, and whose transport cannot listen, is a client: its pools have
    /// threads without endpoints, which read replies.
    fn can_listen(&self) -> bool {
        true
    }

    /// Listens at an address. `published` replaces the bound address in references, for clients that reach
    /// the listener under another address.
    ///
    /// # Errors
    /// `InvalidInput` with an [`crate::AddressError`] for a malformed address, and the errors of the system.
    fn listen(
        &self,
        address: &str,
        published: Option<&str>,
        properties: &ProtocolProperties,
    ) -> io::Result<Box<dyn Listener>>;

    /// Connects to a published address, in blocking mode, within `timeout`. May wait for the server to
    /// accept.
    ///
    /// # Errors
    /// `TimedOut`, `ConnectionRefused` if no server listens there, and other errors of the system.
    fn connect(
        &self,
        address: &str,
        properties: &ProtocolProperties,
        timeout: Duration,
    ) -> io::Result<Box<dyn Stream>>;

    /// Returns a related address for the acceptor of a lane: the same host with any free port, or a path with
    /// the lane's name, which is unique in the process, appended. `address` is bound or published.
    fn lane_address(&self, address: &str, lane: &str) -> String;

    /// Returns the address of lane `number` of a pool that listens at `address`, the same in every run. Lane
    /// 0 has the address itself; TCP counts ports. Default: [`Self::lane_address`] with the number.
    fn numbered_address(&self, address: &str, number: u16) -> String {
        match number {
            0 => address.to_owned(),
            _ => self.lane_address(address, &number.to_string()),
        }
    }

    /// Encodes a published address for a profile (after the version) and for `TAO_TAG_ENDPOINTS` (before the
    /// priority).
    fn encode_address(&self, address: &str, encoder: &mut Encoder<'_>) -> Result<(), CdrError>;

    /// Decodes the output of [`Self::encode_address`]: untrusted text from a peer.
    fn decode_address(&self, decoder: &mut Decoder<'_>) -> Result<String, CdrError>;
}

/// The protection that a transport gives to connections.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use punctual::transport::{AssociationOptions, Protection};
///
/// let protection = Protection {
///     supports: AssociationOptions::PROTECTED.and(AssociationOptions::TRUST_IN_TARGET),
///     requires: AssociationOptions::PROTECTED,
///     is_mandatory: true,
/// };
/// assert!(protection.supports.has(protection.requires));
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Protection {
    /// Options that servers of this ORB offer.
    pub supports: AssociationOptions,
    /// Options without which servers of this ORB accept no connection to a port for TLS.
    pub requires: AssociationOptions,
    /// Whether clients of this ORB connect over this transport only.
    pub is_mandatory: bool,
}

/// The reason why a connection was made, but its peer is not trusted, or does not trust this side. Inside the
/// [`io::Error`] of [`Transport::connect`] or a [`Stream`], for the text of NO_PERMISSION.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use std::io;
///
/// use punctual::transport::Distrust;
///
/// let error = io::Error::from(Distrust("the certificate has expired".to_owned()));
/// assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
/// assert_eq!(Distrust::of(&error), Some("the certificate has expired"));
/// assert_eq!(Distrust::of(&io::ErrorKind::PermissionDenied.into()), None);
/// ```
#[derive(Clone, Eq, PartialEq)]
pub struct Distrust(pub String);

punctual_types::debug_as_display!(Distrust);

impl Distrust {
    /// Returns the reason inside an error, if it is one of this kind.
    pub fn of(error: &io::Error) -> Option<&str> {
        let inner = error.get_ref()?.downcast_ref::<Self>()?;
        Some(&inner.0)
    }
}

impl fmt::Display for Distrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Distrust {}

impl From<Distrust> for io::Error {
    fn from(reason: Distrust) -> Self {
        Self::new(io::ErrorKind::PermissionDenied, reason)
    }
}

/// The reach of a transport.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use punctual::transport::{Reach, Shm, Tcp, Transport, Unix};
///
/// let preference = |transport: &dyn Transport| match transport.reach() {
///     Reach::Network => None,
///     Reach::Host { preference } => Some(preference),
/// };
/// assert_eq!(preference(&Tcp), None);
/// assert!(preference(&Shm) > preference(&Unix), "clients of the same host try shared memory first");
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reach {
    /// Other hosts.
    Network,
    /// The local host only.
    Host {
        /// Clients try higher preferences first, and all of them before network transports.
        preference: u8,
    },
}
