//! The transport.

use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use punctual::{
    Protocol,
    transport::{
        AddressError, AssociationOptions, CdrError, Decoder, Encoder, Listener, Protection,
        ProtocolProperties, Stream, Tcp, Transport,
    },
};
use punctual_os::PiMutex;
use rustls::{ClientConfig, ClientConnection, ServerConfig, pki_types::ServerName};

use crate::{
    ClientCertificates, TlsError, TlsSettings, Use, certificates,
    counts::{Counters, HandshakeCounts},
    handshakes::Handshakes,
    listener::TlsListener,
    reason::CLOSED,
    session::Session,
    stream::{TlsStream, shake_hands},
};

/// IIOP over TLS, the transport of endpoints `ssliop://HOST:PORT`. Hosts and ports are those of
/// [`Tcp`].
///
/// References of an ORB with it state the port in the profile of IIOP, as SSLIOP does. Clients prefer it to
/// TCP, and use nothing else unless [`Use::Preferred`] is set.
///
/// Each acceptor has a thread `tls-handshake` of the ordinary class, or as
/// [`TlsSettings::handshake_scheduling`] states: a lane sees connections after their handshake only. Clones
/// share their counts.
///
/// ```no_run
/// use punctual::{Orb, Protocol};
/// use punctual_tls::{Tls, TlsSettings};
///
/// let tls = Tls::new(&TlsSettings::read("tls.toml")?)?;
/// let orb = Orb::builder().transport(tls.clone()).listen("ssliop://localhost:2810").build()?;
/// println!("{} connections", tls.handshakes().completed);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Tls {
    client: Option<Arc<ClientConfig>>,
    server: Option<Arc<ServerConfig>>,
    settings: TlsSettings,
    counters: Arc<Counters>,
}

impl Tls {
    /// Reads the files that the settings name.
    ///
    /// # Errors
    /// [`TlsError`]: unreadable or malformed files, a key that does not fit, nobody to trust, or settings
    /// that cannot work.
    pub fn new(settings: &TlsSettings) -> Result<Self, TlsError> {
        settings.check()?;
        let tls = Self {
            client: certificates::of_clients(settings)?,
            server: certificates::of_servers(settings)?,
            settings: settings.clone(),
            counters: Arc::default(),
        };
        if tls.client.is_none() && tls.server.is_none() {
            return Err(TlsError::Nothing);
        }
        Ok(tls)
    }

    /// Returns the number of handshakes of all acceptors.
    pub fn handshakes(&self) -> HandshakeCounts {
        self.counters.counts()
    }
}

impl Transport for Tls {
    fn scheme(&self) -> &str {
        "ssliop"
    }

    fn profile_tag(&self) -> u32 {
        Protocol::TLS.profile_tag
    }

    fn protection(&self) -> Option<Protection> {
        let always = AssociationOptions::PROTECTED.and(AssociationOptions::TRUST_IN_TARGET);
        let client = AssociationOptions::TRUST_IN_CLIENT;
        let (supports, requires) = match self.settings.client_certificates {
            ClientCertificates::None => (always, AssociationOptions::PROTECTED),
            ClientCertificates::Optional => (always.and(client), AssociationOptions::PROTECTED),
            ClientCertificates::Required => (always.and(client), AssociationOptions::PROTECTED.and(client)),
        };
        Some(Protection {
            supports,
            requires,
            is_mandatory: self.settings.use_of_clients == Use::Required,
        })
    }

    fn default_address(&self) -> &str {
        Tcp.default_address()
    }

    fn can_listen(&self) -> bool {
        self.server.is_some()
    }

    fn listen(
        &self,
        address: &str,
        published: Option<&str>,
        properties: &ProtocolProperties,
    ) -> io::Result<Box<dyn Listener>> {
        let tcp = Tcp
            .listen(address, published, properties)
            .map_err(|error| in_own_words(error, address))?;
        let config = self.server.as_ref().ok_or_else(|| {
            let problem = "a server with TLS needs a certificate: state `certificate` and `key` in its \
                 settings, or let it listen without TLS: `.listen(\"iiop://HOST:PORT\")`";
            io::Error::new(io::ErrorKind::InvalidInput, problem)
        })?;
        let (handshakes, thread) = Handshakes::start(
            Arc::clone(config),
            self.settings.handshake_timeout,
            self.settings.handshake_scheduling,
            Arc::clone(&self.counters),
        )?;
        let thread = PiMutex::new(Some(thread));
        Ok(Box::new(TlsListener {
            tcp,
            handshakes,
            thread,
        }))
    }

    fn connect(
        &self,
        address: &str,
        properties: &ProtocolProperties,
        timeout: Duration,
    ) -> io::Result<Box<dyn Stream>> {
        let deadline = Instant::now() + timeout;
        let stream = Tcp
            .connect(address, properties, timeout)
            .map_err(|error| in_own_words(error, address))?;
        let config = self.client.as_ref().ok_or_else(|| {
            punctual::transport::Distrust("no root is trusted: state `trust` in the settings".to_owned())
        })?;
        stream.set_nonblocking(true)?;
        let connection =
            ClientConnection::new(Arc::clone(config), host(address)?).map_err(io::Error::other)?;
        let mut session = Session::new(connection);
        shake_hands(&*stream, &mut session, deadline, CLOSED)?;
        Ok(Box::new(TlsStream::new(stream, session, false)))
    }

    fn lane_address(&self, address: &str, lane: &str) -> String {
        Tcp.lane_address(address, lane)
    }

    fn numbered_address(&self, address: &str, number: u16) -> String {
        Tcp.numbered_address(address, number)
    }

    fn encode_address(&self, address: &str, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        Tcp.encode_address(address, encoder)
    }

    fn decode_address(&self, decoder: &mut Decoder<'_>) -> Result<String, CdrError> {
        Tcp.decode_address(decoder)
    }
}

/// Returns the host of an address as certificates name it.
fn host(address: &str) -> io::Result<ServerName<'static>> {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    ServerName::try_from(host.to_owned()).map_err(|_| {
        punctual::transport::Distrust("certificates cannot have this host name".to_owned()).into()
    })
}

/// An error of an address names the scheme that the user has written.
fn in_own_words(error: io::Error, address: &str) -> io::Error {
    let is_of_address = error.get_ref().is_some_and(|inner| inner.is::<AddressError>());
    if !is_of_address {
        return error;
    }
    let hint = "use `ssliop://HOST:PORT`, such as `ssliop://localhost:2810`, with a port up to 65535";
    AddressError::new(&format!("ssliop://{address}"), hint.to_owned()).into()
}
