//! Values that each refer to the one before: a chain as long as the message, whose release would recurse.

use std::thread;

use punctual::{
    Completion, Minor, SystemException, SystemExceptionKind,
    any::{AnyError, AnyView, Kind, TypeCode, Value, ValueModifier},
    ior_to_string,
};
use punctual_cdr::{Encode, Encoder, Endian};
use punctual_fixtures::{
    attacks::{Forge, ForgeRef, Link},
    peer::{Listener, Peer},
    server::{self, Profile, Server, client},
    wire::{COMMON, Octets},
};
use punctual_stub::rt::Shared;

/// 4.8 MB; a chain of 40,000 exhausted a stack of 2 MiB.
const LINKS: u32 = 300_000;

const ID: &str = "IDL:attacks/Link:1.0";

struct Smith;

type Links = Vec<Option<Shared<Link>>>;

impl Forge for Smith {
    fn count(&self, all: &[Option<Shared<Link>>]) -> Result<u32, SystemException> {
        Ok(all.len() as u32)
    }

    fn made(&self) -> Result<Links, SystemException> {
        Ok(Links::new())
    }

    fn components(&self, value: AnyView<'_>) -> Result<u32, SystemException> {
        match value.value() {
            Ok(Value::Sequence(elements)) => Ok(elements.len() as u32),
            Ok(_) => Ok(0),
            Err(AnyError::Malformed(error)) => Err(error.system_exception(Completion::No)),
            Err(error) => panic!("{error}"),
        }
    }
}

/// A sequence of links: the first one has no other, each one after it refers to the one before.
fn links(octets: Octets, count: u32) -> Octets {
    let first = octets.u32(count).u32(0x7fff_ff00).u32(0).u32(0);
    (1..count).fold(first, |octets, id| {
        let back = if id == 1 { -24 } else { -28 };
        octets.u32(0x7fff_ff00).u32(id).u32(u32::MAX).i32(back)
    })
}

/// An `any` with a sequence of links.
fn any(octets: Octets, count: u32) -> Octets {
    let members = [
        ("id", TypeCode::basic(Kind::Long), true),
        ("next", TypeCode::recursive(ID), true),
    ];
    let link = TypeCode::value(ID, "Link", ValueModifier::None, None, members);
    let mut code = Vec::new();
    let encoded = TypeCode::sequence(link, 0).encode(&mut Encoder::new(&mut code, Endian::Little));
    encoded.expect("a type code");
    links(octets.raw(&code).align(4), count)
}

#[test]
fn a_chain_in_a_request_is_refused_and_the_server_goes_on() {
    let server = Server::start();
    let forge: ForgeRef = server.poa.activate(Smith).unwrap();
    let key = Profile::of(&forge).key;
    let mut peer = Peer::connect(server.port());
    let mut exception = |operation, arguments: fn(Octets, u32) -> Octets, count| {
        peer.send(&COMMON.request(1, &key, operation, |body| arguments(body, count)));
        let answer = peer.receive().expect("a reply");
        let reply = answer.reply();
        let mut body = reply.body;
        (reply.status == 2).then(|| (body.string().to_vec(), body.u32()))
    };
    let too_deep = (
        b"IDL:omg.org/CORBA/IMP_LIMIT:1.0".to_vec(),
        Minor::NESTING_TOO_DEEP.0,
    );
    let attacks = [
        ("count", links as fn(Octets, u32) -> Octets, LINKS),
        // An `any` with more of them takes too much work.
        ("components", any, LINKS / 3),
    ];
    for (operation, arguments, count) in attacks {
        assert_eq!(exception(operation, arguments, count).as_ref(), Some(&too_deep));
        assert_eq!(exception(operation, arguments, 60), None);
    }
}

#[test]
fn a_chain_in_a_reply_is_an_exception_for_its_caller() {
    let listener = Listener::open();
    let mut reference = server::reference([1, 2], listener.port, b"forge", &[]);
    reference.type_id = String::from("IDL:attacks/Forge:1.0");
    let replies = thread::spawn(move || {
        let mut peer = listener.accept();
        for count in [LINKS, 60] {
            let request = peer.receive().expect("a request");
            peer.send(&COMMON.reply(request.request().id, 0, |body| links(body, count)));
        }
        peer
    });
    let client = client();
    let forge: ForgeRef = client.resolve(&ior_to_string(&reference)).unwrap();
    let refused = forge.made().unwrap_err();
    assert_eq!(
        (refused.kind, refused.minor),
        (SystemExceptionKind::ImpLimit, Minor::NESTING_TOO_DEEP)
    );
    assert_eq!(forge.made().unwrap().len(), 60);
    drop(replies.join().unwrap());
}
