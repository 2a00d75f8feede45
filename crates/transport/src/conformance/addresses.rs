//! Checks of addresses.

use std::{collections::HashSet, io::ErrorKind};

use punctual_cdr::{Endian, TaggedProfile};
use punctual_giop::{Profile, Version, decode_endpoints_with, encode_endpoints_with};

use super::{STALL_TIMEOUT, accept, connect, listen};
use crate::{ProtocolProperties, Transport};

/// An address round-trips through profiles and lists of endpoints in both byte orders, and leads to the
/// listener.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use punctual::transport::{Tcp, conformance};
///
/// conformance::addresses_round_trip_through_references(&Tcp, "127.0.0.1:0");
/// ```
pub fn addresses_round_trip_through_references(transport: &dyn Transport, address: &str) {
    let listener = listen(transport, address);
    let published = listener.address().to_owned();
    for endian in [Endian::Big, Endian::Little] {
        let profile = Profile {
            tag: transport.profile_tag(),
            version: Version::V1_2,
            address: published.clone(),
            object_key: b"key".to_vec(),
            components: Vec::new(),
        };
        let encoded: TaggedProfile = profile
            .encode_with(endian, |address, encoder| {
                transport.encode_address(address, encoder)
            })
            .unwrap();
        let decoded = Profile::decode_with(&encoded, |decoder| transport.decode_address(decoder));
        assert_eq!(decoded, Ok(profile));
        for cut in 0..encoded.data.len() {
            let part = TaggedProfile {
                tag: encoded.tag,
                data: encoded.data[..cut].to_vec(),
            };
            let decoded = Profile::decode_with(&part, |decoder| transport.decode_address(decoder));
            assert!(decoded.is_err(), "a profile that ends after {cut} octets");
        }
        let endpoints = [(published.clone(), -1), (published.clone(), 32_767)];
        let encoded = encode_endpoints_with(endian, &endpoints, |address, encoder| {
            transport.encode_address(address, encoder)
        });
        let encoded = encoded.unwrap();
        let decoded = decode_endpoints_with(&encoded, |decoder| transport.decode_address(decoder));
        assert_eq!(decoded.unwrap(), endpoints);
    }
    drop(connect(transport, &*listener, accept));
}

/// Listeners of lanes have different addresses, and return a published address if there is one.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use punctual::transport::{Unix, conformance};
///
/// conformance::lanes_have_their_own_addresses(&Unix, "");
/// ```
pub fn lanes_have_their_own_addresses(transport: &dyn Transport, address: &str) {
    let first = listen(transport, address);
    let mut seen = HashSet::from([first.address().to_owned()]);
    let mut kept = Vec::new();
    for lane in ["p1-0", "p1-32767", "p2-0"] {
        let beside = transport.lane_address(address, lane);
        let listener = listen(transport, &beside);
        assert!(seen.insert(listener.address().to_owned()), "{beside} twice");
        drop(connect(transport, &*listener, accept));
        kept.push(listener);
    }
    let published = first.address().to_owned();
    let beside = transport.lane_address(address, "p3-0");
    let listener = transport.listen(&beside, Some(&published), &ProtocolProperties::default());
    assert_eq!(listener.unwrap().address(), published);
}

/// Connecting fails with `ConnectionRefused` after the listener has been shut down or closed.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use punctual::transport::{Shm, conformance};
///
/// conformance::connecting_without_a_listener_is_refused(&Shm, "");
/// ```
pub fn connecting_without_a_listener_is_refused(transport: &dyn Transport, address: &str) {
    let listener = listen(transport, address);
    let published = listener.address().to_owned();
    listener.shutdown();
    let properties = ProtocolProperties::default();
    let refused = || {
        let result = transport.connect(&published, &properties, STALL_TIMEOUT);
        result.err().expect("no server listens there").kind()
    };
    assert_eq!(refused(), ErrorKind::ConnectionRefused, "after shutting down");
    drop(listener);
    assert_eq!(refused(), ErrorKind::ConnectionRefused, "after closing");
    // Files left behind are no obstacle.
    let again = listen(transport, address);
    drop(connect(transport, &*again, accept));
}

/// Addresses with a NUL or a line break are refused with `InvalidInput` and a text that states the expected
/// form.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use punctual::transport::{Tcp, conformance};
///
/// conformance::malformed_addresses_are_refused(&Tcp, "127.0.0.1:0");
/// ```
pub fn malformed_addresses_are_refused(transport: &dyn Transport, _address: &str) {
    for address in ["\0", "\n", "no such\0address"] {
        let listening = transport.listen(address, None, &ProtocolProperties::default());
        let error = listening
            .err()
            .unwrap_or_else(|| panic!("listening at {address:?}"));
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{address:?}: {error}");
        assert!(error.to_string().len() > 10, "the error has no text: {error}");
        let connecting = transport.connect(address, &ProtocolProperties::default(), STALL_TIMEOUT);
        assert!(connecting.is_err(), "connecting to {address:?}");
    }
}
