//! Fragmented messages: reassembled, interleaved, cancelled, refused.

use punctual_cdr::{Decode, Decoder, Encode, Endian};
use punctual_giop::*;

use crate::messages::{ORDERS, header, request};

fn assembler() -> FragmentAssembler {
    FragmentAssembler::new(FragmentLimits::new(1 << 16))
}

fn push(assembler: &mut FragmentAssembler, message: &[u8]) -> Result<Assembled, FragmentError> {
    assembler.push(&header(message), message)
}

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

#[test]
fn a_message_split_anywhere_is_reassembled() {
    for endian in ORDERS {
        for (version, step) in [(Version::V1_1, 1), (Version::V1_2, 1)] {
            let message = large(version, endian);
            for cut in (16..message.len()).step_by(step) {
                let mut assembler = assembler();
                let parts = fragmented(&message, &[cut]);
                assert_eq!(push(&mut assembler, &parts[0]), Ok(Assembled::Pending));
                assert_eq!(
                    push(&mut assembler, &parts[1]),
                    Ok(Assembled::Complete(message.clone()))
                );
                assert_eq!(assembler.pending(), 0);
            }
            let mut assembler = assembler();
            let parts = fragmented(&message, &[40, 40, 80, 100]);
            for part in &parts[..4] {
                assert_eq!(push(&mut assembler, part), Ok(Assembled::Pending));
            }
            assert_eq!(push(&mut assembler, &parts[4]), Ok(Assembled::Complete(message)));
        }
    }
}

#[test]
fn an_unfragmented_message_passes_through() {
    let message = large(Version::V1_2, Endian::Little);
    assert_eq!(push(&mut assembler(), &message), Ok(Assembled::Whole));
}

#[test]
fn messages_of_giop_1_2_interleave() {
    let mut assembler = assembler();
    let messages: Vec<_> = (0..4)
        .map(|id| with_id(large(Version::V1_2, Endian::Big), id))
        .collect();
    let parts: Vec<_> = messages
        .iter()
        .map(|message| fragmented(message, &[64, 128]))
        .collect();
    for round in 0..2 {
        for part in &parts {
            assert_eq!(push(&mut assembler, &part[round]), Ok(Assembled::Pending));
        }
    }
    for (part, message) in parts.iter().zip(messages).rev() {
        assert_eq!(push(&mut assembler, &part[2]), Ok(Assembled::Complete(message)));
    }
}

#[test]
fn a_cancelled_message_is_discarded() {
    for version in [Version::V1_1, Version::V1_2] {
        let mut assembler = assembler();
        let parts = fragmented(&large(version, Endian::Little), &[100]);
        push(&mut assembler, &parts[0]).unwrap();
        assert!(!assembler.cancel(8));
        assert!(assembler.cancel(7), "GIOP {version}");
        assert!(!assembler.cancel(7));
        assert!(matches!(
            push(&mut assembler, &parts[1]),
            Err(FragmentError::NotUnderWay(_))
        ));
    }
}

#[test]
fn buffers_are_reused() {
    let mut assembler = assembler();
    let message = large(Version::V1_2, Endian::Little);
    let parts = fragmented(&message, &[64, 128]);
    let mut buffers = Vec::new();
    for _ in 0..3 {
        push(&mut assembler, &parts[0]).unwrap();
        push(&mut assembler, &parts[1]).unwrap();
        let Ok(Assembled::Complete(whole)) = push(&mut assembler, &parts[2]) else {
            panic!()
        };
        buffers.push((whole.as_ptr(), whole.capacity()));
        assembler.recycle(whole);
    }
    assert_eq!(buffers, vec![buffers[0]; 3]);
}

#[test]
fn inconsistent_fragments_are_refused() {
    let message = large(Version::V1_2, Endian::Little);
    let parts = fragmented(&message, &[64]);
    let other_order = fragmented(&large(Version::V1_2, Endian::Big), &[64]);
    let old = fragmented(&large(Version::V1_1, Endian::Little), &[64]);
    let mut short = parts[0][..12].to_vec();
    2_u16
        .encode(&mut punctual_cdr::Encoder::new(&mut short, Endian::Little))
        .unwrap();
    let short = with_size(short);
    for (first, second, error) in [
        (None, &parts[1], FragmentError::NotUnderWay(Some(7))),
        (None, &old[1], FragmentError::NotUnderWay(None)),
        (
            Some(&parts[0]),
            &with_id(parts[1].clone(), 8),
            FragmentError::NotUnderWay(Some(8)),
        ),
        (
            Some(&parts[0]),
            &parts[0],
            FragmentError::AlreadyUnderWay(Some(7)),
        ),
        (Some(&old[0]), &old[0], FragmentError::AlreadyUnderWay(None)),
        (Some(&parts[0]), &other_order[1], FragmentError::Inconsistent),
        (None, &short, FragmentError::Truncated),
    ] {
        let mut assembler = assembler();
        if let Some(first) = first {
            push(&mut assembler, first).unwrap();
        }
        assert_eq!(push(&mut assembler, second), Err(error));
    }
    let header = header(&parts[0]);
    assert_eq!(
        assembler().push(&header, &parts[0][..40]),
        Err(FragmentError::Truncated)
    );
}

