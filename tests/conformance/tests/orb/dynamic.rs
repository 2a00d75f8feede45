//! Dynamic calls and servants over connections: what is on the wire, and what the ORB makes of servants that
//! it does not know.

use std::sync::atomic::{AtomicUsize, Ordering};

use punctual::{
    Completion, Interface, Minor, ObjectRef, Orb, SystemExceptionKind as Kind,
    any::{Any, Kind as TypeKind, TypeCode, Value},
    dynamic::{DynamicServant, ParameterMode, RequestError, Upcall},
};
use punctual_fixtures::{
    conformance::{Colour, ProbeRef, Refused},
    eventually,
    peer::{Listener, Peer},
    recorder::resolve,
    server::{Profile, Server, UNLUCKY, client, reference},
    wire::{DIALECTS, Octets},
};

/// A client that can wait for several replies.
fn asynchronous_client() -> Orb {
    let client = client();
    let pool = client.threadpool().build().unwrap();
    client.set_reply_threadpool(&pool).unwrap();
    client
}

fn of(kind: TypeKind) -> TypeCode {
    TypeCode::basic(kind)
}

fn longs() -> TypeCode {
    TypeCode::sequence(of(TypeKind::Long), 0)
}

#[test]
fn dynamic_calls_reach_servants_over_connections() {
    let (server, client) = (Server::start(), asynchronous_client());
    let object = server.reference_for(&client).as_object().clone();
    let twice = |value: i32| {
        let request = object
            .request("twice")
            .argument("value", Any::new(&value).unwrap());
        request.returns(of(TypeKind::Long))
    };
    assert_eq!(twice(21).invoke().unwrap().result().get::<i32>().unwrap(), 42);
    // Several at once.
    let calls: Vec<_> = (0..3).map(|value| twice(value).invoke_deferred()).collect();
    for (value, call) in (0..).zip(calls) {
        assert_eq!(call.wait().unwrap().result().get::<i32>().unwrap(), 2 * value);
    }
    let values = Any::new(&(0..50_000).collect::<Vec<i32>>()).unwrap();
    let reversed = object
        .request("reverse")
        .argument("values", values)
        .returns(longs())
        .invoke();
    let reversed: Vec<i32> = reversed.unwrap().result().get().unwrap();
    assert!(reversed.into_iter().rev().eq(0..50_000));

    object
        .request("note")
        .argument("value", Any::new(&5).unwrap())
        .invoke_oneway()
        .unwrap();
    let noted = object.request("noted").returns(of(TypeKind::Long));
    eventually("the note", || {
        noted.invoke().unwrap().result().get::<i32>().unwrap() == 5
    });

    let colour = TypeCode::enumeration("IDL:conformance/Colour:1.0", "Colour", ["red", "green", "blue"]);
    let red = Any::from_value(colour.clone(), &Value::Enum(0, "red".into())).unwrap();
    let next = object
        .request("next")
        .argument("from", red)
        .returns(colour)
        .invoke()
        .unwrap();
    assert_eq!(next.result().value().unwrap(), Value::Enum(1, "green".into()));
    assert_eq!(next.result().get::<Colour>().unwrap(), Colour::Green);
}

#[test]
fn exceptions_come_over_connections() {
    let (server, client) = (Server::start(), asynchronous_client());
    let object = server.reference_for(&client).as_object().clone();
    let refused = TypeCode::exception(
        "IDL:conformance/Refused:1.0",
        "Refused",
        [("reason", TypeCode::string(0))],
    );
    let greet = object.request("greet").argument("name", Any::new("").unwrap());
    let greet = greet.returns(TypeCode::string(0)).raises(refused);
    for result in [greet.invoke(), greet.invoke_deferred().wait()] {
        let Err(RequestError::User(exception)) = result else {
            panic!("{result:?}")
        };
        assert_eq!(exception.get::<Refused>().unwrap().reason, "no name");
    }
    let system = |request: punctual::dynamic::Request| match request.invoke() {
        Err(RequestError::System(exception)) => exception,
        other => panic!("{other:?}"),
    };
    let unknown = system(object.request("thrice"));
    assert_eq!(
        (unknown.kind, unknown.minor),
        (Kind::BadOperation, Minor::OPERATION_UNKNOWN)
    );
    let unlucky = object
        .request("twice")
        .argument("value", Any::new(&UNLUCKY).unwrap());
    assert_eq!(system(unlucky).minor, Minor::SERVANT_PANICKED);
    // Arguments of another type than the operation's.
    let greet = object.request("greet").argument("name", Any::new(&true).unwrap());
    let exception = system(greet.returns(TypeCode::string(0)));
    assert_eq!(
        (exception.kind, exception.completed),
        (Kind::Marshal, Completion::No)
    );
    // A result of another type than the operation's.
    let twice = object.request("twice").argument("value", Any::new(&4).unwrap());
    let exception = system(twice.returns(of(TypeKind::Double)));
    assert_eq!(
        (exception.kind, exception.completed),
        (Kind::Marshal, Completion::Yes)
    );
}

