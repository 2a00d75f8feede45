//! IIOP over TLS as a transport of the Punctual ORB: endpoints `ssliop://HOST:PORT`, which references state
//! in the way of SSLIOP, so that TAO, JacORB and omniORB find them, and this ORB finds theirs.
//!
//! TLS itself is rustls, with the cryptography of ring. `docs/tls.md` has the commands that make
//! certificates, and what of it is real-time.
//!
//! ```no_run
//! use punctual::Orb;
//! use punctual_tls::{ClientCertificates, Tls, TlsSettings};
//!
//! let settings = TlsSettings::new()
//!     .certificate("server.pem", "server.key")
//!     .trust("ca.pem")
//!     .client_certificates(ClientCertificates::Required);
//! let orb = Orb::builder()
//!     .transport(Tls::new(&settings)?)
//!     .listen("ssliop://radar.example:2810")
//!     .build()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod certificates;
mod counts;
mod error;
mod file;
mod handshakes;
mod host_names;
mod listener;
mod reason;
mod session;
mod settings;
mod stream;
#[cfg(test)]
mod tests;
mod transport;

pub use counts::HandshakeCounts;
pub use error::TlsError;
pub use settings::{ClientCertificates, HostNames, MinimumVersion, TlsSettings, Use};
pub use transport::Tls;
