//! Tests: findings of the rule for published crates, and what it lets pass.

use std::path::Path;

use serde_json::{Value, json};

use super::*;

/// A package with its `publish` and its dependencies: name, kind and version.
fn package(name: &str, publish: Value, dependencies: &[(&str, Value, &str)]) -> Package {
    let dependencies: Vec<Value> = dependencies
        .iter()
        .map(|(name, kind, req)| json!({"name": name, "kind": kind, "req": req, "path": "/there"}))
        .collect();
    serde_json::from_value(json!({
        "name": name,
        "version": "0.1.0",
        "license": "MIT",
        "description": "A crate",
        "publish": publish,
        "manifest_path": "/there/Cargo.toml",
        "dependencies": dependencies,
        "targets": [],
    }))
    .unwrap()
}

#[test]
fn dependencies_are_published_and_have_versions() {
    let (published, fixtures) = (
        package("low", json!(null), &[]),
        package("fixtures", json!([]), &[]),
    );
    let packages = [published, fixtures];
    let found = |dependency: (&str, Value, &str)| {
        let high = package("high", json!(null), &[dependency]);
        dependencies(&high, &packages).collect::<Vec<_>>().join("\n")
    };
    for fine in [
        ("low", json!(null), "^0.1.0"),
        ("low", json!("dev"), "*"),
        ("fixtures", json!("dev"), "*"),
    ] {
        assert_eq!(found(fine), "");
    }
    assert_eq!(
        found(("low", json!(null), "*")),
        "the dependency `low` has no version"
    );
    assert_eq!(
        found(("low", json!("build"), "*")),
        "the dependency `low` has no version"
    );
    assert!(found(("fixtures", json!("build"), "^0.1.0")).contains("depends on `fixtures`, which is not"));
    assert!(found(("fixtures", json!("dev"), "^0.1.0")).starts_with("`fixtures` is not published"));
}

#[test]
fn missing_fields_are_found() {
    let found: Vec<String> = fields(&package("low", json!(null), &[])).collect();
    assert_eq!(found, ["`repository` is missing, but the crate is published"]);
}

#[test]
fn the_order_has_each_crate_once_after_what_it_needs() {
    let packages = [
        package(
            "high",
            json!(null),
            &[("low", json!(null), "^0.1.0"), ("fixtures", json!("dev"), "*")],
        ),
        package("low", json!(null), &[]),
        package("fixtures", json!([]), &[("high", json!(null), "^0.1.0")]),
    ];
    let found = |order: &[&str]| misplaced(order, &packages).join("\n");
    assert_eq!(found(&["low", "high"]), "");
    assert_eq!(
        found(&["high", "low"]),
        "`high` stands before `low`, which it depends on"
    );
    assert_eq!(found(&["low"]), "`high` is missing");
    assert_eq!(
        found(&["low", "high", "low"]),
        "`low` is listed twice\n`high` stands before `low`, which it depends on"
    );
    assert_eq!(found(&["low", "high", "fixtures"]), "`fixtures` is not published");
}

#[test]
fn the_order_is_the_first_block_of_its_section() {
    let page =
        "# A\n\n## Publishing\n\nIn this order:\n\n```text\na b\nc\n```\n\n## Other\n\n```text\nd\n```\n";
    assert_eq!(order(page), Some(vec!["a", "b", "c"]));
    assert_eq!(order(&page.replace("```text\na b\nc\n```\n", "")), None);
    assert_eq!(order("# A\n"), None);
}

#[test]
fn files_outside_are_found() {
    let outside = |text: &str, is_build_script| {
        includes::outside(text, Path::new("/a/src/b/c.rs"), Path::new("/a"), is_build_script).unwrap()
    };
    for inside in [
        r#"const A: &str = include_str!("d.txt");"#,
        r#"#![doc = include_str!("../../d.txt")]"#,
        r#"// include_str!("../../../d.txt")"#,
        r#"/// # mod d { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../d.rs")); }
           fn e() {}"#,
        r#"include!(concat!(env!("OUT_DIR", "no build script"), "/../../../", $name));"#,
        r#"include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/d.rs"));"#,
        r#"const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");"#,
        r#"#[path = "d.rs"] mod d;"#,
    ] {
        assert_eq!(outside(inside, false), [""; 0], "{inside}");
    }
    for (text, path) in [
        (
            r#"const A: &[u8] = include_bytes!("../../../d.bin");"#,
            "../../../d.bin",
        ),
        (
            r#"macro_rules! a { () => { include_str!(concat!("../../../d/", $name, ".toml")) } }"#,
            "../../../d/.toml",
        ),
        (
            r#"include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../d.rs"));"#,
            "/../d.rs",
        ),
        (r#"#[path = "../../../d.rs"] mod d;"#, "../../../d.rs"),
    ] {
        assert_eq!(outside(text, false), [path], "{text}");
    }
    let script = r#"fn main() { compile("../d.idl"); compile("idl/e.idl"); }"#;
    assert_eq!(outside(script, true), ["../d.idl"]);
    assert_eq!(outside(script, false), [""; 0]);
}