#[test]
fn the_context_follows_the_arguments() {
    let (client, listener) = (client(), Listener::open());
    let probe: ProbeRef = resolve(&client, &reference([1, 2], listener.port, b"played", &[]));
    let object = probe.as_object().clone();
    let call = object
        .request("log")
        .argument("value", Any::new(&7_i16).unwrap())
        .context([("USER", "eva"), ("HOST", "")]);
    let played = std::thread::spawn(move || {
        let mut peer = listener.accept();
        let message = peer.receive().expect("a request");
        let mut request = message.request();
        assert_eq!(
            (request.operation, request.body.u16(), request.body.u32()),
            (&b"log"[..], 7, 4)
        );
        let texts: Vec<_> = (0..4).map(|_| request.body.string().to_vec()).collect();
        assert_eq!(texts, [&b"USER"[..], b"eva", b"HOST", b""]);
        assert_eq!(request.body.rest(), b"");
        peer.send(&message.dialect.reply(request.id, 0, |body| body));
        peer
    });
    call.invoke().unwrap();
    played.join().unwrap();
}

#[test]
fn replies_are_read_in_every_byte_order() {
    let client = client();
    let members = [("code", of(TypeKind::Octet)), ("depth", of(TypeKind::Long))];
    let sample = TypeCode::structure("IDL:Sample:1.0", "Sample", members.clone());
    let failed = TypeCode::exception("IDL:Failed:1.0", "Failed", members);
    let value = Value::Struct(vec![
        ("code".into(), 7_u8.into()),
        ("depth".into(), (-300_000).into()),
    ]);
    for dialect in DIALECTS.into_iter().filter(|dialect| dialect.minor == 2) {
        let listener = Listener::open();
        let probe: ProbeRef = resolve(&client, &reference([1, 2], listener.port, b"played", &[]));
        let played = std::thread::spawn(move || {
            let mut peer = listener.accept();
            for status in [0, 1, 0] {
                let id = peer.receive().expect("a request").request().id;
                peer.send(&dialect.reply(id, status, |body| {
                    let body = if status == 1 {
                        body.string(b"IDL:Failed:1.0")
                    } else {
                        body
                    };
                    body.u8(7).i32(-300_000).u16(9)
                }));
            }
            peer
        });
        let measure = || probe.as_object().request("measure").raises(failed.clone());
        let good = measure()
            .returns(sample.clone())
            .out_argument("next", of(TypeKind::UShort));
        let reply = good.invoke().unwrap();
        assert_eq!(reply.result().value().unwrap(), value, "{dialect:?}");
        assert_eq!(reply.output("next").unwrap().get::<u16>().unwrap(), 9);
        let Err(RequestError::User(exception)) = measure().invoke() else {
            panic!("an exception")
        };
        assert_eq!(exception.value().unwrap(), value, "{dialect:?}");
        // More than the reply has.
        let long = TypeCode::array(of(TypeKind::Double), u32::MAX);
        let Err(RequestError::System(exception)) = measure().returns(long).invoke() else {
            panic!("a system exception")
        };
        assert_eq!(
            (exception.kind, exception.completed),
            (Kind::Marshal, Completion::Yes)
        );
        played.join().unwrap();
    }
}

/// Adds up, regardless of the declared types.
#[derive(Default)]
struct Adder {
    calls: AtomicUsize,
}

impl DynamicServant for Adder {
    fn repository_id(&self) -> String {
        "IDL:Adder:1.0".into()
    }

    fn supports(&self, repository_id: &str) -> bool {
        assert_ne!(repository_id, "IDL:Unlucky:1.0", "a panic");
        repository_id == "IDL:Base:1.0"
    }

    fn invoke(&self, request: &mut Upcall<'_, '_>) -> Result<Vec<Any>, RequestError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        match request.operation() {
            "sum" => {
                let values: Vec<i32> = request.argument_of(&longs())?.get()?;
                Ok(vec![Any::new(&values.iter().sum::<i32>())?])
            }
            "_get_calls" => Ok(vec![Any::new(&(self.calls.load(Ordering::SeqCst) as i32))?]),
            "anything" => {
                let lent = request.argument_of(&of(TypeKind::Any))?;
                Ok(vec![Any::new(&lent.type_code().to_string())?])
            }
            "fail" => {
                let members = [("code", of(TypeKind::Short))];
                let failed = TypeCode::exception("IDL:Failed:1.0", "Failed", members);
                let value = Value::Struct(vec![("code".into(), 9_i16.into())]);
                Err(RequestError::User(Any::from_value(failed, &value)?))
            }
            "panic" => panic!("as asked"),
            _ => Err(request.unknown_operation().into()),
        }
    }
}

