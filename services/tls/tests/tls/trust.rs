//! Trust in certificates, and what the client learns without it.

use std::time::Duration;

use punctual_fixtures::eventually;
use punctual_tls::{ClientCertificates, HostNames, MinimumVersion, Tls, TlsSettings};

use crate::{
    orbs::{client_with, refusal, server, twice},
    pki::{Root, elsewhere, expired},
};

/// The client's error names exception, address and reason; the server counts a failure and serves others.
#[track_caller]
fn refused(server_settings: &TlsSettings, client: &TlsSettings, trusted: &TlsSettings, reason: &str) {
    let (server, tls) = server(server_settings);
    let text = refusal(&client_with(client), &server);
    assert!(
        text.starts_with("CORBA::NO_PERMISSION (minor Punctual 149"),
        "{text}"
    );
    let expected = format!("(ssliop://localhost:{}: {reason})", port(&server));
    assert!(text.ends_with(&expected), "{text}\nexpected {expected}");
    eventually("the failure is counted", || tls.handshakes().failed == 1);
    assert_eq!(twice(trusted, &server), 42);
    assert_eq!(tls.handshakes().failed, 1);
}

fn port(server: &punctual_fixtures::server::Server) -> u16 {
    crate::references::secured_ports(&server.probe)[0]
}

#[test]
fn a_trusted_server_is_called() {
    let root = Root::new("trusted");
    let (server, tls) = server(&root.certified("server"));
    assert_eq!(twice(&root.trusted(), &server), 42);
    assert_eq!(tls.handshakes().completed, 1);
}

#[test]
fn certificates_of_the_server_are_verified() {
    let (root, other) = (Root::new("root"), Root::new("other"));
    let foreign = "its certificate is not from a trusted root";
    let server_side = root.certified("server");
    let both = other.trusted().trust(root.path());
    refused(&server_side, &other.trusted(), &both, foreign);
}

#[test]
fn an_expired_certificate_of_the_server_is_refused() {
    let root = Root::new("expired");
    let old = root.with(TlsSettings::new(), "old", expired);
    let (server, tls) = server(&old);
    let text = refusal(&client_with(&root.trusted()), &server);
    assert!(text.ends_with(": its certificate has expired)"), "{text}");
    eventually("the failure is counted", || tls.handshakes().failed == 1);
}

#[test]
fn the_host_must_be_in_the_certificate_unless_names_are_ignored() {
    let root = Root::new("names");
    let moved = root.with(TlsSettings::new(), "moved", elsewhere);
    let lenient = root.trusted().host_names(HostNames::Ignored);
    let text = "its certificate does not have this host name";
    refused(&moved, &root.trusted(), &lenient, text);

    // Everything else is still verified.
    let other = Root::new("names-of-others");
    let (server, _) = server(&moved);
    let text = refusal(
        &client_with(&other.trusted().host_names(HostNames::Ignored)),
        &server,
    );
    assert!(text.ends_with("is not from a trusted root)"), "{text}");
}

/// In TLS 1.3 the client's handshake ends before the server has seen its certificate.
#[test]
fn certificates_of_clients_are_verified() {
    let (root, other) = (Root::new("clients"), Root::new("other-clients"));
    let with_own = root.certified("client");
    let strange = other.with(root.trusted(), "strange", |_| ());
    let old = root.with(root.trusted(), "old-client", expired);
    let server = root
        .certified("server")
        .client_certificates(ClientCertificates::Required);
    refused(
        &server,
        &root.trusted(),
        &with_own,
        "it requires a certificate of the client",
    );
    refused(
        &server,
        &strange,
        &with_own,
        "it does not trust the root of our certificate",
    );
    refused(&server, &old, &with_own, "our certificate has expired");
}

#[test]
fn optional_certificates_of_clients_may_be_absent_but_not_untrusted() {
    let (root, other) = (Root::new("optional"), Root::new("optional-other"));
    let settings = root
        .certified("server")
        .client_certificates(ClientCertificates::Optional);
    let (server, tls) = server(&settings);
    assert_eq!(twice(&root.trusted(), &server), 42);
    assert_eq!(twice(&root.certified("client"), &server), 42);
    let strange = other.with(root.trusted(), "strange", |_| ());
    let text = refusal(&client_with(&strange), &server);
    assert!(
        text.ends_with("it does not trust the root of our certificate)"),
        "{text}"
    );
    assert_eq!(tls.handshakes().completed, 2);
}

#[test]
fn a_client_that_trusts_nobody_says_so() {
    let root = Root::new("nobody");
    let (server, _) = server(&root.certified("server"));
    // A server's certificate alone is enough to serve, and not to call.
    let alone = root.with(TlsSettings::new(), "alone", |_| ());
    let text = refusal(&client_with(&alone), &server);
    assert!(
        text.ends_with("no root is trusted: state `trust` in the settings)"),
        "{text}"
    );
}

/// As docs/tls.md makes them.
#[test]
fn a_certificate_is_good_for_its_purpose_only() {
    use rcgen::ExtendedKeyUsagePurpose::{ClientAuth, ServerAuth};
    let root = Root::new("purposes");
    let with = |name: &str, purpose: rcgen::ExtendedKeyUsagePurpose| {
        root.with(root.trusted(), name, |params| {
            params.extended_key_usages = vec![purpose]
        })
    };
    let asking = with("server", ServerAuth).client_certificates(ClientCertificates::Required);
    let (server, _) = server(&asking);
    assert_eq!(twice(&with("client", ClientAuth), &server), 42);
    let text = refusal(&client_with(&with("server-as-client", ServerAuth)), &server);
    assert!(text.contains("NO_PERMISSION (minor Punctual 149"), "{text}");

    let (posing, _) = crate::orbs::server(&with("client-as-server", ClientAuth));
    let lenient = root.trusted().host_names(HostNames::Ignored);
    let text = refusal(&client_with(&lenient), &posing);
    assert!(
        text.ends_with(": its certificate is for another purpose)"),
        "{text}"
    );
}

#[test]
fn settings_that_cannot_work_are_refused_with_a_text() {
    let root = Root::new("settings");
    let refused = |settings: TlsSettings| Tls::new(&settings).err().unwrap().to_string();
    for asked in [ClientCertificates::Required, ClientCertificates::Optional] {
        let text = refused(root.trusted().client_certificates(asked));
        assert!(text.contains("`server.client_certificates`"), "{text}");
        assert!(text.contains("state `certificate` and `key`"), "{text}");
    }
    for timeout in [Duration::ZERO, Duration::MAX] {
        let text = refused(root.certified("server").handshake_timeout(timeout));
        assert!(text.contains("`server.handshake_timeout`"), "{text}");
        assert!(text.contains("up to one day"), "{text}");
    }
}

#[test]
fn both_versions_of_tls_work() {
    let root = Root::new("versions");
    for version in [MinimumVersion::V1_2, MinimumVersion::V1_3] {
        let (server, _) = server(&root.certified("server").minimum_version(version));
        assert_eq!(twice(&root.trusted(), &server), 42);
    }
}
