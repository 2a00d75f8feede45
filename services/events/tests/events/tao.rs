//! A session of TAO's clients, replayed: a consumer and a supplier of its Simple example use a channel, which
//! answers and delivers as TAO's did, but for addresses, object keys and times.

use std::{
    sync::mpsc::{self, Receiver, Sender},
    thread,
};

use punctual::{Interface, Priority};
use punctual_events::{ChannelLimits, ConsumerTolerance, EventChannel};
use punctual_fixtures::{
    LONG,
    peer::{Listener, Peer},
    server::Profile,
    wire::{COMMON, Message, Octets, Reader},
};

use crate::{deadlines::MS, remote, wire::octets};

#[test]
fn clients_of_tao_get_the_answers_and_events_of_a_channel_of_tao() {
    let tolerance = ConsumerTolerance {
        ping: MS,
        ..ConsumerTolerance::default()
    };
    let limits = ChannelLimits {
        tolerance,
        ..ChannelLimits::default()
    };
    let channel = EventChannel::builder().lane(Priority::MIN, 1).limits(limits);
    let channel = channel.build().unwrap();
    let server = remote::client();
    let served = channel.serve(&server.orb, &server.poa).unwrap();
    let address = Profile::of(served.reference().as_object());
    let (port, consumer) = Consumer::listen();

    let mut client = Client(Peer::connect(address.port));
    let admin = client.obtain(FOR_CONSUMERS, &address.key, CONSUMER_ADMIN);
    let proxy = client.obtain(OBTAIN_PUSH_SUPPLIER, &admin, PROXY_PUSH_SUPPLIER);
    client.send(CONNECT_PUSH_CONSUMER, &proxy, port);
    assert_eq!(client.0.receive().unwrap().octets, octets(CONNECTED));

    let mut client = Client(Peer::connect(address.port));
    let admin = client.obtain(FOR_SUPPLIERS, &address.key, SUPPLIER_ADMIN);
    let proxy = client.obtain(OBTAIN_PUSH_CONSUMER, &admin, PROXY_PUSH_CONSUMER);
    client.send(CONNECT_PUSH_SUPPLIER, &proxy, port);
    assert_eq!(client.0.receive().unwrap().octets, octets(CONNECTED));
    for _ in 0..4 {
        client.send(PUSH, &proxy, port);
        let pushed = consumer.pushed.recv_timeout(LONG).unwrap();
        assert_eq!(without_times(pushed), without_times(body(PUSHED)));
    }
    consumer.asked.recv_timeout(LONG).expect("the channel asks");
    let seen = channel.statistics();
    assert_eq!(
        (seen.received, seen.suppliers.len(), seen.consumers.len()),
        (4, 1, 1)
    );
    assert_eq!(
        (seen.suppliers[0].is_connected, seen.suppliers[0].pushed),
        (true, 4)
    );
}

/// Sends what a client of TAO did, to the objects of this channel.
struct Client(Peer);

impl Client {
    fn send(&mut self, recorded: &str, key: &[u8], port: u16) {
        let recorded = received(recorded);
        let request = recorded.request();
        let mut arguments = request.body.rest().to_vec();
        // The address in the reference of the client's own object.
        let host = b"127.0.0.1\0";
        if let Some(at) = arguments.windows(host.len()).position(|octets| octets == host) {
            arguments[at + host.len()..][..2].copy_from_slice(&port.to_le_bytes());
        }
        let operation = str::from_utf8(request.operation).unwrap();
        let (id, response, contexts) = (request.id, request.response, &request.contexts);
        let written = |body: Octets| body.raw(&arguments);
        let message = COMMON.request_with(id, response, key, operation, contexts, written);
        self.0.send(&message);
    }

    /// Calls an operation that returns a reference; returns its object key.
    fn obtain(&mut self, recorded: &str, key: &[u8], answer: &str) -> Vec<u8> {
        self.send(recorded, key, 0);
        let (own, other) = (self.0.receive().unwrap(), received(answer));
        let (own, other) = (own.reply(), other.reply());
        assert_eq!(
            (own.id, own.status, &own.contexts),
            (other.id, other.status, &other.contexts)
        );
        let (type_id, key) = reference(own.body);
        let (expected, _) = reference(other.body);
        if type_id != expected {
            // An interface of our own that is derived from it: TAO's clients ask before they narrow.
            let asks = COMMON.request(9, &key, "_is_a", |body| body.string(&expected));
            self.0.send(&asks);
            let reply = self.0.receive().unwrap();
            assert_eq!(
                reply.reply().body.rest(),
                [1],
                "{}",
                String::from_utf8_lossy(&type_id)
            );
        }
        key
    }
}