fn adder(server: &Server) -> ObjectRef {
    server.poa.activate(Adder::default()).unwrap()
}

#[test]
fn dynamic_servants_answer_in_every_version_and_byte_order() {
    let server = Server::start();
    let object = adder(&server);
    assert_eq!(object.ior().type_id, "IDL:Adder:1.0");
    let key = Profile::of(&object).key;
    for dialect in DIALECTS {
        let mut peer = Peer::connect(server.port());
        let mut ask = |operation: &str, body: &[i32]| {
            peer.send(&dialect.request(1, &key, operation, |octets| {
                body.iter().fold(octets, |octets, number| octets.i32(*number))
            }));
            peer.receive().expect("a reply")
        };
        let sum = ask("sum", &[3, 10, -4, 100_000]);
        let mut sum = sum.reply();
        assert_eq!((sum.status, sum.body.i32()), (0, 100_006), "{dialect:?}");
        let failed = ask("fail", &[]);
        let mut failed = failed.reply();
        assert_eq!((failed.status, failed.body.string()), (1, &b"IDL:Failed:1.0"[..]));
        assert_eq!(failed.body.u16(), 9);
        // A length that the message does not have, and one that is too short.
        for body in [&[1_000_000, 1][..], &[4, 1, 2]] {
            let refused = ask("sum", body);
            let mut refused = refused.reply();
            assert_eq!(
                (refused.status, refused.body.string()),
                (2, &b"IDL:omg.org/CORBA/MARSHAL:1.0"[..])
            );
        }
        // A type code that refers to itself, and one of an array of 2³² arrays of nothing.
        for body in [&[-1, -4][..], &[20, 4, 0, 0]] {
            let refused = ask("anything", body);
            assert_eq!(refused.reply().status, 2, "{body:?}");
        }
        assert_eq!(ask("sum", &[1, 5]).reply().body.i32(), 5, "the connection stays");
    }
}

#[test]
fn the_orb_answers_for_dynamic_servants_as_for_others() {
    let (server, client) = (Server::start(), client());
    let object = client.resolve_object(&adder(&server).to_ior()).unwrap();
    for (id, answer) in [
        ("IDL:Base:1.0", true),
        ("IDL:Other:1.0", false),
        ("IDL:Adder:1.0", true),
    ] {
        let request = object.request("_is_a").argument("id", Any::new(id).unwrap());
        let reply = request.returns(of(TypeKind::Boolean)).invoke().unwrap();
        assert_eq!(reply.result().get::<bool>().unwrap(), answer, "{id}");
    }
    assert_eq!(
        object.is_a("IDL:Unlucky:1.0").unwrap_err().minor,
        Minor::SERVANT_PANICKED
    );
    assert!(!object.non_existent().unwrap());
    let RequestError::System(none) = object.request("_interface").invoke().unwrap_err() else {
        panic!("a system exception")
    };
    assert_eq!(none.kind, Kind::IntfRepos);
    let RequestError::System(panicked) = object.request("panic").invoke().unwrap_err() else {
        panic!("a system exception")
    };
    assert_eq!(panicked.minor, Minor::SERVANT_PANICKED);
    let calls = object
        .request("_get_calls")
        .returns(of(TypeKind::Long))
        .invoke()
        .unwrap();
    assert_eq!(
        calls.result().get::<i32>().unwrap(),
        2,
        "what the ORB answers is no call"
    );
    server.poa.deactivate(&object).unwrap();
    assert!(object.non_existent().unwrap());
}

#[test]
fn dynamic_servants_are_activated_like_others() {
    let orb = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .lock_memory(false)
        .build()
        .unwrap();
    let poa = orb.root_poa().child("named").user_ids().build().unwrap();
    let object: ObjectRef = poa.object(Adder::default()).id("adder").activate().unwrap();
    let sum = object
        .request("sum")
        .argument("values", Any::new(&vec![1, 2]).unwrap());
    // On this thread, without a connection.
    let reply = sum.returns(of(TypeKind::Long)).invoke().unwrap();
    assert_eq!(reply.result().get::<i32>().unwrap(), 3);
    assert!(orb.publish("Adder", &object).unwrap().ends_with("/Adder"));
    orb.shutdown_and_wait().unwrap();
}

/// Name, repository id, definer and version.
fn named(octets: Octets, name: &str) -> Octets {
    let texts = [name, "IDL:x:1.0", "", "1.0"];
    texts
        .iter()
        .fold(octets, |octets, text| octets.string(text.as_bytes()))
}

