//! Settings in a TOML file.

use std::path::{Path, PathBuf};

use punctual_toml::{Key, Problem, Span};
use serde::Deserialize;

use crate::{ClientCertificates, HostNames, MinimumVersion, TlsError, TlsSettings, Use};

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

pub(crate) fn read(path: &Path) -> Result<TlsSettings, TlsError> {
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
