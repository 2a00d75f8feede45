//! The option `--tls`: services that are reached over TLS only.

use std::{fs, path::Path};

use punctual_fixtures::Folder;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

use crate::{
    command::{Run, run},
    events::{Channel, Tail, gateway::Gateway},
    naming::Served,
};

/// A root and a certificate for `localhost`, with the settings of both sides.
fn certified(folder: &Path) -> [String; 2] {
    let mut root = CertificateParams::new([]).unwrap();
    root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let root_key = KeyPair::generate().unwrap();
    fs::write(
        folder.join("root.pem"),
        root.self_signed(&root_key).unwrap().pem(),
    )
    .unwrap();
    let issuer = Issuer::new(root, root_key);
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    fs::write(
        folder.join("own.pem"),
        params.signed_by(&key, &issuer).unwrap().pem(),
    )
    .unwrap();
    fs::write(folder.join("own.key"), key.serialize_pem()).unwrap();
    [
        ("server.toml", "certificate = 'own.pem'\nkey = 'own.key'\n"),
        ("client.toml", "trust = ['root.pem']\n"),
    ]
    .map(|(name, text)| {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    })
}

fn named(at: &str, arguments: &[&str]) -> Run {
    run([&["naming"], arguments, &["--at", at]].concat())
}

#[test]
fn commands_reach_a_naming_service_over_tls() {
    let folder = Folder::new("cli-tls");
    let [server, client] = certified(&folder);
    let served = Served::start_at("ssliop://localhost:0", &["--tls", &server]);
    let at = served
        .url
        .replace("corbaloc:", "corbaname:")
        .replace("/NameService", "");
    assert!(at.starts_with("corbaname:ssliop:1.2@localhost:"), "{at}");
    let created = named(&at, &["create", "radar", "--tls", &client]);
    assert_eq!(created.code, 0, "{}", created.complained);
    let listed = named(&at, &["list", "--tls", &client]);
    assert!(
        listed.said.contains("radar"),
        "{} {}",
        listed.said,
        listed.complained
    );
    let resolved = named(&at, &["resolve", "radar", "--tls", &client]);
    let called = run(["call", resolved.said.trim(), "_non_existent", "--tls", &client]);
    assert_eq!(
        (called.code, called.said.trim()),
        (0, "false"),
        "{}",
        called.complained
    );

    // Without TLS, and without a root.
    let plain = run(["call", resolved.said.trim(), "_non_existent"]);
    assert_eq!(plain.code, 3, "{}", plain.complained);
    assert!(plain.complained.contains("--tls FILE"), "{}", plain.complained);
    let untrusting = run(["call", resolved.said.trim(), "_non_existent", "--tls", &server]);
    assert_ne!(untrusting.code, 0);
    assert!(
        untrusting.complained.contains("no root is trusted"),
        "{}",
        untrusting.complained
    );
}

/// The channel calls its consumers: both have a certificate, and trust the root.
#[test]
fn events_travel_over_tls() {
    let folder = Folder::new("cli-tls-events");
    certified(&folder);
    let both = folder.join("both.toml");
    let text = "certificate = 'own.pem'\nkey = 'own.key'\ntrust = ['root.pem']\n";
    fs::write(&both, text).unwrap();
    let tls = ["--tls", both.to_str().unwrap()];
    let channel = Channel::listening("ssliop://localhost:0", &tls);
    assert!(
        channel.address.starts_with("corbaloc:ssliop:1.2@localhost:"),
        "{}",
        channel.address
    );
    let listening = ["--listen", "ssliop://localhost:0", "--count", "1", "--json"];
    let tail = Tail::start(&channel, &[&listening[..], &tls].concat());
    let sent = channel.send(&[&["--type", "17", "--text", "hot"][..], &tls].concat());
    assert_eq!(sent.code, 0, "{}", sent.complained);
    let (code, shown) = tail.wait();
    assert!(code == 0 && shown.contains("\"type\":17"), "{shown}");
    let top = run([&["events", "top", &channel.address, "--once"][..], &tls].concat());
    assert_eq!(top.code, 0, "{}", top.complained);

    let plain = run(["events", "top", &channel.address, "--once"]);
    assert_eq!(plain.code, 2, "{}", plain.complained);
}