/// A `FullInterfaceDescription` by hand: `long twice(inout long value)` and `readonly attribute string name`.
fn description(octets: Octets) -> Octets {
    let octets = named(named(octets, "Probe").u32(1), "twice").u32(3).u32(0).u32(0);
    let octets = octets
        .u32(1)
        .string(b"value")
        .u32(3)
        .string(b"")
        .u32(0)
        .u32(2)
        .u32(0);
    named(octets.u32(1), "name")
        .u32(18)
        .u32(0)
        .u32(1)
        .u32(1)
        .string(b"IDL:Base:1.0")
}

/// An `ExtFullInterfaceDescription` by hand: the attribute raises an exception when it is read.
fn extended_description(octets: Octets) -> Octets {
    let octets = named(named(octets, "Probe").u32(0).u32(1), "name");
    let octets = named(octets.u32(18).u32(0).u32(1).u32(1), "Unreadable");
    octets.u32(3).u32(0).u32(0).u32(0)
}

/// Reply of a repository that is older than these descriptions.
fn bad_operation(octets: Octets) -> Octets {
    octets
        .string(b"IDL:omg.org/CORBA/BAD_OPERATION:1.0")
        .u32(0)
        .u32(1)
}

#[test]
fn descriptions_of_interface_repositories_are_read_in_every_byte_order() {
    // What follows the description, and whether it is one.
    type Body = fn(Octets) -> Octets;
    let bodies: [(Body, bool); 5] = [
        (description, true),
        // A type code, and what older versions have behind it.
        (|octets| description(octets).u32(0).u8(1), true),
        // More operations, and more parameters, than octets.
        (|octets| named(octets, "Probe").u32(0x0100_0000), false),
        (
            |octets| {
                named(named(octets, "Probe").u32(1), "twice")
                    .u32(3)
                    .u32(0)
                    .u32(0)
                    .u32(u32::MAX)
            },
            false,
        ),
        // A mode that does not exist.
        (
            |octets| {
                named(named(octets, "Probe").u32(1), "twice")
                    .u32(3)
                    .u32(2)
                    .u32(0)
                    .u32(0)
            },
            false,
        ),
    ];
    let client = client();
    for dialect in DIALECTS.into_iter().filter(|dialect| dialect.minor == 2) {
        for (number, (body, is_good)) in bodies.into_iter().enumerate() {
            let listener = Listener::open();
            let probe: ProbeRef = resolve(&client, &reference([1, 2], listener.port, b"played", &[]));
            let played = std::thread::spawn(move || {
                let mut peer = listener.accept();
                let message = peer.receive().expect("a request");
                let request = message.request();
                assert_eq!(request.operation, b"describe_interface");
                peer.send(&dialect.reply(request.id, 0, body));
                if is_good {
                    let message = peer.receive().expect("a second request");
                    let request = message.request();
                    assert_eq!(request.operation, b"describe_ext_interface");
                    peer.send(&match number {
                        0 => dialect.reply(request.id, 0, extended_description),
                        _ => dialect.reply(request.id, 2, bad_operation),
                    });
                }
                peer
            });
            let described = probe.as_object().describe_interface();
            played.join().unwrap();
            let described = match described {
                Ok(described) => described,
                Err(exception) => {
                    assert!(!is_good, "{number}: {exception}");
                    assert_eq!(
                        (exception.kind, exception.completed),
                        (Kind::Marshal, Completion::Yes)
                    );
                    continue;
                }
            };
            assert!(is_good, "{number}");
            assert_eq!(
                (&described.name[..], &described.bases[..]),
                ("Probe", &["IDL:Base:1.0".to_owned()][..])
            );
            let [twice] = &described.operations[..] else {
                panic!("{described:?}")
            };
            assert_eq!((&twice.name[..], twice.is_oneway), ("twice", false));
            assert_eq!(twice.returns.kind(), Ok(TypeKind::Long));
            assert_eq!(twice.parameters[0].mode, ParameterMode::InOut);
            assert_eq!(described.attributes[0].of.kind(), Ok(TypeKind::String));
            assert!(described.attributes[0].is_readonly);
            let raised = described.attributes[0].get_raises.iter();
            let raised: Vec<_> = raised.map(|exception| exception.kind().unwrap()).collect();
            assert_eq!(raised, [TypeKind::Long][..usize::from(number == 0)]);
            assert_eq!(described.attributes[0].set_raises.len(), 0);
        }
    }
}

#[test]
fn servers_without_an_interface_repository_say_so() {
    let (server, client) = (Server::start(), client());
    let object = server.reference_for(&client);
    assert_eq!(object.as_object().interface().unwrap(), None);
}
