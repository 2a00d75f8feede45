//! GIOP messages of attackers.

use punctual_cdr::{CdrError, CharSet, Encode, Encoder, Endian};
use punctual_giop::{
    HEADER_SIZE, MessageType, MessageWriter, OutgoingRequest, ResponseFlags, ServiceContext, TargetAddress,
    Version, begin_body, encode_locate_request, encode_request, end_body,
};

use super::target::Target;

/// The octets before the size in a message header end here.
const FLAGS_AT: usize = 6;
const SIZE_AT: usize = 8;
const MORE_FRAGMENTS: u8 = 2;
/// `GIOP::MsgType`.
const FRAGMENT: u8 = 7;

/// Creates a two-way request to the target's object, or another one with this key, at the lane's priority.
pub(super) fn request(
    version: Version,
    target: &Target,
    key: &[u8],
    operation: &str,
    arguments: impl Fn(&mut Encoder<'_>) -> Result<(), CdrError>,
) -> Vec<u8> {
    let request = OutgoingRequest {
        request_id: 1,
        response: ResponseFlags::WithTarget,
        target: TargetAddress::Key(key),
        operation,
        contexts: &[ServiceContext::Priority(target.priority)],
    };
    message(version, MessageType::Request, |encoder| {
        encode_request(encoder, version, &request)?;
        let body = begin_body(encoder, version)?;
        arguments(encoder)?;
        end_body(encoder, body);
        Ok(())
    })
}

/// Creates a LocateRequest for this key.
pub(super) fn locate_request(version: Version, key: &[u8]) -> Vec<u8> {
    message(version, MessageType::LocateRequest, |encoder| {
        encode_locate_request(encoder, version, 1, TargetAddress::Key(key))
    })
}

/// Encodes a sequence of zeros as the only argument.
pub(super) fn octets(count: usize) -> impl Fn(&mut Encoder<'_>) -> Result<(), CdrError> {
    move |encoder| vec![0_u8; count].encode(encoder)
}

fn message(
    version: Version,
    kind: MessageType,
    write: impl Fn(&mut Encoder<'_>) -> Result<(), CdrError>,
) -> Vec<u8> {
    let mut octets = Vec::new();
    let mut writer = MessageWriter::new(
        &mut octets,
        version,
        kind,
        Endian::NATIVE,
        CharSet::Utf8,
        usize::MAX,
    );
    let written = write(writer.encoder());
    written
        .and_then(|()| writer.finish())
        .expect("the messages of attackers have no limit");
    octets
}

/// Makes a whole message the first part of a fragmented one.
pub(super) fn first_part(mut message: Vec<u8>) -> Vec<u8> {
    // Parts of GIOP 1.2 end at multiples of 8.
    message.resize(message.len().next_multiple_of(8), 0);
    with_size(message, FLAGS_AT, MORE_FRAGMENTS)
}

/// Creates a fragment that is not the last one, with this many octets of zeros behind its header. In GIOP 1.2
/// the first four are the id of the request.
pub(super) fn fragment(version: Version, octets: usize) -> Vec<u8> {
    let mut message = Vec::with_capacity(HEADER_SIZE + octets);
    message.extend_from_slice(b"GIOP");
    message.extend_from_slice(&[version.major, version.minor, Endian::NATIVE.flag(), FRAGMENT]);
    message.resize(HEADER_SIZE, 0);
    if version >= Version::V1_2 {
        message.extend_from_slice(&1_u32.to_ne_bytes());
    }
    message.resize(HEADER_SIZE + octets, 0);
    with_size(message, FLAGS_AT, MORE_FRAGMENTS)
}

/// Sets flags, and the size.
fn with_size(mut message: Vec<u8>, at: usize, flags: u8) -> Vec<u8> {
    message[at] |= flags;
    let size = (message.len() - HEADER_SIZE) as u32;
    message[SIZE_AT..HEADER_SIZE].copy_from_slice(&size.to_ne_bytes());
    message
}

/// Returns a key as long as the object's, of no object.
pub(super) fn unknown_key(target: &Target) -> Vec<u8> {
    target.key.iter().map(|octet| !octet).collect()
}

#[cfg(test)]
mod tests {
    use punctual_giop::{MessageHeader, RequestHeader};

    use super::*;
    use crate::attacks::attack::tests::target;

    #[test]
    fn parts_and_fragments_are_well_formed() {
        let target = target(0);
        for version in [Version::V1_1, Version::V1_2] {
            let whole = request(version, &target, &target.key, "swallow", octets(100));
            let header = MessageHeader::parse(&whole, 1 << 20).unwrap();
            let (read, _) = RequestHeader::decode(&whole, &header).unwrap();
            assert_eq!(read.operation, "swallow");
            let first = first_part(whole);
            let header = MessageHeader::parse(&first, 1 << 20).unwrap();
            assert!(header.more_fragments && header.total_size() == first.len());
            let fragment = fragment(version, 4);
            let header = MessageHeader::parse(&fragment, 1 << 20).unwrap();
            assert!(header.more_fragments && header.message_type == MessageType::Fragment);
            assert_eq!((header.total_size(), fragment.len()), (16, 16));
        }
    }
}
