//! The commands and the settings of docs/tls.md, executed as they are there.

use std::{fs, process::Command};

use punctual_fixtures::{Folder, Missing, skip};
use punctual_tls::TlsSettings;

use crate::orbs::{client_with, refusal, server, twice};

const PAGE: &str = include_str!("../../../../docs/tls.md");

/// The contents of the blocks in a language.
fn blocks(language: &str) -> impl Iterator<Item = &'static str> {
    let start = format!("```{language}\n");
    PAGE.match_indices(&start.clone())
        .map(|(at, _)| at + start.len())
        .map(|begin| &PAGE[begin..begin + PAGE[begin..].find("```").unwrap()])
        .collect::<Vec<_>>()
        .into_iter()
}

#[test]
fn the_recipes_make_certificates_for_the_settings() {
    if Command::new("openssl").arg("version").output().is_err() {
        skip(Missing::Machine, "openssl is not installed");
        return;
    }
    let folder = Folder::new("recipes");
    for commands in blocks("sh").filter(|block| block.contains("openssl")) {
        let run = Command::new("sh")
            .args(["-e", "-c", commands])
            .current_dir(&*folder)
            .output()
            .unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    }
    let settings = |name: &str, text: &str| {
        let file = folder.join(name);
        fs::write(&file, text).unwrap();
        TlsSettings::read(&file).unwrap()
    };
    let text = blocks("toml").next().unwrap();
    let of_server = text.replace("= \"none\"", "= \"required\"");
    let own = text
        .replace("server.pem", "client.pem")
        .replace("server.key", "client.key");
    let of_client = settings("client.toml", &own);
    let (served, _) = server(&settings("server.toml", &of_server));
    assert_eq!(twice(&of_client, &served), 42);
    // The certificate of a client does not make a server.
    let (posed, _) = server(&of_client);
    let text = refusal(&client_with(&settings("tls.toml", text)), &posed);
    assert!(text.contains("minor Punctual 149"), "{text}");
}