/// Type id and object key of a reference with one IIOP profile.
fn reference(mut body: Reader<'_>) -> (Vec<u8>, Vec<u8>) {
    let type_id = body.string().to_vec();
    let [(0, profile)] = &body.contexts()[..] else {
        panic!("one IIOP profile");
    };
    let mut profile = Reader::encapsulation(profile);
    assert_eq!(profile.raw(2), [1, 2]);
    let (_host, _port) = (profile.string(), profile.u16());
    (type_id, profile.sequence().to_vec())
}

/// The consumer of TAO's client: arguments of `push`, and questions whether it exists.
struct Consumer {
    pushed: Receiver<Vec<u8>>,
    asked: Receiver<()>,
}

impl Consumer {
    /// Its port. The channel may open several connections.
    fn listen() -> (u16, Self) {
        let listener = Listener::open();
        let port = listener.port;
        let ((push, pushed), (ask, asked)) = (mpsc::channel(), mpsc::channel());
        thread::spawn(move || {
            loop {
                let (peer, push, ask) = (listener.accept(), push.clone(), ask.clone());
                thread::spawn(move || Self::serve(peer, &push, &ask));
            }
        });
        (port, Self { pushed, asked })
    }

    fn serve(mut peer: Peer, push: &Sender<Vec<u8>>, ask: &Sender<()>) {
        let recorded = [PUSHED, NON_EXISTENT].map(received);
        let [pushes, asks] = recorded.each_ref().map(Message::request);
        while let Some(message) = peer.receive() {
            let request = message.request();
            let recorded = if request.operation == b"push" {
                &pushes
            } else {
                &asks
            };
            assert_eq!(
                (message.dialect, request.response, request.key, request.operation),
                (COMMON, recorded.response, recorded.key, recorded.operation)
            );
            if request.operation == b"push" {
                push.send(request.body.rest().to_vec()).unwrap();
                continue;
            }
            let mut exists = octets(EXISTS);
            exists[12..16].copy_from_slice(&request.id.to_le_bytes());
            peer.send(&exists);
            let _ = ask.send(());
        }
    }
}

fn received(recorded: &str) -> Message {
    let octets = octets(recorded);
    Message {
        dialect: COMMON,
        message_type: octets[7],
        octets,
    }
}

fn body(request: &str) -> Vec<u8> {
    received(request).request().body.rest().to_vec()
}

/// The arguments of `push` with one event, without when the channel received and sent it.
fn without_times(mut push: Vec<u8>) -> Vec<u8> {
    push[24..40].fill(0);
    push
}

const FOR_CONSUMERS: &str = "
    47494f5001020100580000000100000003000000000000001b00000014010f005253542d0d016bd87904000000000001
    00000001000000000e000000666f725f636f6e73756d65727300000001000000010000000c0000000194bf5801000100
    09010100
";

const CONSUMER_ADMIN: &str = "
    47494f5001020101b00000000100000000000000000000002c00000049444c3a527465634576656e744368616e6e656c
    41646d696e2f436f6e73756d657241646d696e3a312e3000010000000000000068000000010102000a0000003132372e
    302e302e3100225b1b00000014010f005253542d0d016bd8790400010000000100000002000000000200000000000000
    08000000011e205e004f41540100000018000000011e205e0100010001000000010001050901010000000000
";

const OBTAIN_PUSH_SUPPLIER: &str = "
    47494f50010201004c0000000200000003000000000000001b00000014010f005253542d0d016bd87904000100000001
    0000000200000000150000006f627461696e5f707573685f737570706c6965720000000000000000
";

const PROXY_PUSH_SUPPLIER: &str = "
    47494f5001020101b40000000200000000000000000000003000000049444c3a527465634576656e744368616e6e656c
    41646d696e2f50726f787950757368537570706c6965723a312e3000010000000000000068000000010102000a000000
    3132372e302e302e3100225b1b00000014010f005253542d0d016bd87904000200000001000000030000000002000000
    0000000008000000011e205e004f41540100000018000000011e205e0100010001000000010001050901010000000000
