//! Any octets as object references, profiles, components, URLs and service contexts: what the fuzz target
//! `references` checks.

use punctual_cdr::{Decode, Decoder, Encode, Encoder, Endian, Ior, TaggedComponent};
use punctual_giop::{
    Component, IiopProfile, Name, NameError, ObjectUrl, corbaname_url, decode_code_sets,
    decode_invocation_policies, decode_listen_points, decode_multiple_components, decode_priority,
    decode_priority_range, decode_refused_priority, ior_from_string, ior_to_string,
};

/// Decodes the octets behind the first one, which chooses what they are. What can be decoded is the same
/// again after being encoded.
pub fn check(input: &[u8]) {
    let [kind, octets @ ..] = input else {
        return;
    };
    match kind % 5 {
        0 => reference(octets, Endian::Little),
        1 => reference(octets, Endian::Big),
        2 => text(octets),
        3 => contexts(octets),
        _ => {
            if let Some((tag, data)) = octets.split_first_chunk() {
                component(&TaggedComponent {
                    tag: u32::from_le_bytes(*tag),
                    data: data.to_vec(),
                });
            }
        }
    }
}

fn reference(octets: &[u8], endian: Endian) {
    let Ok(ior) = Ior::decode(&mut Decoder::new(octets, endian)) else {
        return;
    };
    let mut again = Vec::new();
    let encoded = ior.encode(&mut Encoder::new(&mut again, endian));
    encoded.expect("what was decoded can be encoded");
    assert_eq!(Ior::decode(&mut Decoder::new(&again, endian)).as_ref(), Ok(&ior));
    assert_eq!(ior_from_string(&ior_to_string(&ior)).as_ref(), Ok(&ior));
    for profile in &ior.profiles {
        if let Ok(decoded) = IiopProfile::decode(profile) {
            let encoded = decoded.encode().expect("what was decoded can be encoded");
            assert_eq!(IiopProfile::decode(&encoded).as_ref(), Ok(&decoded));
            decoded.components.iter().for_each(component);
        }
        let components = decode_multiple_components(profile);
        components.iter().flatten().for_each(component);
    }
}

fn component(component: &TaggedComponent) {
    let Ok(decoded) = Component::decode(component) else {
        return;
    };
    let again = |of: &Component| {
        let encoded = of.encode().expect("what was decoded can be encoded");
        Component::decode(&encoded).expect("what was encoded can be decoded")
    };
    // The first time, policies get the order that every peer can read.
    let ordered = again(&decoded);
    assert_eq!(again(&ordered), ordered);
}

fn text(octets: &[u8]) {
    let Ok(text) = str::from_utf8(octets) else { return };
    if let Ok(ior) = ior_from_string(text) {
        assert_eq!(ior_from_string(&ior_to_string(&ior)).as_ref(), Ok(&ior));
    }
    match text.parse::<ObjectUrl>() {
        Ok(url) => assert_eq!(url.to_string().parse().as_ref(), Ok(&url)),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    // An address and a name, as `to_url` gets them: the URL means both.
    let (address, name) = text.split_once('\n').unwrap_or((text, ""));
    if let Ok(url) = corbaname_url(address, name) {
        let whole: ObjectUrl = url.parse().expect("a URL that was made");
        let context = corbaname_url(address, "").expect("the address is as before");
        let context: ObjectUrl = context.parse().expect("the address alone");
        match (whole, context) {
            (
                ObjectUrl::Corbaname {
                    context,
                    name: parsed,
                },
                ObjectUrl::Corbaname { context: alone, .. },
            ) => {
                assert_eq!((context, parsed), (alone, name.parse::<Name>().ok()), "{url}");
            }
            other => panic!("{other:?}"),
        }
    }
    let (within, any) = (Name::parse_within(name, 3, 5), name.parse::<Name>());
    match within {
        Err(NameError::TooManyComponents { .. } | NameError::ComponentTooLong { .. }) => {}
        within => assert_eq!(within, any),
    }
}

/// The data of a service context, as each of those that are understood.
fn contexts(data: &[u8]) {
    let _ = decode_priority(data);
    let _ = decode_priority_range(data);
    let _ = decode_refused_priority(data);
    let _ = decode_code_sets(data);
    let _ = decode_invocation_policies(data);
    if let Ok(points) = decode_listen_points(data) {
        // A host and a port take octets of the message.
        assert!(
            points.len() * 8 <= data.len() + 8,
            "{} of {}",
            points.len(),
            data.len()
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::Corpus;

    fn corpus() -> Corpus {
        Corpus::of_octets(include_str!("../../../../fuzz/corpus/references.txt"))
    }

    #[test]
    fn the_corpus_passes() {
        corpus().inputs().for_each(check);
    }

    #[test]
    fn the_corpus_has_what_can_be_decoded() {
        let corpus = corpus();
        let of = |kind: u8| {
            corpus
                .inputs()
                .filter(move |input| input[0] == kind)
                .map(|input| &input[1..])
        };
        let iors = of(0).filter_map(|octets| Ior::decode(&mut Decoder::new(octets, Endian::Little)).ok());
        let profiles: Vec<_> = iors.flat_map(|ior| ior.profiles).collect();
        assert!(
            profiles
                .iter()
                .filter(|profile| IiopProfile::decode(profile).is_ok())
                .count()
                >= 3
        );
        assert!(
            profiles
                .iter()
                .any(|profile| decode_multiple_components(profile).is_ok())
        );
        let texts = || of(2).filter_map(|octets| str::from_utf8(octets).ok());
        assert!(texts().filter(|text| text.parse::<ObjectUrl>().is_ok()).count() >= 8);
        let pairs = texts().filter_map(|text| text.split_once('\n'));
        let made = pairs.filter(|(address, name)| corbaname_url(address, name).is_ok());
        assert!(made.count() >= 4, "`corbaname:` URLs of an address and a name");
        assert!(of(3).any(|data| decode_listen_points(data).is_ok_and(|points| !points.is_empty())));
        assert!(of(3).any(|data| decode_invocation_policies(data).is_ok()));
        assert!(of(3).any(|data| decode_code_sets(data).is_ok()));
    }

    #[test]
    fn mutations_of_the_corpus_pass() {
        corpus().mutations(200_000, check);
    }
}