/// Both sides call each other, and require certificates.
#[test]
fn gateways_connect_channels_over_tls() {
    let folder = Folder::new("cli-tls-gateway");
    certified(&folder);
    let both = folder.join("both.toml");
    let text = "certificate = 'own.pem'\nkey = 'own.key'\ntrust = ['root.pem']\n\
                [server]\nclient_certificates = 'required'\n";
    fs::write(&both, text).unwrap();
    let tls = ["--tls", both.to_str().unwrap()];
    let (first, second) = (
        Channel::listening("ssliop://localhost:0", &tls),
        Channel::listening("ssliop://localhost:0", &tls),
    );
    let listening = ["--listen", "ssliop://localhost:0"];
    let ends = [&*first.address, &*second.address];
    for settings in [&["--both"][..], &["--acknowledged", "named"]] {
        let _gateway = Gateway::start(&[&ends[..], settings, &listening, &tls].concat());
        let tail = Tail::start(
            &second,
            &[&listening[..], &["--count", "1", "--for", "20"], &tls].concat(),
        );
        let sent = first.send(&[&["--type", "17", "--text", "hot"][..], &tls].concat());
        assert_eq!(sent.code, 0, "{}", sent.complained);
        let (code, shown) = tail.wait();
        assert!(code == 0 && shown.contains("\"hot\""), "{settings:?}: {shown}");
    }
    let untrusting = run([&["events", "gateway"], &ends[..], &["--tls", &untrusted(&folder)]].concat());
    assert_eq!(untrusting.code, 3, "{}", untrusting.complained);
    assert!(
        untrusting.complained.contains("certificate"),
        "{}",
        untrusting.complained
    );
}

/// Settings with a certificate of another root.
fn untrusted(folder: &Path) -> String {
    let other = folder.join("other");
    fs::create_dir(&other).unwrap();
    certified(&other);
    let settings = other.join("both.toml");
    let text = "certificate = 'own.pem'\nkey = 'own.key'\ntrust = ['root.pem']\n";
    fs::write(&settings, text).unwrap();
    settings.display().to_string()
}

#[test]
fn commands_without_settings_name_the_option() {
    let (context, object) = (
        "corbaname:ssliop:1.2@localhost:1",
        "corbaloc:ssliop:1.2@localhost:1/X",
    );
    for (arguments, address) in [
        (&["call", object, "_non_existent"][..], "ssliop:1.2@localhost:1"),
        (&["naming", "list", "--at", context], "ssliop:1.2@localhost:1"),
        (
            &["naming", "serve", "--listen", "ssliop://localhost:0"],
            "ssliop://localhost:0",
        ),
        (
            &["events", "serve", "--listen", "ssliop://localhost:0"],
            "ssliop://localhost:0",
        ),
        (&["events", "tail", object], "ssliop://127.0.0.1"),
        (
            &["events", "send", object, "--type", "17"],
            "ssliop:1.2@localhost:1",
        ),
        (&["events", "top", object], "ssliop:1.2@localhost:1"),
        (&["events", "gateway", object, object], "ssliop://127.0.0.1"),
        (
            &["scheduler", "serve", "--listen", "ssliop://localhost:0"],
            "ssliop://localhost:0",
        ),
    ] {
        let refused = run(arguments);
        assert_eq!(refused.code, 2);
        let expected = format!("`{address}` is an address of TLS, which needs `--tls FILE`");
        let complained = refused.complained.replace('\n', " ");
        assert!(complained.contains(&expected), "{complained}");
    }
}

#[test]
fn wrong_settings_are_named() {
    let folder = Folder::new("cli-tls-settings");
    let wrong = folder.join("wrong.toml");
    for (text, expected) in [
        (
            "certificate = 'own.pem'",
            "wrong.toml:1:15: certificate: it needs `key`",
        ),
        ("[client]\nuse = 'always'", "wrong.toml:2:7: client.use: "),
        ("trust = ['absent.pem']", "absent.pem: No such file or directory"),
    ] {
        fs::write(&wrong, text).unwrap();
        let run = named(
            "corbaname::localhost:1",
            &["list", "--tls", &wrong.display().to_string()],
        );
        assert_eq!(run.code, 2, "{}", run.complained);
        assert!(run.complained.contains(expected), "{}", run.complained);
    }
}
