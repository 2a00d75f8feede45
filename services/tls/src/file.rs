//! Settings in a TOML file.

use std::path::{Path, PathBuf};

use punctual_toml::{Key, Problem, Span};
use serde::Deserialize;

use crate::{ClientCertificates, HostNames, MinimumVersion, TlsError, TlsSettings, Use};

impl TlsSettings {
    /// Reads settings from a TOML file. Paths in it are relative to its folder. `docs/tls.md` lists the keys.
    ///
    /// ```
    /// use punctual_tls::TlsSettings;
    ///
    /// let path = std::env::temp_dir().join(format!("tls-{}.toml", std::process::id()));
    /// std::fs::write(&path, "trust = ['/etc/site/ca.pem']\n[client]\nuse = 'preferred'")?;
    /// let read = TlsSettings::read(&path)?;
    /// # std::fs::remove_file(&path)?;
    /// let expected = TlsSettings::new().trust("/etc/site/ca.pem");
    /// assert_eq!(read, expected.use_of_clients(punctual_tls::Use::Preferred));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`TlsError::Settings`], with line and key.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, TlsError> {
        read(path.as_ref())
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
    trust: Vec<PathBuf>,
    minimum_version: MinimumVersion,
    server: Server,
    client: Client,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Server {
    client_certificates: ClientCertificates,
    handshake_timeout: Option<Span>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Client {
    #[serde(rename = "use")]
    use_of_clients: Use,
    host_names: HostNames,
}

fn read(path: &Path) -> Result<TlsSettings, TlsError> {
    let file: File = punctual_toml::read(path, check)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let beside = |path: &PathBuf| folder.join(path);
    let mut settings = TlsSettings::new()
        .minimum_version(file.minimum_version)
        .client_certificates(file.server.client_certificates)
        .use_of_clients(file.client.use_of_clients)
        .host_names(file.client.host_names);
    if let (Some(certificate), Some(key)) = (&file.certificate, &file.key) {
        settings = settings.certificate(beside(certificate), beside(key));
    }
    if let Some(Span(timeout)) = file.server.handshake_timeout {
        settings = settings.handshake_timeout(timeout);
    }
    Ok(file.trust.iter().map(beside).fold(settings, TlsSettings::trust))
}

fn check(file: &File) -> Result<(), Problem> {
    let key = Key::default();
    match (&file.certificate, &file.key) {
        (Some(_), None) => key
            .name("certificate")
            .problem("it needs `key`, the file with its private key"),
        (None, Some(_)) => key
            .name("key")
            .problem("it needs `certificate`, the file with its chain"),
        _ => Ok(()),
    }
}
