//! Messages split into fragments.

use punctual_cdr::Endian;
use punctual_giop::*;

use crate::messages::{header, request};

/// Splits `message` at these offsets, with the headers of fragments.
pub fn fragmented(message: &[u8], cuts: &[usize]) -> Vec<Vec<u8>> {
    let whole = header(message);
    let ends = cuts.iter().copied().chain([message.len()]);
    let mut start = 0;
    ends.map(|end| {
        let mut part = Vec::new();
        if start > 0 {
            part.extend_from_slice(&message[..HEADER_SIZE]);
            part[7] = MessageType::Fragment as u8;
            if whole.version == Version::V1_2 {
                part.extend_from_slice(&message[HEADER_SIZE..HEADER_SIZE + 4]);
            }
        }
        part.extend_from_slice(&message[start..end]);
        if end < message.len() {
            part[6] |= 2;
        }
        start = end;
        with_size(part)
    })
    .collect()
}

pub fn with_size(mut message: Vec<u8>) -> Vec<u8> {
    let size = (message.len() - HEADER_SIZE) as u32;
    let size = if message[6] & 1 == 0 {
        size.to_be_bytes()
    } else {
        size.to_le_bytes()
    };
    message[8..12].copy_from_slice(&size);
    message
}

pub fn with_id(mut message: Vec<u8>, id: u32) -> Vec<u8> {
    let id = if message[6] & 1 == 0 {
        id.to_be_bytes()
    } else {
        id.to_le_bytes()
    };
    message[12..16].copy_from_slice(&id);
    message
}

pub fn large(version: Version, endian: Endian) -> Vec<u8> {
    request(version, endian, (0..100).collect::<Vec<i32>>())
}
