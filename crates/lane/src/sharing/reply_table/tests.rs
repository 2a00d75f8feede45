//! Tests of the table of outstanding calls.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Wake, Waker},
    thread,
    time::Duration,
};

use punctual_cdr::Endian;
use punctual_giop::{MessageHeader, Version, connection::ReplyContent};

use super::*;

fn reply(request_id: u32) -> ReceivedReply {
    let header = MessageHeader {
        version: Version::V1_2,
        endian: Endian::NATIVE,
        more_fragments: false,
        message_type: MessageType::Reply,
        size: 0,
    };
    ReceivedReply {
        header,
        request_id,
        content: ReplyContent::LocateReply,
    }
}

fn deliver(replies: &ReplyTable, request_id: u32, octet: u8) -> ReplyMatch {
    let (mut message, mut starts) = (vec![octet; FIRST_SIZE], Vec::new());
    replies.deliver(reply(request_id), &mut message, &mut starts, || ())
}

const FOR_EVER: ReplyWait<'_> = ReplyWait {
    deadlines: CallDeadlines {
        reply: None,
        unsent: None,
    },
    is_unsent: &|| false,
};

fn enter(replies: &ReplyTable, reply_buffer: &mut ReplyBuffer) -> Ticket {
    replies.enter(MessageType::Reply, reply_buffer).expect("room")
}

#[test]
fn a_reply_is_exchanged_for_what_was_lent() {
    let replies = ReplyTable::new(3, Parity::Any);
    let reply_buffer = &mut ReplyBuffer::default();
    let ticket = enter(&replies, reply_buffer);
    let id = ticket.request_id;
    let (mut message, mut starts) = (vec![7; FIRST_SIZE], vec![1]);
    let delivered = replies.deliver(reply(id), &mut message, &mut starts, || ());
    assert!(matches!(delivered, ReplyMatch::Request(_)));
    assert_eq!((message, starts), (vec![0; FIRST_SIZE], vec![]));
    assert!(matches!(
        replies.wait(ticket, &FOR_EVER, reply_buffer),
        Outcome::Received(_)
    ));
    assert_eq!(
        (&reply_buffer.message, &reply_buffer.fragment_starts),
        (&vec![7; FIRST_SIZE], &vec![1])
    );
    assert_eq!(deliver(&replies, id, 8), ReplyMatch::Unknown, "once");
}

/// Also with as many calls as there may be, of whose ids few bits are left.
#[test]
fn ids_are_not_used_again_soon_and_name_one_call() {
    for calls in [1, 2, 3, 64, 1 << 16] {
        let replies = ReplyTable::new(calls, Parity::Any);
        let reply_buffer = &mut ReplyBuffer::default();
        let mut before = Vec::new();
        for _ in 0..1000 {
            let ticket = enter(&replies, reply_buffer);
            assert!(!before.contains(&ticket.request_id));
            for other in &before {
                assert_eq!(deliver(&replies, *other, 1), ReplyMatch::Unknown);
            }
            before.push(ticket.request_id);
            replies.withdraw(ticket, reply_buffer);
        }
        assert!(!before.contains(&replies.id_without_reply().unwrap()));
    }
}

#[test]
fn so_many_are_let_in_and_no_more() {
    let replies = ReplyTable::new(2, Parity::Any);
    let reply_buffer = &mut [(); 3].map(|()| ReplyBuffer::default());
    let [one, other, third] = reply_buffer;
    let first = enter(&replies, one);
    let second = enter(&replies, other);
    let refused = replies.enter(MessageType::Reply, third).err();
    assert_eq!(refused, Some(Refused::Full));
    assert_eq!(replies.id_without_reply(), Err(Refused::Full));
    assert!(matches!(
        deliver(&replies, second.request_id, 2),
        ReplyMatch::Request(_)
    ));
    assert!(matches!(
        deliver(&replies, first.request_id, 1),
        ReplyMatch::Request(_)
    ));
    for (ticket, reply_buffer, octet) in [(first, one, 1), (second, other, 2)] {
        assert!(matches!(
            replies.wait(ticket, &FOR_EVER, reply_buffer),
            Outcome::Received(_)
        ));
        assert_eq!(reply_buffer.message[0], octet);
    }
    assert!(replies.end_if_idle());
    assert_eq!(replies.id_without_reply(), Err(Refused::Ended));
}

