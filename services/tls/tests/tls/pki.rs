//! Certificates of tests: a root, and what it has signed.

use std::{fs, path::PathBuf};

use punctual_fixtures::Folder;
use punctual_tls::TlsSettings;
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    date_time_ymd,
};

/// A root with the files of its certificates, which are removed with it.
pub(crate) struct Root {
    folder: Folder,
    issuer: Issuer<'static, KeyPair>,
}

impl Root {
    pub(crate) fn new(name: &str) -> Self {
        let folder = Folder::new(name);
        let mut params = CertificateParams::new([]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let key = KeyPair::generate().unwrap();
        let root = params.self_signed(&key).unwrap();
        fs::write(folder.join("root.pem"), root.pem()).unwrap();
        let issuer = Issuer::new(params, key);
        Self { folder, issuer }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.join("root.pem")
    }

    /// Settings that trust the root.
    pub(crate) fn trusted(&self) -> TlsSettings {
        TlsSettings::new().trust(self.path())
    }

    /// Settings that trust the root and have a certificate from it.
    pub(crate) fn certified(&self, name: &str) -> TlsSettings {
        self.with(self.trusted(), name, |_| ())
    }

    /// Adds a certificate from this root to settings.
    pub(crate) fn with(
        &self,
        settings: TlsSettings,
        name: &str,
        change: impl FnOnce(&mut CertificateParams),
    ) -> TlsSettings {
        let hosts = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
        let mut params = CertificateParams::new(hosts).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate: Certificate = params.signed_by(&key, &self.issuer).unwrap();
        let (chain, own_key) = (
            self.folder.join(format!("{name}.pem")),
            self.folder.join(format!("{name}.key")),
        );
        fs::write(&chain, certificate.pem()).unwrap();
        fs::write(&own_key, key.serialize_pem()).unwrap();
        settings.certificate(chain, own_key)
    }
}

/// Lets a certificate have expired long ago.
pub(crate) fn expired(params: &mut CertificateParams) {
    params.not_before = date_time_ymd(2001, 1, 1);
    params.not_after = date_time_ymd(2002, 1, 1);
}

/// Gives a certificate other host names.
pub(crate) fn elsewhere(params: &mut CertificateParams) {
    params.subject_alt_names = CertificateParams::new(["elsewhere.example".to_owned()])
        .unwrap()
        .subject_alt_names;
}
