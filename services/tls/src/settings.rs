//! Settings of TLS.

use std::{path::PathBuf, time::Duration};

use punctual_os::Scheduling;
use serde::Deserialize;

use crate::TlsError;

/// Settings of TLS: what this side shows, whom it trusts, and what it requires.
///
/// A server needs a certificate, a client a trusted root. Files are read by [`Tls::new`](crate::Tls::new).
///
/// ```
/// use punctual_tls::{HostNames, TlsSettings, Use};
///
/// // A client that connects to certified servers of its site whatever their names are.
/// let settings = TlsSettings::new()
///     .trust("/etc/site/ca.pem")
///     .host_names(HostNames::Ignored)
///     .use_of_clients(Use::Required);
/// assert_ne!(settings, TlsSettings::new());
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TlsSettings {
    pub(crate) certificate: Option<(PathBuf, PathBuf)>,
    pub(crate) trust: Vec<PathBuf>,
    pub(crate) minimum_version: MinimumVersion,
    pub(crate) client_certificates: ClientCertificates,
    pub(crate) handshake_timeout: Duration,
    pub(crate) handshake_scheduling: Scheduling,
    pub(crate) use_of_clients: Use,
    pub(crate) host_names: HostNames,
}

/// Whether the clients of an ORB use TLS.
///
/// ```
/// use punctual_tls::Use;
///
/// assert_eq!(Use::default(), Use::Required);
/// ```
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Use {
    /// For every connection: references without TLS are refused with NO_PERMISSION, those over Unix sockets
    /// and shared memory, too. Calls to objects of the same ORB need no connection.
    #[default]
    Required,
    /// Where the server offers it. If the connection fails, the server's other endpoints are tried.
    /// [`Protocol::TLS`](punctual::Protocol::TLS) as a client protocol policy requires it for a reference.
    Preferred,
}

/// Whether servers request certificates of clients.
///
/// ```
/// use punctual_tls::ClientCertificates;
///
/// assert_eq!(ClientCertificates::default(), ClientCertificates::None);
/// ```
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum ClientCertificates {
    /// None are requested.
    #[default]
    None,
    /// Clients may do without; those that are shown must be trusted.
    Optional,
    /// Clients without a trusted one are refused.
    Required,
}

/// Whether the host of a reference must be a name in the server's certificate.
///
/// ```
/// use punctual_tls::HostNames;
///
/// assert_eq!(HostNames::default(), HostNames::Checked);
/// ```
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum HostNames {
    /// It must: the certificate needs it as subject alternative name (`DNS:` or `IP:`).
    #[default]
    Checked,
    /// Any server with a trusted certificate is accepted, as other ORBs do. For roots that certify servers of
    /// one system only.
    Ignored,
}

/// The lowest version of TLS.
///
/// ```
/// use punctual_tls::MinimumVersion;
///
/// assert_eq!(MinimumVersion::default(), MinimumVersion::V1_2);
/// ```
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
pub enum MinimumVersion {
    /// TLS 1.2, and 1.3 with peers that have it.
    #[default]
    #[serde(rename = "1.2")]
    V1_2,
    /// TLS 1.3.
    #[serde(rename = "1.3")]
    V1_3,
}

impl TlsSettings {
    /// Settings without certificates: TLS 1.2 or later, required by clients; clients show no certificate.
    pub fn new() -> Self {
        Self {
            certificate: None,
            trust: Vec::new(),
            minimum_version: MinimumVersion::default(),
            client_certificates: ClientCertificates::default(),
            handshake_timeout: Duration::from_secs(5),
            handshake_scheduling: Scheduling::OTHER,
            use_of_clients: Use::default(),
            host_names: HostNames::default(),
        }
    }

    /// Files with the own chain of certificates, the own one first, and with its key (PKCS #8, PKCS #1 or
    /// SEC 1, not encrypted), both in PEM form. Clients show it if they are asked.
    #[must_use]
    pub fn certificate(mut self, chain: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        self.certificate = Some((chain.into(), key.into()));
        self
    }

    /// Adds a file with trusted roots in PEM form, for certificates of servers and of clients.
    #[must_use]
    pub fn trust(mut self, roots: impl Into<PathBuf>) -> Self {
        self.trust.push(roots.into());
        self
    }

    /// Sets the lowest version of TLS. Default: 1.2.
    #[must_use]
    pub fn minimum_version(mut self, version: MinimumVersion) -> Self {
        self.minimum_version = version;
        self
    }

    /// Sets whether servers request certificates of clients. Default: none.
    #[must_use]
    pub fn client_certificates(mut self, client_certificates: ClientCertificates) -> Self {
        self.client_certificates = client_certificates;
        self
    }

    /// Sets the time that a peer has for its part of the handshake with a server, from its connection on.
    /// Up to one day; default: 5 s. That of clients is the connect timeout.
    #[must_use]
    pub fn handshake_timeout(mut self, timeout: Duration) -> Self {
        self.handshake_timeout = timeout;
        self
    }

    /// Sets the scheduling of the thread of each acceptor that executes handshakes. Default: the ordinary
    /// class, so that handshakes delay no real-time thread.
    #[must_use]
    pub fn handshake_scheduling(mut self, scheduling: Scheduling) -> Self {
        self.handshake_scheduling = scheduling;
        self
    }

    /// Sets whether clients use TLS for all connections. Default: they do.
    #[must_use]
    pub fn use_of_clients(mut self, use_of_clients: Use) -> Self {
        self.use_of_clients = use_of_clients;
        self
    }

    /// Sets whether the host of a reference must be in the server's certificate. Default: it must.
    #[must_use]
    pub fn host_names(mut self, host_names: HostNames) -> Self {
        self.host_names = host_names;
        self
    }
}

impl TlsSettings {
    /// Finds settings that cannot work.
    pub(crate) fn check(&self) -> Result<(), TlsError> {
        const DAY: Duration = Duration::from_secs(24 * 60 * 60);
        if self.client_certificates != ClientCertificates::None && self.certificate.is_none() {
            return Err(TlsError::NoServer);
        }
        if self.handshake_timeout.is_zero() || self.handshake_timeout > DAY {
            return Err(TlsError::HandshakeTimeout(self.handshake_timeout));
        }
        Ok(())
    }
}

impl Default for TlsSettings {
    fn default() -> Self {
        Self::new()
    }
}