";

const CONNECT_PUSH_CONSUMER: &str = "
    47494f50010201005d0100000300000003000000000000001b00000014010f005253542d0d016bd87904000200000001
    000000030000000016000000636f6e6e6563745f707573685f636f6e73756d6572000000000000002300000049444c3a
    527465634576656e74436f6d6d2f50757368436f6e73756d65723a312e30000001000000000000006800000001010200
    0a0000003132372e302e302e3100235b1b00000014010f005253542d0d016b1039080000000000010000000100000000
    0200000000000000080000000194bf58004f415401000000180000000194bf5801000100010000000100010509010100
    000000000200000009000000000000000000000000000000000000000000000000000000000000000000000000000000
    000000000000000000000000000000001000000000000000000000000000000000000000000000000000000000000000
    00000000000000000000000000000000000000000000000000
";

const CONNECTED: &str = "
    47494f50010201010c000000030000000000000000000000
";

const NON_EXISTENT: &str = "
    47494f5001020100440000000200000003000000000000001b00000014010f005253542d0d016b103908000000000001
    00000001000000000e0000005f6e6f6e5f6578697374656e7400000000000000
";

const EXISTS: &str = "
    47494f50010201010d00000002000000000000000000000000
";

const FOR_SUPPLIERS: &str = "
    47494f5001020100580000000100000003000000000000001b00000014010f005253542d0d016bd87904000000000001
    00000001000000000e000000666f725f737570706c6965727300000001000000010000000c00000001db126401000100
    09010100
";

const SUPPLIER_ADMIN: &str = "
    47494f5001020101b00000000100000000000000000000002c00000049444c3a527465634576656e744368616e6e656c
    41646d696e2f537570706c69657241646d696e3a312e3000010000000000000068000000010102000a0000003132372e
    302e302e3100225b1b00000014010f005253542d0d016bd8790400030000000100000004000000000200000000000000
    08000000011e205e004f41540100000018000000011e205e0100010001000000010001050901010000000000
";

const OBTAIN_PUSH_CONSUMER: &str = "
    47494f50010201004c0000000200000003000000000000001b00000014010f005253542d0d016bd87904000300000001
    0000000400000000150000006f627461696e5f707573685f636f6e73756d65720000000000000000
";

const PROXY_PUSH_CONSUMER: &str = "
    47494f5001020101b40000000200000000000000000000003000000049444c3a527465634576656e744368616e6e656c
    41646d696e2f50726f787950757368436f6e73756d65723a312e3000010000000000000068000000010102000a000000
    3132372e302e302e3100225b1b00000014010f005253542d0d016bd87904000400000001000000050000000002000000
    0000000008000000011e205e004f41540100000018000000011e205e0100010001000000010001050901010000000000
";

const CONNECT_PUSH_SUPPLIER: &str = "
    47494f5001020100350100000300000003000000000000001b00000014010f005253542d0d016bd87904000400000001
    000000050000000016000000636f6e6e6563745f707573685f737570706c696572000000000000002300000049444c3a
    527465634576656e74436f6d6d2f50757368537570706c6965723a312e30000001000000000000006800000001010200
    0a0000003132372e302e302e3100245b1b00000014010f005253542e0d016bf146080000000000010000000100000000
    02000000000000000800000001db1264004f4154010000001800000001db126401000100010000000100010509010100
    000000000100000010000000010000000000000000000000000000000000000000000000000000000000000000000000
    000000000000000000000000000000000000000000000000000000000000000000
";

const PUSH: &str = "
    47494f5001020100700000000400000000000000000000001b00000014010f005253542d0d016bd87904000400000001
    000000050000000005000000707573680063745f00000000010000001000000001000000010000006d65205365727669
    6365205377697463682066756e6374696f6e616c0000000000000000
";

const PUSHED: &str = "
    47494f5001020100700000001600000000000000000000001b00000014010f005253542d0d016b103908000000000001
    000000010000000005000000707573680065786900000000010000001000000001000000010000006d65205365727669
    6365205377697463682066756e6374696f6e616c0000000000000000
";
