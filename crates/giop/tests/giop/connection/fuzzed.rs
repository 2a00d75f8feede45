//! Any octets, in any parts: what the fuzz target `connection` checks, over its corpus and mutations of it.

use std::time::Instant;

use punctual_cdr::CharSet;
use punctual_giop::connection::{
    Connection, ConnectionLimits, Event, Refusal, Refused, ReplyContent, Role, State,
};
use punctual_giop::{HEADER_SIZE, Version};

/// Octets of the longest message; more may be received.
const MAX_MESSAGE: usize = 4096;

/// Memory beyond what was received: spare buffers, and the rounding of growing ones.
const SLACK: usize = 64 << 10;

/// Feeds a connection. The first octet chooses its role and settings, the second the size of the parts in
/// which the others arrive: they must not matter.
pub fn check(input: &[u8]) {
    let [settings, part, octets @ ..] = input else {
        return;
    };
    let whole = run(*settings, usize::MAX, octets);
    let parts = run(*settings, usize::from(*part % 97) + 1, octets);
    // How much of a header an error shows depends on what had been received.
    let compared = |(events, refused, state): Outcome| (events, refused.is_some(), state);
    assert_eq!(
        compared(whole),
        compared(parts),
        "settings {settings}, parts of {}",
        part % 97 + 1
    );
}

type Outcome = (Vec<Event>, Option<Refused>, State);

fn run(settings: u8, part: usize, octets: &[u8]) -> Outcome {
    let role = [Role::Client, Role::Server, Role::Both, Role::Server][usize::from(settings & 3)];
    let limits = ConnectionLimits {
        max_message_size: MAX_MESSAGE,
        max_fragmented_messages: usize::from(settings >> 6) + 1,
        message_completion: None,
    };
    let mut connection = Connection::new(role, Version::V1_0, limits);
    if settings & 4 != 0 {
        connection = connection.with_char_set(CharSet::Utf8, false);
    }
    let mut receive = connection.receive;
    if settings & 8 != 0 {
        receive = receive.awaiting_bidirectional_offer();
    }
    let (mut events, mut fed, mut taken) = (Vec::new(), 0, (Vec::new(), Vec::new()));
    loop {
        match receive.poll(|| unreachable!("no time is limited")) {
            Ok(Some(event)) => {
                look_at(event, receive.message());
                events.push(event);
                match event {
                    Event::BidirectionalOffer if settings & 16 != 0 => receive.accept_bidirectional(),
                    Event::Request(_) | Event::Reply(_) if settings & 32 != 0 => {
                        receive.take(&mut taken.0, &mut taken.1);
                    }
                    _ => {}
                }
                // A message has a header; an offer precedes one.
                assert!(events.len() <= 2 * (fed / HEADER_SIZE));
            }
            Ok(None) if receive.state() == State::Closed => return (events, None, State::Closed),
            Ok(None) if fed == octets.len() => return (events, None, receive.state()),
            Ok(None) => {
                let space = receive.space();
                let count = part.min(space.len()).min(octets.len() - fed);
                assert!(count > 0, "there is always space");
                space[..count].copy_from_slice(&octets[fed..fed + count]);
                receive.received(count);
                fed += count;
                assert!(receive.held() <= 4 * fed + SLACK, "{} of {fed}", receive.held());
            }
            Err(refused) => {
                assert_eq!(receive.state(), State::Closed);
                assert_eq!(receive.poll(Instant::now), Ok(None), "nothing follows");
                return (events, Some(refused), State::Closed);
            }
        }
    }
}

/// Checks that the statements of an event hold for its message.
fn look_at(event: Event, message: &[u8]) {
    let header = match event {
        Event::Request(header) | Event::LocateRequest(header) => header,
        Event::Reply(reply) => {
            if let ReplyContent::Reply(body) = reply.content {
                assert!(body.offset <= message.len());
            }
            reply.header
        }
        _ => return,
    };
    assert_eq!(header.total_size(), message.len());
    assert!(message.len() <= MAX_MESSAGE && !header.more_fragments);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::Corpus;

    fn corpus() -> Corpus {
        Corpus::of_octets(include_str!("../../../../../fuzz/corpus/connection.txt"))
    }

    #[test]
    fn the_corpus_passes() {
        corpus().inputs().for_each(check);
    }

    /// The corpus reaches what it is there for: all events, and refusals.
    #[test]
    fn the_corpus_reaches_all_events() {
        let mut names = std::collections::BTreeSet::new();
        for input in corpus().inputs() {
            let [settings, part, octets @ ..] = input else {
                continue;
            };
            let (events, refused, _) = run(*settings, usize::from(*part) + 1, octets);
            for event in events {
                let name = format!("{event:?}");
                names.insert(name.split(['(', ' ']).next().unwrap().to_owned());
            }
            if let Some(Refused { reason, .. }) = refused {
                let kind = match reason {
                    Refusal::Header(_) => "Header",
                    Refusal::Fragment(_) => "Fragment",
                    Refusal::Malformed { .. } => "Malformed",
                    Refusal::NotPermitted { .. } => "NotPermitted",
                    Refusal::Incomplete(_) => "Incomplete",
                };
                names.insert(kind.to_owned());
            }
        }
        for wanted in [
            "BidirectionalOffer",
            "Cancelled",
            "CloseConnection",
            "Fragment",
            "Header",
            "LocateRequest",
            "Malformed",
            "MessageError",
            "NotPermitted",
            "Progress",
            "Reply",
            "Request",
        ] {
            assert!(names.contains(wanted), "{wanted} is not among {names:?}");
        }
    }

    #[test]
    fn mutations_of_the_corpus_pass() {
        corpus().mutations(20_000, check);
    }
}
