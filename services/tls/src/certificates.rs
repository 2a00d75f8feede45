//! From files to the configurations of the library.

use std::{io, path::Path, sync::Arc};

use rustls::{
    ClientConfig, RootCertStore, ServerConfig, SupportedProtocolVersion,
    client::{Resumption, WebPkiServerVerifier},
    crypto::{CryptoProvider, ring},
    pki_types::{
        CertificateDer, PrivateKeyDer,
        pem::{self, PemObject as _},
    },
    server::{NoServerSessionStorage, WebPkiClientVerifier},
    version::{TLS12, TLS13},
};

use crate::{ClientCertificates, HostNames, MinimumVersion, TlsError, TlsSettings, host_names::AnyHostName};

/// The configuration of clients; `None`: they trust nobody.
pub(crate) fn of_clients(settings: &TlsSettings) -> Result<Option<Arc<ClientConfig>>, TlsError> {
    let Some(roots) = roots(settings)? else {
        return Ok(None);
    };
    let provider = provider();
    let verifier = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider))
        .build()
        .map_err(library)?;
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions(settings.minimum_version))
        .map_err(library)?;
    let builder = match settings.host_names {
        HostNames::Checked => builder.with_webpki_verifier(verifier),
        HostNames::Ignored => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyHostName(verifier))),
    };
    let mut config = match own(settings)? {
        Some((chain, key)) => builder
            .with_client_auth_cert(chain, key)
            .map_err(|error| key_problem(settings, &error))?,
        None => builder.with_no_client_auth(),
    };
    // Connections are kept: the memory of sessions would save little, and their tickets arrive unasked.
    config.resumption = Resumption::disabled();
    Ok(Some(Arc::new(config)))
}

/// The configuration of servers; `None`: they have no certificate.
pub(crate) fn of_servers(settings: &TlsSettings) -> Result<Option<Arc<ServerConfig>>, TlsError> {
    let Some((chain, key)) = own(settings)? else {
        return Ok(None);
    };
    let provider = provider();
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(versions(settings.minimum_version))
        .map_err(library)?;
    let builder = if settings.client_certificates == ClientCertificates::None {
        builder.with_no_client_auth()
    } else {
        let roots = roots(settings)?.ok_or(TlsError::NobodyTrusted)?;
        let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider);
        let verifier = match settings.client_certificates {
            ClientCertificates::Optional => verifier.allow_unauthenticated(),
            _ => verifier,
        };
        builder.with_client_cert_verifier(verifier.build().map_err(library)?)
    };
    let mut config = builder
        .with_single_cert(chain, key)
        .map_err(|error| key_problem(settings, &error))?;
    config.send_tls13_tickets = 0;
    config.session_storage = Arc::new(NoServerSessionStorage {});
    Ok(Some(Arc::new(config)))
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn versions(minimum: MinimumVersion) -> &'static [&'static SupportedProtocolVersion] {
    static ALL: [&SupportedProtocolVersion; 2] = [&TLS13, &TLS12];
    match minimum {
        MinimumVersion::V1_2 => &ALL,
        MinimumVersion::V1_3 => &ALL[..1],
    }
}

/// The trusted roots; `None`: no file is named.
fn roots(settings: &TlsSettings) -> Result<Option<Arc<RootCertStore>>, TlsError> {
    let mut roots = RootCertStore::empty();
    for path in &settings.trust {
        for certificate in chain(path)? {
            roots.add(certificate).map_err(|error| TlsError::Root {
                path: path.clone(),
                problem: error.to_string(),
            })?;
        }
    }
    Ok((!roots.is_empty()).then(|| Arc::new(roots)))
}

/// Own chain of certificates, and its key.
type Own = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn own(settings: &TlsSettings) -> Result<Option<Own>, TlsError> {
    let Some((certificate, key)) = &settings.certificate else {
        return Ok(None);
    };
    let chain = chain(certificate)?;
    let octets = read(key)?;
    let key = PrivateKeyDer::from_pem_slice(&octets).map_err(|error| match is_encrypted(&octets) {
        true => TlsError::EncryptedKey(key.clone()),
        false => pem_problem(key, "PRIVATE KEY", &error),
    })?;
    Ok(Some((chain, key)))
}

/// Returns whether a key is encrypted as in PKCS #8, or as in RFC 1421, the form of older programs.
fn is_encrypted(octets: &[u8]) -> bool {
    let text = String::from_utf8_lossy(octets);
    text.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----") || text.contains("\nProc-Type: 4,ENCRYPTED")
}

/// The certificates of a file, one at least.
fn chain(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    const LABEL: &str = "CERTIFICATE";
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&read(path)?).collect();
    match certificates {
        Ok(none) if none.is_empty() => Err(pem_problem(path, LABEL, &pem::Error::NoItemsFound)),
        Ok(certificates) => Ok(certificates),
        Err(error) => Err(pem_problem(path, LABEL, &error)),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    std::fs::read(path).map_err(|source: io::Error| TlsError::File {
        path: path.to_owned(),
        source,
    })
}

fn pem_problem(path: &Path, expected: &'static str, error: &pem::Error) -> TlsError {
    let problem = match error {
        pem::Error::NoItemsFound => "the part that is needed is missing".to_owned(),
        other => other.to_string(),
    };
    TlsError::Pem {
        path: path.to_owned(),
        problem,
        expected,
    }
}

fn key_problem(settings: &TlsSettings, error: &rustls::Error) -> TlsError {
    let (certificate, key) = settings.certificate.clone().unwrap_or_default();
    TlsError::Key {
        certificate,
        key,
        problem: error.to_string(),
    }
}

fn library(error: impl ToString) -> TlsError {
    TlsError::Library(error.to_string())
}
