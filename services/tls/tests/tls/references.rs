//! Contents of references, and which endpoint a client chooses.

use punctual::{
    Interface, Ior, Orb, PoaBuilder, PolicyOverrides, Priority, PriorityModel, Protocol, ProtocolPolicy,
    ior_from_string,
};
use punctual_fixtures::{
    conformance::ProbeRef,
    free_port,
    server::{Server, Setup, client},
};
use punctual_tls::{ClientCertificates, Tls, TlsSettings, Use};

use crate::{
    orbs::{SECURED, client_with, plain_refusal, refusal, server, server_at, started, twice},
    pki::Root,
};

const PLAIN: &str = "iiop://localhost:0";
/// Integrity, Confidentiality, DetectReplay, DetectMisordering.
const PROTECTED: u16 = 2 | 4 | 8 | 16;
const NO_PROTECTION: u16 = 1;
const TRUST_IN_TARGET: u16 = 32;
const TRUST_IN_CLIENT: u16 = 64;

/// A profile as octets say, read without the ORB's decoder.
struct Octets<'o> {
    octets: &'o [u8],
    at: usize,
}

impl Octets<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        self.at = self.at.next_multiple_of(N.clamp(1, 4));
        let taken = self.octets[self.at..self.at + N].try_into().unwrap();
        self.at += N;
        taken
    }

    fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.take())
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn octets(&mut self) -> Vec<u8> {
        let length = self.u32() as usize;
        let octets = self.octets[self.at..self.at + length].to_vec();
        self.at += length;
        octets
    }
}

/// An IIOP profile.
struct Stated {
    port: u16,
    components: Vec<(u32, Vec<u8>)>,
}

impl Stated {
    fn of(ior: &Ior) -> Vec<Self> {
        ior.profiles
            .iter()
            .filter(|profile| profile.tag == 0)
            .map(|profile| {
                let data = &mut Octets {
                    octets: &profile.data,
                    at: 3,
                };
                assert_eq!(profile.data[0], 1, "little-endian");
                data.octets();
                let port = data.u16();
                data.octets();
                let count = data.u32();
                let components = (0..count).map(|_| (data.u32(), data.octets())).collect();
                Self { port, components }
            })
            .collect()
    }

    /// `target_supports`, `target_requires` and `port`.
    fn ssl(&self) -> Option<[u16; 3]> {
        let (_, data) = self.components.iter().find(|(tag, _)| *tag == 20)?;
        let data = &mut Octets { octets: data, at: 1 };
        Some([data.u16(), data.u16(), data.u16()])
    }

    /// The ports for TLS in TAO's component, from the second endpoint on.
    fn more_ports(&self) -> Vec<u16> {
        let found = self.components.iter().find(|(tag, _)| *tag == 0x5441_4f01);
        let Some((_, data)) = found else {
            return Vec::new();
        };
        let data = &mut Octets { octets: data, at: 1 };
        let count = data.u32();
        (0..count)
            .map(|_| [data.u16(), data.u16(), data.u16()][2])
            .collect()
    }
}

fn stated(probe: &ProbeRef) -> Vec<Stated> {
    Stated::of(&ior_from_string(&probe.to_ior()).unwrap())
}

/// The ports for TLS of the first profile.
pub(crate) fn secured_ports(probe: &ProbeRef) -> Vec<u16> {
    let stated = stated(probe);
    let mut ports = vec![stated[0].ssl().unwrap()[2]];
    ports.extend(stated[0].more_ports());
    ports
}

#[test]
fn a_server_with_both_states_both_ports_in_one_profile() {
    let root = Root::new("both");
    let (server, tls) = server_at(&root.certified("server"), &[PLAIN, SECURED]);
    let stated = stated(&server.probe);
    assert_eq!(stated.len(), 1);
    assert_ne!(stated[0].port, 0);
    let [supports, requires, port] = stated[0].ssl().unwrap();
    assert_eq!(supports, PROTECTED | TRUST_IN_TARGET | NO_PROTECTION);
    assert_eq!(requires, 0);
    assert!(port != 0 && port != stated[0].port);

    // A client without TLS, then one with it.
    assert_eq!(server.reference_for(&client()).twice(21), Ok(42));
    assert_eq!(tls.handshakes().completed, 0);
    assert_eq!(twice(&root.trusted(), &server), 42);
    assert_eq!(tls.handshakes().completed, 1);
}

