//! Any datagrams from several senders: what the fuzz target `datagrams` checks.

use std::{net::SocketAddr, time::Instant};

use punctual_cdr::Endian;
use punctual_events::{DatagramLimits, decode_set};

// Both belong to the crate itself, which offers only sockets.
#[path = "../../src/gateway/datagram/header.rs"]
#[allow(dead_code)]
mod header;
#[path = "../../src/gateway/datagram/reassembly.rs"]
#[allow(dead_code)]
mod reassembly;

use header::{Header, LENGTH};
use reassembly::{Joined, Reassembly};

/// Datagrams, before each of which stand an octet that chooses its sender, and one with its length. A message
/// that they complete has the octets of its fragments, and is read or refused.
pub fn check(input: &[u8]) {
    let limits = DatagramLimits {
        incomplete: 3,
        memory: 2_000,
        ..DatagramLimits::default()
    };
    let mut reassembly = Reassembly::new(limits);
    for (sender, datagram) in datagrams(input) {
        let Some((header, content)) = Header::decode(datagram) else {
            continue;
        };
        // The last octets may be a checksum.
        assert_eq!(header.encode()[..LENGTH - 4], datagram[..LENGTH - 4]);
        let message = match header.fragments {
            1 => content.to_vec(),
            _ => match reassembly.join(sender, &header, content, Instant::now()) {
                Joined::Complete(message) => message,
                Joined::Incomplete | Joined::Refused => continue,
            },
        };
        assert_eq!(message.len(), header.message_size as usize);
        let at = header.offset as usize;
        assert_eq!(&message[at..at + content.len()], content);
        let endian = match header.is_little_endian {
            true => Endian::Little,
            false => Endian::Big,
        };
        let _ = decode_set(&message, endian);
    }
}

fn datagrams(mut input: &[u8]) -> impl Iterator<Item = (SocketAddr, &[u8])> {
    std::iter::from_fn(move || {
        let [sender, length, rest @ ..] = input else {
            return None;
        };
        let (datagram, rest) = rest.split_at(rest.len().min(usize::from(*length)));
        input = rest;
        Some((([127, 0, 0, 1], u16::from(sender % 4)).into(), datagram))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::Corpus;

    fn corpus() -> Corpus {
        Corpus::of_octets(include_str!("../../../../fuzz/corpus/datagrams.txt"))
    }

    #[test]
    fn the_corpus_passes() {
        corpus().inputs().for_each(check);
        let is_read = |input: &&[u8]| {
            let mut headers = datagrams(input).filter_map(|(_, datagram)| Header::decode(datagram));
            headers.any(|(header, _)| header.fragments > 1)
        };
        assert!(corpus().inputs().filter(is_read).count() >= 5);
    }

    #[test]
    fn mutations_of_the_corpus_pass() {
        corpus().mutations(200_000, check);
    }
}
