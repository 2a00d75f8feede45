//! Calls by hand, and what is expected of the answers.

use punctual::{Completion, Minor, SystemExceptionKind as Kind};
use punctual_fixtures::{
    peer::Peer,
    wire::{COMMON, Dialect, Message, Reader},
};

/// Answer of a server.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Nothing at all.
    Nothing,
    /// A MessageError in GIOP 1.n.
    MessageError(u8),
    /// A Reply with a system exception.
    Exception(Kind, Minor, Completion),
    /// A Reply without an exception and with this body, in the server's byte order.
    Results(Vec<u8>),
    /// A Reply with a user exception.
    Raised(&'static str),
    /// A LocateReply with this status.
    Located(u32),
}

/// A call of `twice`, to see whether a connection is good.
pub fn assert_works(peer: &mut Peer, key: &[u8], dialect: Dialect) {
    peer.send(&dialect.request(77, key, "twice", |body| body.i32(21)));
    let message = peer.receive().expect("the connection is open");
    let reply = message.reply();
    assert_eq!((reply.id, reply.status), (77, 0));
    assert_eq!(
        message.dialect.minor, dialect.minor,
        "a reply has its request's version"
    );
    assert_eq!(reply.body.clone().i32(), 42);
}

/// Like [`assert_works`], in the most common dialect.
pub fn works(peer: &mut Peer, key: &[u8]) {
    assert_works(peer, key, COMMON);
}

/// Reads the answer to the request with this id, unless nothing is expected.
pub fn assert_answered(peer: &mut Peer, id: u32, minor: u8, answer: &Answer) {
    if let Answer::Nothing = answer {
        return;
    }
    let message = peer.receive().expect("an answer");
    match answer {
        Answer::Nothing => {}
        Answer::MessageError(version) => {
            assert_eq!(
                (message.message_type, message.octets.len()),
                (6, 12),
                "{:02x?}",
                message.octets
            );
            assert_eq!(message.dialect.minor, *version);
        }
        Answer::Located(status) => {
            assert_eq!((message.message_type, message.dialect.minor), (4, minor));
            let mut body = message.reader();
            assert_eq!((body.u32(), body.u32()), (id, *status));
        }
        Answer::Exception(kind, minor, completed) => {
            assert_eq!(
                exception(&message, id),
                (kind.repository_id().to_owned(), *minor, *completed)
            );
        }
        Answer::Raised(repository_id) => {
            let reply = message.reply();
            assert_eq!((reply.id, reply.status), (id, 1));
            assert_eq!(reply.body.clone().string(), repository_id.as_bytes());
        }
        Answer::Results(body) => {
            let reply = message.reply();
            assert_eq!((reply.id, reply.status), (id, 0), "{:02x?}", message.octets);
            assert_eq!(reply.body.rest(), body);
        }
    }
}

/// Repository id, minor code and completion of a system exception.
pub fn exception(message: &Message, id: u32) -> (String, Minor, Completion) {
    let reply = message.reply();
    assert_eq!((reply.id, reply.status), (id, 2), "{:02x?}", message.octets);
    let mut body: Reader<'_> = reply.body;
    let repository_id = String::from_utf8(body.string().to_vec()).expect("an id");
    let minor = Minor(body.u32());
    let completed = Completion::from_wire(body.u32()).expect("a completion status");
    assert_eq!(body.rest(), b"");
    (repository_id, minor, completed)
}