#[test]
fn a_server_with_tls_only_has_no_port_for_tcp() {
    let root = Root::new("only");
    let settings = root
        .certified("server")
        .client_certificates(ClientCertificates::Required);
    let (server, _) = server(&settings);
    let stated = stated(&server.probe);
    assert_eq!((stated.len(), stated[0].port), (1, 0));
    let [supports, requires, _] = stated[0].ssl().unwrap();
    assert_eq!(supports, PROTECTED | TRUST_IN_TARGET | TRUST_IN_CLIENT);
    assert_eq!(requires, PROTECTED | TRUST_IN_CLIENT);

    let text = plain_refusal(&server);
    assert!(text.contains("NO_PERMISSION (minor Punctual 148"), "{text}");
    assert!(text.contains("`punctual_tls::Tls`"), "{text}");
}

#[test]
fn endpoints_of_different_hosts_are_in_two_profiles() {
    let root = Root::new("hosts");
    let listen = ["iiop://127.0.0.1:0", SECURED];
    let (server, tls) = server_at(&root.certified("server"), &listen);
    let stated = stated(&server.probe);
    assert_eq!(stated.len(), 2);
    assert!(stated[0].port != 0 && stated[0].ssl().is_none());
    assert!(stated[1].port == 0 && stated[1].ssl().is_some());
    let preferring = root.trusted().use_of_clients(Use::Preferred);
    for settings in [root.trusted(), preferring] {
        assert_eq!(twice(&settings, &server), 42);
    }
    assert_eq!(
        tls.handshakes().completed,
        2,
        "also one that may use TCP prefers TLS"
    );
}

/// TAO refuses a profile with several endpoints of which only the first has a stated port for TLS.
#[test]
fn every_endpoint_beside_a_port_for_tls_states_one_or_none() {
    let root = Root::new("states");
    let listen = [PLAIN, SECURED, "iiop://127.0.0.1:0"];
    let (server, _) = server_at(&root.certified("server"), &listen);
    let stated = stated(&server.probe);
    assert_eq!(stated.len(), 1);
    let [_, _, first] = stated[0].ssl().unwrap();
    assert_ne!(first, 0);
    assert_eq!(stated[0].more_ports(), [0]);
    assert_eq!(twice(&root.trusted(), &server), 42);
    assert_eq!(server.reference_for(&client()).twice(21), Ok(42));
}

#[test]
fn lanes_have_their_own_ports_and_the_callers_priority_chooses() {
    let root = Root::new("lanes");
    let pool = |orb: &Orb| {
        let lane = |priority| Priority::new(priority).unwrap();
        orb.threadpool().lane(lane(10), 1).lane(lane(20), 1)
    };
    let adapter = |poa: PoaBuilder| {
        let default = Priority::new(10).unwrap();
        poa.priority_model(PriorityModel::ClientPropagated { default })
    };
    let (server, tls) = started(&root.certified("server"), &[PLAIN, SECURED], pool, adapter);
    let ports = secured_ports(&server.probe);
    assert_eq!(ports.len(), 2);
    assert_ne!(ports[0], ports[1]);
    let client = client_with(&root.trusted());
    let probe = server.reference_for(&client);
    for priority in [20, 10] {
        client
            .current()
            .set_priority(Priority::new(priority).unwrap())
            .unwrap();
        assert_eq!(probe.corba_priority(), Ok(priority));
    }
    assert_eq!(tls.handshakes().completed, 2);
}