/// Also where it waited for more than that before, and was not told that it is over.
#[test]
fn a_caller_that_sleeps_is_woken_whatever_it_did_before() {
    let replies = &ReplyTable::new(1, Parity::Any);
    let reply_buffer = &mut ReplyBuffer::default();
    let doorbell = Arc::new(Doorbell::new().unwrap());
    let ends: [fn(&ReplyTable, u32); 2] = [
        |replies, id| assert!(matches!(deliver(replies, id, 1), ReplyMatch::Request(_))),
        |replies, _| assert!(!replies.end(CallEnd::Stopped)),
    ];
    let wait = ReplyWait {
        deadlines: CallDeadlines {
            reply: Some(Instant::now() + Duration::from_secs(60)),
            unsent: None,
        },
        ..FOR_EVER
    };
    for end in ends {
        let ticket = enter(replies, reply_buffer);
        let id = ticket.request_id;
        assert!(!replies.ring_when_ended(&ticket, &doorbell));
        let start = Instant::now();
        thread::scope(|scope| {
            scope.spawn(|| {
                // Nothing signals that the caller sleeps; if it does not yet, it finds what has arrived.
                thread::sleep(Duration::from_millis(50));
                end(replies, id);
            });
            let outcome = replies.wait(ticket, &wait, reply_buffer);
            assert!(matches!(outcome, Outcome::Received(_) | Outcome::Ended(_)));
        });
        assert!(start.elapsed() < Duration::from_secs(60), "its timeout woke it");
    }
}

/// The number of late replies equals the number of abandoned calls.
#[test]
fn late_ones_are_counted() {
    let replies = ReplyTable::new(2, Parity::Any);
    let reply_buffer = &mut ReplyBuffer::default();
    let wait = ReplyWait {
        deadlines: CallDeadlines {
            reply: Some(Instant::now()),
            unsent: None,
        },
        ..FOR_EVER
    };
    let mut given_up = Vec::new();
    for _ in 0..3 {
        let ticket = enter(&replies, reply_buffer);
        given_up.push(ticket.request_id);
        assert!(matches!(
            replies.wait(ticket, &wait, reply_buffer),
            Outcome::TimedOut
        ));
        assert_eq!(reply_buffer.message.len(), FIRST_SIZE, "the buffer was returned");
    }
    for id in given_up.iter().rev() {
        assert_eq!(deliver(&replies, *id, 1), ReplyMatch::Late);
    }
    assert_eq!(deliver(&replies, given_up[0], 1), ReplyMatch::Unknown);
}

#[test]
fn a_request_that_is_not_sent_in_time_is_not_waited_for() {
    let replies = ReplyTable::new(2, Parity::Any);
    let reply_buffer = &mut ReplyBuffer::default();
    for (is_unsent, expected) in [(true, "unsent"), (false, "timed out")] {
        let is_unsent = || is_unsent;
        let wait = ReplyWait {
            deadlines: CallDeadlines {
                reply: Some(Instant::now() + Duration::from_millis(5)),
                unsent: Some(Instant::now()),
            },
            is_unsent: &is_unsent,
        };
        let outcome = match replies.wait(enter(&replies, reply_buffer), &wait, reply_buffer) {
            Outcome::UnsentInTime => "unsent",
            Outcome::TimedOut => "timed out",
            _ => "nothing comes",
        };
        assert_eq!(outcome, expected);
    }
}

/// Received replies remain available; callers receive the first reason for the end.
#[test]
fn an_end_is_told_to_those_who_wait() {
    let replies = Arc::new(ReplyTable::new(4, Parity::Any));
    let waiting = thread::scope(|scope| {
        let arrived = &mut ReplyBuffer::default();
        let ticket = enter(&replies, arrived);
        assert!(matches!(
            deliver(&replies, ticket.request_id, 3),
            ReplyMatch::Request(_)
        ));
        let waiting: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    let reply_buffer = &mut ReplyBuffer::default();
                    let ticket = enter(&replies, reply_buffer);
                    match replies.wait(ticket, &FOR_EVER, reply_buffer) {
                        Outcome::Ended(end) => end,
                        _ => panic!("nothing comes"),
                    }
                })
            })
            .collect();
        while replies.id_without_reply() != Err(Refused::Full) {
            thread::sleep(Duration::from_millis(1));
        }
        assert!(!replies.end_if_idle(), "it is in use");
        assert!(!replies.end(CallEnd::InOrder));
        assert!(!replies.end(CallEnd::Lost));
        let ends: Vec<_> = waiting.into_iter().map(|caller| caller.join().unwrap()).collect();
        assert!(matches!(
            replies.wait(ticket, &FOR_EVER, arrived),
            Outcome::Received(_)
        ));
        ends
    });
    assert_eq!(waiting, [CallEnd::InOrder; 3]);
    assert_eq!(
        replies
            .enter(MessageType::Reply, &mut ReplyBuffer::default())
            .err(),
        Some(Refused::Ended)
    );
}

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn waker() -> (Arc<Count>, Waker) {
    let count = Arc::new(Count::default());
    (Arc::clone(&count), Waker::from(count))
}