#[test]
fn an_empty_fragment_may_end_a_message_of_giop_1_1_anywhere() {
    let message = with_size(large(Version::V1_1, Endian::Little)[..66].to_vec());
    let mut first = message.clone();
    first[6] |= 2;
    let mut last = message[..HEADER_SIZE].to_vec();
    last[7] = MessageType::Fragment as u8;
    let mut assembler = assembler();
    assert_eq!(push(&mut assembler, &first), Ok(Assembled::Pending));
    assert_eq!(
        push(&mut assembler, &with_size(last)),
        Ok(Assembled::Complete(message))
    );
}

#[test]
fn an_endless_message_is_stopped_by_the_limit() {
    let parts = fragmented(&large(Version::V1_2, Endian::Little), &[64, 128]);
    let mut assembler = FragmentAssembler::new(FragmentLimits::new(256));
    push(&mut assembler, &parts[0]).unwrap();
    let mut pushed = 64;
    let error = loop {
        match push(&mut assembler, &parts[1]) {
            Ok(Assembled::Pending) => pushed += 64,
            other => break other,
        }
    };
    assert_eq!((error, pushed), (Err(FragmentError::TooLarge(256)), 256));
}

#[test]
fn too_many_incomplete_messages_are_refused() {
    let parts = fragmented(&large(Version::V1_2, Endian::Little), &[64]);
    let mut assembler = assembler();
    for id in 0..4 {
        push(&mut assembler, &with_id(parts[0].clone(), id)).unwrap();
    }
    let fifth = with_id(parts[0].clone(), 4);
    assert_eq!(
        push(&mut assembler, &fifth),
        Err(FragmentError::TooManyPending(4))
    );
    assert!(assembler.cancel(2));
    assert_eq!(push(&mut assembler, &fifth), Ok(Assembled::Pending));
}

/// The fragments of omniORB 4.2: each aligns its data to its own header.
#[test]
fn data_in_giop_1_1_is_aligned_to_its_fragment() {
    for endian in ORDERS {
        let mut parts = [
            request(Version::V1_1, endian, 1_u32),
            request(Version::V1_1, endian, ()),
            request(Version::V1_1, endian, ()),
        ];
        for fragment in &mut parts[1..] {
            fragment.truncate(HEADER_SIZE);
            fragment[7] = MessageType::Fragment as u8;
        }
        let write = |buffer: &mut Vec<u8>, values: &[f64]| {
            // The next multiple of 8, counted from the fragment's header.
            buffer.resize(16, 0);
            values.iter().for_each(|value| {
                value
                    .encode(&mut punctual_cdr::Encoder::new(buffer, endian))
                    .unwrap()
            });
        };
        // The first value does not fit after the odd octet at the end of the first fragment.
        parts[0].push(9);
        write(&mut parts[1], &[0.5, -1.5]);
        parts[1].push(8);
        write(&mut parts[2], &[2.5]);
        parts[0][6] |= 2;
        parts[1][6] |= 2;
        let body = parts[0].len() - 5;

        let mut assembler = assembler();
        let mut assembled = Assembled::Whole;
        for part in parts.map(with_size) {
            assembled = push(&mut assembler, &part).unwrap();
        }
        let Assembled::Complete(message) = assembled else {
            panic!("{assembled:?}")
        };
        let mut decoder = Decoder::new(&message, endian)
            .with_fragments(assembler.starts())
            .at(body);
        assert_eq!(u32::decode(&mut decoder), Ok(1));
        assert_eq!(u8::decode(&mut decoder), Ok(9));
        assert_eq!(<[f64; 2]>::decode(&mut decoder), Ok([0.5, -1.5]));
        assert_eq!(u8::decode(&mut decoder), Ok(8));
        assert_eq!(f64::decode(&mut decoder), Ok(2.5));
        assert_eq!(decoder.remaining(), 0);
    }
}
