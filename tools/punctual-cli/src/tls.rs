//! The option `--tls` of commands that connect or serve.

use std::path::PathBuf;

use clap::Args;
use punctual::{OrbBuilder, OrbError, ResolveError, UrlError};
use punctual_tls::{Tls, TlsError, TlsSettings};

/// Settings of TLS.
#[derive(Args, Debug)]
pub struct TlsFile {
    /// Use TLS with the settings of this TOML file (docs/tls.md); clients then use nothing else, unless it
    /// permits them to
    #[arg(long, value_name = "FILE")]
    tls: Option<PathBuf>,
}

impl TlsFile {
    /// Adds the transport, if the option is given.
    pub fn applied_to(&self, builder: OrbBuilder) -> Result<OrbBuilder, TlsError> {
        match &self.tls {
            Some(file) => Ok(builder.transport(Tls::new(&TlsSettings::read(file)?)?)),
            None => Ok(builder),
        }
    }
}

/// Returns the text for an address that cannot be resolved for want of the option.
pub fn missing(error: &ResolveError) -> Option<String> {
    match error {
        ResolveError::Url(UrlError::NoTls(address)) => Some(needed(address)),
        _ => None,
    }
}

/// Returns the text for an endpoint at which an ORB cannot listen for want of the option.
pub fn missing_to_listen(endpoint: &str, error: &OrbError) -> Option<String> {
    let is_of_tls = endpoint.starts_with("ssliop://") && matches!(error, OrbError::Address(_));
    is_of_tls.then(|| needed(endpoint))
}

fn needed(address: &str) -> String {
    format!("`{address}` is an address of TLS, which needs `--tls FILE`")
}