fn at(now: Instant, seconds: u64) -> Option<Instant> {
    Some(now + Duration::from_secs(seconds))
}

/// Ends only calls of tasks, since other callers watch their own deadlines. Returns the earliest remaining
/// deadline.
#[test]
fn timeouts_of_tasks_are_looked_after() {
    let replies = ReplyTable::new(8, Parity::Any);
    let now = Instant::now();
    let (count, waker) = waker();
    let task = |reply, unsent| {
        let ticket = enter(&replies, &mut ReplyBuffer::default());
        replies.wake_when_ended(&ticket, &waker, CallDeadlines { reply, unsent });
        ticket
    };
    let never = task(None, None);
    let soon = task(at(now, 10), None);
    let sooner = task(at(now, 30), at(now, 5));
    let sleeper = enter(&replies, &mut ReplyBuffer::default());
    assert_eq!(replies.expire(now, true), at(now, 5));
    assert_eq!(
        replies.expire(now, false),
        at(now, 10),
        "a request that has gone out is not late"
    );
    let seconds = |seconds| now + Duration::from_secs(seconds);
    assert_eq!(replies.expire(seconds(5), true), at(now, 10));
    assert_eq!(count.0.load(Ordering::SeqCst), 1);
    assert_eq!(replies.expire(seconds(11), true), None);
    assert_eq!(count.0.load(Ordering::SeqCst), 2);
    let end = |ticket| replies.wait_until(Some(now), ticket, &FOR_EVER, &mut ReplyBuffer::default());
    assert!(matches!(end(sooner), Ok(Outcome::UnsentInTime)));
    assert!(matches!(end(soon), Ok(Outcome::TimedOut)));
    let (Err(never), Err(sleeper)) = (end(never), end(sleeper)) else {
        panic!("they have no timeouts")
    };
    // The two that were late, the two that are given up, and not one more.
    assert!([never, sleeper].iter().all(|ticket| replies.abandon(ticket)));
    let late = (0..5).map(|id| deliver(&replies, id, 1));
    assert_eq!(late.filter(|delivered| *delivered == ReplyMatch::Late).count(), 4);
    assert!(replies.end_if_idle(), "all slots are free");
    assert_eq!(Arc::strong_count(&count), 2, "the table has no waker left");
}

/// The last waker of the slot is woken once, by any end of the call.
#[test]
fn tasks_are_woken_by_replies_and_ends() {
    let replies = ReplyTable::new(4, Parity::Any);
    let ((before, first), (after, second)) = (waker(), waker());
    let tickets = [(); 2].map(|()| enter(&replies, &mut ReplyBuffer::default()));
    for waker in [&first, &second] {
        let watch = |ticket| replies.wake_when_ended(ticket, waker, CallDeadlines::default());
        tickets.iter().for_each(watch);
    }
    let given_up = enter(&replies, &mut ReplyBuffer::default());
    replies.wake_when_ended(&given_up, &first, CallDeadlines::default());
    assert!(replies.abandon(&given_up));
    let [answered, ended] = tickets;
    assert!(matches!(
        deliver(&replies, answered.request_id, 1),
        ReplyMatch::Request(_)
    ));
    assert_eq!(after.0.load(Ordering::SeqCst), 1);
    replies.end(CallEnd::Lost);
    assert_eq!(after.0.load(Ordering::SeqCst), 2);
    assert_eq!(before.0.load(Ordering::SeqCst), 0);
    let reply_buffer = &mut ReplyBuffer::default();
    assert!(matches!(
        replies.wait(answered, &FOR_EVER, reply_buffer),
        Outcome::Received(_)
    ));
    assert_eq!(reply_buffer.message[0], 1);
    assert!(matches!(
        replies.wait(ended, &FOR_EVER, reply_buffer),
        Outcome::Ended(CallEnd::Lost)
    ));
}
