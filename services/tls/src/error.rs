//! Errors of settings.

use std::{io, path::PathBuf, time::Duration};

use punctual_toml::FileError;
use thiserror::Error;

/// Settings with which no connection can be protected.
///
/// ```
/// use punctual_tls::{Tls, TlsError, TlsSettings};
///
/// let error = Tls::new(&TlsSettings::new().trust("absent.pem")).err().unwrap();
/// assert!(matches!(&error, TlsError::File { path, .. } if path.ends_with("absent.pem")));
/// ```
#[derive(Error)]
#[non_exhaustive]
pub enum TlsError {
    /// The file of settings.
    #[error(transparent)]
    Settings(#[from] FileError),
    /// A file with certificates or a key cannot be read.
    #[error("{}: {source}; state the path of a readable file in PEM form", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file has no such part, or a malformed one.
    #[error(
        "{}: {problem}; it must have `-----BEGIN {expected}-----` and what follows it in PEM form",
        path.display()
    )]
    Pem {
        /// The file.
        path: PathBuf,
        /// Fault of the file.
        problem: String,
        /// Label of the missing part.
        expected: &'static str,
    },
    /// The key is encrypted, which is not supported.
    #[error(
        "{path}: the key is encrypted, which is not supported; state the file that \
         `openssl pkey -in {path} -out decrypted.key` writes, which only its owner can read",
        path = .0.display()
    )]
    EncryptedKey(PathBuf),
    /// The key does not belong to the certificate, or has an unknown form.
    #[error(
        "the key in {} cannot be used with the certificate in {}: {problem}",
        key.display(),
        certificate.display()
    )]
    Key {
        /// File with the certificate.
        certificate: PathBuf,
        /// File with the key.
        key: PathBuf,
        /// Reason.
        problem: String,
    },
    /// A trusted certificate is no root of chains.
    #[error("{}: a certificate in it cannot be trusted as a root: {problem}", path.display())]
    Root {
        /// The file.
        path: PathBuf,
        /// Reason.
        problem: String,
    },
    /// Clients are to show certificates, and no root of them is trusted.
    #[error(
        "certificates of clients are verified (`server.client_certificates`), but none is trusted; state \
         their root in `trust`"
    )]
    NobodyTrusted,
    /// Servers are to request certificates, and there can be no server.
    #[error(
        "`server.client_certificates` requests certificates of clients, but only a server with a certificate \
         of its own can do so; state `certificate` and `key`, or leave it out"
    )]
    NoServer,
    /// The time for handshakes of clients is zero, or above one day.
    #[error("`server.handshake_timeout` is {0:?}; state a time above zero up to one day, such as \"5 s\"")]
    HandshakeTimeout(Duration),
    /// Neither a certificate nor a trusted root: no connection would succeed in either direction.
    #[error(
        "the settings name neither `certificate` and `key`, which servers need, nor `trust`, which \
         clients need"
    )]
    Nothing,
    /// The library has refused a setting.
    #[error("TLS cannot be set up: {0}")]
    Library(String),
}

punctual_types::debug_as_display!(TlsError);
