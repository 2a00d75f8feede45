//! Texts of other ORBs' clients to a server of ours, by the native code set in its references.

use punctual::{CharSet, Orb, SystemException, SystemExceptionKind::DataConversion};
use punctual_interop::{
    checks::{Context, limits},
    jacorb::JacOrb,
    omniorbpy::OmniOrbPy,
    process,
    server::{Served, Server},
};

const SCRATCH: &str = env!("CARGO_TARGET_TMPDIR");

const IN_LATIN1: &str = "Gr\u{fc}\u{df}e \u{a3}";
const IN_LATIN2: &str = "\u{141}\u{f3}d\u{17a}";
const BEYOND: &str = "\u{65e5}\u{672c} \u{20ac} \u{1f600}";

const SETTINGS: [Option<CharSet>; 3] = [None, Some(CharSet::Utf8), Some(CharSet::Latin1)];

/// Sends the text over another ORB's client to a server with this setting: what the server understands.
fn understood(
    setting: Option<CharSet>,
    proxy: impl FnOnce(&str) -> process::Server,
    text: &str,
) -> Result<String, SystemException> {
    let server = Server::of(
        Orb::builder().native_code_set(setting),
        limits(),
        Served::ByTheOrb,
    );
    let proxy = proxy(&server.peer.to_ior());
    let context = Context::new(&proxy.reference).expect("the proxy's reference");
    let points = context.peer.code_points(text)?;
    Ok(points.into_iter().filter_map(char::from_u32).collect())
}

#[test]
fn of_clients_in_latin1_nothing_is_lost() {
    for setting in SETTINGS {
        if let Some(omniorbpy) = OmniOrbPy::build(SCRATCH) {
            let native = ["-ORBnativeCharCodeSet", "ISO-8859-1"];
            let proxy = |target: &str| omniorbpy.server(&native, Some(target));
            let omniorb = understood(setting, proxy, IN_LATIN1);
            assert_eq!(omniorb.as_deref(), Ok(IN_LATIN1), "omniORB, {setting:?}");
        }
        if let Some(jacorb) = JacOrb::build(SCRATCH) {
            let native = [("jacorb.native_char_codeset", "ISO8859_1")];
            let proxy = |target: &str| jacorb.server(&native, Some(target));
            let jacorb = understood(setting, proxy, IN_LATIN1);
            assert_eq!(jacorb.as_deref(), Ok(IN_LATIN1), "JacORB, {setting:?}");
        }
    }
}

/// A client with yet another code set converts to that of the server.
#[test]
fn of_clients_in_latin2_the_setting_decides() {
    let native = ["-ORBnativeCharCodeSet", "ISO-8859-2"];
    for setting in SETTINGS.into_iter().chain([Some(CharSet::Iso8859_2)]) {
        let Some(omniorbpy) = OmniOrbPy::build(SCRATCH) else {
            return;
        };
        let proxy = |target: &str| omniorbpy.server(&native, Some(target));
        let understood = understood(setting, proxy, IN_LATIN2);
        match setting {
            Some(CharSet::Latin1) => {
                let refused = understood.map_err(|exception| exception.kind);
                assert_eq!(refused, Err(DataConversion));
            }
            _ => assert_eq!(understood.as_deref(), Ok(IN_LATIN2), "{setting:?}"),
        }
    }
}

#[test]
fn of_clients_in_utf8_the_setting_decides() {
    for setting in SETTINGS {
        if let Some(omniorbpy) = OmniOrbPy::build(SCRATCH) {
            let native = ["-ORBnativeCharCodeSet", "UTF-8"];
            let proxy = |target: &str| omniorbpy.server(&native, Some(target));
            let omniorb = understood(setting, proxy, BEYOND);
            // It converts to what the server states as its own.
            match setting {
                Some(CharSet::Latin1) => {
                    let refused = omniorb.map_err(|exception| exception.kind);
                    assert_eq!(refused, Err(DataConversion));
                }
                _ => assert_eq!(omniorb.as_deref(), Ok(BEYOND), "omniORB, {setting:?}"),
            }
        }
        if let Some(jacorb) = JacOrb::build(SCRATCH) {
            let native = [("jacorb.native_char_codeset", "UTF8")];
            let proxy = |target: &str| jacorb.server(&native, Some(target));
            let jacorb = understood(setting, proxy, BEYOND);
            assert_eq!(jacorb.as_deref(), Ok(BEYOND), "JacORB, {setting:?}");
        }
    }
}
