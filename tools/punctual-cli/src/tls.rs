//! The option `--tls` of commands that connect or serve.

use std::path::PathBuf;

use clap::Args;
use punctual::OrbBuilder;
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