#[test]
fn a_client_that_requires_tls_never_uses_anything_else() {
    let root = Root::new("required");
    let plain = Setup {
        listen: &["iiop://127.0.0.1:0", "uiop://", "shmiop://"],
        ..Setup::default()
    };
    let server = plain.start();
    let client = client_with(&root.trusted());
    let text = refusal(&client, &server);
    assert!(text.contains("NO_PERMISSION (minor Punctual 147"), "{text}");
    assert!(text.contains("`ssliop://HOST:PORT`"), "{text}");
    assert_eq!(server.seen(0).connections.open, 0);

    // Its own objects need no connection.
    let tls = Tls::new(&root.trusted()).unwrap();
    let listening = Orb::builder().transport(tls).listen("iiop://127.0.0.1:0");
    let listening = listening.lock_memory(false).build().unwrap();
    let pool = listening.threadpool().build().unwrap();
    let own = Server::with_poa(listening.clone(), pool, listening.root_poa());
    assert_eq!(own.probe.twice(21), Ok(42));
}

#[test]
fn an_orb_that_requires_tls_opens_no_other_port_unasked() {
    let root = Root::new("unasked");
    let (server, _) = server_at(&root.certified("server"), &[]);
    let stated = stated(&server.probe);
    assert_eq!((stated.len(), stated[0].port), (1, 0));
    assert_eq!(twice(&root.trusted(), &server), 42);

    let preferring = root.certified("preferring").use_of_clients(Use::Preferred);
    let (plain, _) = server_at(&preferring, &[]);
    assert_eq!(plain.reference_for(&client()).twice(21), Ok(42));

    // A client: its pools read replies, and have no objects.
    let without = client_with(&root.trusted());
    let pool = without.threadpool().lane(Priority::MAX, 1).build().unwrap();
    without.set_reply_threadpool(&pool).unwrap();
    assert_eq!(server.reference_for(&without).twice_async(21).wait(), Ok(42));
    let poa = without.root_poa().child("objects").threadpool(&pool);
    let poa = poa
        .priority_model(PriorityModel::ClientPropagated {
            default: Priority::MAX,
        })
        .build();
    let made = poa.unwrap().reference().create::<ProbeRef>();
    let error = made.err().unwrap().to_string();
    assert!(error.contains("state `certificate` and `key`"), "{error}");
    assert!(error.contains("`.listen(\"iiop://HOST:PORT\")`"), "{error}");
}

/// The port for TLS is closed, the one for TCP is not.
#[test]
fn a_client_that_requires_tls_does_not_fall_back() {
    let root = Root::new("fallback");
    let (server, _) = server_at(&root.certified("server"), &[PLAIN, SECURED]);
    let mut ior = ior_from_string(&server.probe.to_ior()).unwrap();
    let port = secured_ports(&server.probe)[0].to_le_bytes();
    let data = &mut ior.profiles[0].data;
    let at = data.windows(2).rposition(|pair| pair == port).unwrap();
    let closed = free_port();
    data[at..at + 2].copy_from_slice(&closed.to_le_bytes());
    let text = punctual::ior_to_string(&ior);

    let client = client_with(&root.trusted());
    let strict: ProbeRef = client.resolve(&text).unwrap();
    let error = strict.twice(21).unwrap_err().to_string();
    assert!(error.contains("minor Punctual 17,"), "{error}");
    assert!(error.contains(&format!("ssliop://localhost:{closed}")), "{error}");

    let client = client_with(&root.trusted().use_of_clients(Use::Preferred));
    let lenient: ProbeRef = client.resolve(&text).unwrap();
    assert_eq!(lenient.twice(21), Ok(42));
    // The policy of one reference.
    let only_tls = ProtocolPolicy::new([Protocol::TLS]);
    let strict: ProbeRef = with_protocols(&lenient, only_tls);
    let error = strict.twice(21).unwrap_err().to_string();
    assert!(error.contains("minor Punctual 17,"), "{error}");
}

#[test]
fn a_policy_requires_tls_for_one_reference() {
    let root = Root::new("policy");
    let server = Server::start();
    let client = client_with(&root.trusted().use_of_clients(Use::Preferred));
    let probe = server.reference_for(&client);
    assert_eq!(probe.twice(21), Ok(42));
    let only_tls = ProtocolPolicy::new([Protocol::TLS]);
    let strict: ProbeRef = with_protocols(&probe, only_tls);
    let error = strict.twice(21).unwrap_err().to_string();
    assert!(error.contains("INV_POLICY (minor Punctual "), "{error}");
}

