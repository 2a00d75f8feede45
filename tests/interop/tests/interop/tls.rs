//! TLS with JacORB, with certificates on both sides: its server and our client, its client and our server.

use std::{fs, path::Path, process::Command, time::Duration};

use punctual::Orb;
use punctual_fixtures::{Folder, Missing, skip};
use punctual_interop::{
    checks::{Context, limits},
    jacorb::JacOrb,
    server::{Served, Server},
};
use punctual_tls::{ClientCertificates, MinimumVersion, Tls, TlsSettings};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

use crate::jacorb::FAULTS;

/// Deviations of JacORB that the checks here meet.
fn faults() -> Vec<(&'static str, &'static str)> {
    let rotations = FAULTS.iter().filter(|(name, _)| name.starts_with("rotate_"));
    rotations.copied().collect()
}

const PASSWORD: &str = "interop";

/// JacORB, and a certificate for each side.
struct Setup {
    jacorb: &'static JacOrb,
    folder: Folder,
}

impl Setup {
    /// Records a skip without JacORB or a tool.
    fn new() -> Option<Self> {
        let jacorb = JacOrb::build(env!("CARGO_TARGET_TMPDIR"))?;
        if Command::new("openssl").arg("version").output().is_err() {
            skip(
                Missing::Peer,
                "no openssl, which makes the key store of JacORB: sudo apt-get install openssl",
            );
            return None;
        }
        let folder = Folder::new("interop-tls");
        let mut root = CertificateParams::new([]).unwrap();
        root.distinguished_name.push(DnType::CommonName, "interop");
        root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let root_key = KeyPair::generate().unwrap();
        let signed = root.self_signed(&root_key).unwrap();
        fs::write(folder.join("root.pem"), signed.pem()).unwrap();
        let issuer = Issuer::new(root, root_key);
        for name in ["ours", "theirs"] {
            let mut params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
            params.distinguished_name.push(DnType::CommonName, name);
            let key = KeyPair::generate().unwrap();
            let certificate = params.signed_by(&key, &issuer).unwrap();
            fs::write(folder.join(format!("{name}.pem")), certificate.pem()).unwrap();
            fs::write(folder.join(format!("{name}.key")), key.serialize_pem()).unwrap();
        }
        let pass = format!("pass:{PASSWORD}");
        let export = [
            "pkcs12",
            "-export",
            "-name",
            "peer",
            "-in",
            "theirs.pem",
            "-inkey",
            "theirs.key",
        ];
        run(
            &folder,
            "openssl",
            &[&export[..], &["-out", "store", "-passout", &pass]].concat(),
        );
        let import = ["-importcert", "-noprompt", "-alias", "root", "-file", "root.pem"];
        run(
            &folder,
            "keytool",
            &[&import[..], &["-keystore", "store", "-storepass", PASSWORD]].concat(),
        );
        Some(Self { jacorb, folder })
    }

    fn settings(&self) -> TlsSettings {
        TlsSettings::new()
            .certificate(self.folder.join("ours.pem"), self.folder.join("ours.key"))
            .trust(self.folder.join("root.pem"))
            .client_certificates(ClientCertificates::Required)
    }

    /// Starts a server that requires TLS and certificates, as a client also.
    fn jacorb(&self, protocols: &str, target: Option<&str>) -> punctual_interop::process::Server {
        // EstablishTrustInTarget and EstablishTrustInClient, in hexadecimal digits.
        const BOTH: &str = "60";
        const FACTORIES: &str = "org.jacorb.security.ssl.sun_jsse";
        let store = self.folder.join("store");
        let factory = |kind: &str| format!("{FACTORIES}.SSL{kind}Factory");
        let properties = [
            ("jacorb.security.support_ssl", "on"),
            ("jacorb.ssl.socket_factory", &factory("Socket")),
            ("jacorb.ssl.server_socket_factory", &factory("ServerSocket")),
            ("jacorb.security.keystore", &*store.to_string_lossy()),
            ("jacorb.security.keystore_password", PASSWORD),
            // It reads files of this type only, as which Java takes those of PKCS #12, too.
            ("jacorb.security.keystore_type", "JKS"),
            ("jacorb.security.jsse.trustees_from_ks", "on"),
            ("jacorb.security.ssl.client.supported_options", BOTH),
            ("jacorb.security.ssl.client.required_options", BOTH),
            ("jacorb.security.ssl.server.supported_options", BOTH),
            ("jacorb.security.ssl.server.required_options", BOTH),
            ("jacorb.security.ssl.client.protocols", protocols),
            ("jacorb.security.ssl.server.protocols", protocols),
        ];
        self.jacorb.server(&properties, target)
    }
}

fn run(folder: &Path, program: &str, arguments: &[&str]) {
    let output = Command::new(program).args(arguments).current_dir(folder).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {text}");
}

const VERSIONS: [(&str, MinimumVersion); 2] = [
    ("TLSv1.2", MinimumVersion::V1_2),
    ("TLSv1.3", MinimumVersion::V1_3),
];

#[test]
fn our_client_and_jacorbs_server() {
    let Some(setup) = Setup::new() else { return };
    for (protocols, version) in VERSIONS {
        let server = setup.jacorb(protocols, None);
        // A client without TLS does not reach it.
        let plain = Context::new(&server.reference).map(|context| context.peer.ping());
        assert!(!matches!(plain, Ok(Ok(_))), "{protocols}: reached without TLS");
        let tls = Tls::new(&setup.settings().minimum_version(version)).unwrap();
        let context = Context::of(Orb::builder().transport(tls), &server.reference).unwrap();
        let passed = context.run_rotations(&faults());
        assert!(passed > 20, "{passed} checks");
        context.peer.shutdown().unwrap();
        server.ends();
    }
}

#[test]
fn jacorbs_client_and_our_server() {
    let Some(setup) = Setup::new() else { return };
    for (protocols, version) in VERSIONS {
        let tls = Tls::new(&setup.settings().minimum_version(version)).unwrap();
        let builder = Orb::builder()
            .transport(tls.clone())
            .listen("ssliop://127.0.0.1:0");
        let mut ours = Server::of(builder, limits(), Served::ByTheOrb);
        let server = setup.jacorb(protocols, Some(&ours.peer.to_ior()));
        let own = Tls::new(&setup.settings().minimum_version(version)).unwrap();
        let context = Context::of(Orb::builder().transport(own), &server.reference).unwrap();
        let passed = context.run_rotations(&faults());
        assert!(passed > 20, "{passed} checks");
        assert!(tls.handshakes().completed > 0, "JacORB's client has used TLS");
        context.peer.shutdown().unwrap();
        server.ends();
        ours.peer.shutdown().unwrap();
        assert!(ours.ends_within(Duration::from_secs(10)));
    }
}