#[test]
fn urls_name_ports_for_tls() {
    let root = Root::new("urls");
    let (server, tls) = server(&root.certified("server"));
    server.orb.publish("Probe", &server.probe).unwrap();
    let port = secured_ports(&server.probe)[0];
    let client = client_with(&root.trusted());
    for version in ["1.2@", "1.0@", ""] {
        let url = format!("corbaloc:ssliop:{version}localhost:{port}/Probe");
        let probe: ProbeRef = client.resolve(&url).unwrap();
        assert_eq!(probe.twice(21), Ok(42), "{url}");
    }
    assert!(tls.handshakes().completed > 0);
    let wrong = [
        ("localhost", "`ssliop:localhost` has no port"),
        ("%5b::1%5d", "`ssliop:[::1]` has no port"),
        ("localhost:0", "`0` is not a port"),
        ("localhost:65536", "`65536` is not a port"),
    ];
    for (address, text) in wrong {
        let url = format!("corbaloc:ssliop:1.2@{address}/Probe");
        let error = client.resolve::<ProbeRef>(&url).unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    }
}

#[test]
fn servers_with_different_ports_for_tls_are_different() {
    let root = Root::new("equality");
    let ((one, _), (other, _)) = (server(&root.certified("one")), server(&root.certified("other")));
    let client = client_with(&root.trusted());
    let mut iors = [&one, &other].map(|server| ior_from_string(&server.probe.to_ior()).unwrap());
    // One key at both.
    let ports = [&one, &other].map(|server| secured_ports(&server.probe)[0].to_le_bytes());
    iors[1] = iors[0].clone();
    let data = &mut iors[1].profiles[0].data;
    let at = data.windows(2).rposition(|pair| pair == ports[0]).unwrap();
    data[at..at + 2].copy_from_slice(&ports[1]);
    let [here, there] = iors.map(|ior| {
        client
            .resolve::<ProbeRef>(&punctual::ior_to_string(&ior))
            .unwrap()
    });
    assert!(here.as_object().is_equivalent(here.as_object()));
    assert!(!here.as_object().is_equivalent(there.as_object()));
}

#[test]
fn a_server_without_a_certificate_cannot_listen() {
    let root = Root::new("certificate");
    let tls = Tls::new(&root.trusted()).unwrap();
    let built = Orb::builder()
        .transport(tls)
        .listen(SECURED)
        .lock_memory(false)
        .build();
    let error = built
        .and_then(|orb| orb.threadpool().build().map(drop))
        .unwrap_err();
    assert!(
        error.to_string().contains("state `certificate` and `key`"),
        "{error}"
    );
    let error = Tls::new(&TlsSettings::new()).err().unwrap();
    assert!(
        error.to_string().contains("neither `certificate` and `key`"),
        "{error}"
    );
}

/// As `openssl` 3 writes them, and with `-traditional`.
#[test]
fn an_encrypted_key_is_named_as_such() {
    let root = Root::new("encrypted");
    let settings = root.certified("server");
    let path = root.path().with_file_name("server.key");
    for text in [
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIGj\n-----END ENCRYPTED PRIVATE KEY-----\n",
        "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\nAAAA\n\
         -----END EC PRIVATE KEY-----\n",
    ] {
        std::fs::write(&path, text).unwrap();
        let error = Tls::new(&settings).err().unwrap();
        let expected = format!("`openssl pkey -in {} -out decrypted.key`", path.display());
        // `main` prints Debug.
        let printed = format!("{error:?}");
        assert!(
            printed.contains("is encrypted") && printed.contains(&expected),
            "{printed}"
        );
    }
}

fn with_protocols(probe: &ProbeRef, protocols: ProtocolPolicy) -> ProbeRef {
    probe
        .with_policies(PolicyOverrides::new().client_protocols(protocols))
        .unchecked()
}
