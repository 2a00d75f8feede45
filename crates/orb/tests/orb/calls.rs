//! Calls over the wire and inside one ORB, with a stub written by hand in the shape of generated ones.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::Duration,
};

use punctual_orb::{Limits, Orb, OrbError, PriorityModel, ResolveError};
use punctual_stub::rt::*;
use punctual_stub::{self as stub};
use punctual_types::Priority;

/// Servant of `interface Echo`, with `long twice(in long value)`, `string greet(in string name) raises
/// (Refused)` and `oneway void note(in long value)`.
trait Echo: Send + Sync + 'static {
    fn twice(&self, value: i32) -> Result<i32, SystemException>;
    fn greet(&self, name: &str) -> Result<String, GreetError>;
    fn note(&self, value: i32) -> Result<(), SystemException>;
}

#[derive(Debug, PartialEq)]
struct Refused {
    reason: String,
}

impl Encode for Refused {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        self.reason.encode(encoder)
    }
}

impl UserException for Refused {
    const REPOSITORY_ID: &'static str = "IDL:Refused:1.0";
}

#[derive(Debug, PartialEq)]
enum GreetError {
    Refused(Refused),
    System(SystemException),
}

impl From<SystemException> for GreetError {
    fn from(exception: SystemException) -> Self {
        Self::System(exception)
    }
}

impl OperationError for GreetError {
    fn raise(self, upcall: &mut Upcall<'_, '_>) -> Result<(), SystemException> {
        match self {
            Self::Refused(exception) => upcall.raise(&exception),
            Self::System(exception) => Err(exception),
        }
    }

    fn decode(id: &str, decoder: &mut Decoder<'_>) -> Result<Option<Self>, CdrError> {
        if id != Refused::REPOSITORY_ID {
            return Ok(None);
        }
        Ok(Some(Self::Refused(Refused {
            reason: String::decode(decoder)?,
        })))
    }
}

#[derive(Clone, Debug)]
struct EchoRef(ObjectRef);

impl Interface for EchoRef {
    const REPOSITORY_ID: &'static str = "IDL:Echo:1.0";
    const SUPPORTED_IDS: &'static [&'static str] = &["IDL:Echo:1.0"];

    fn from_object(object: ObjectRef) -> Self {
        Self(object)
    }

    fn as_object(&self) -> &ObjectRef {
        &self.0
    }
}

impl EchoRef {
    fn twice(&self, value: i32) -> Result<i32, SystemException> {
        let mut result = 0;
        self.0.call::<SystemException>("twice", |phase| match phase {
            Phase::Arguments(encoder) => value.encode(encoder),
            Phase::Results(decoder) => result.decode_into(decoder),
        })?;
        Ok(result)
    }

    fn greet(&self, name: &str) -> Result<String, GreetError> {
        let mut result = String::new();
        self.0.call::<GreetError>("greet", |phase| match phase {
            Phase::Arguments(encoder) => name.encode(encoder),
            Phase::Results(decoder) => result.decode_into(decoder),
        })?;
        Ok(result)
    }

    fn note(&self, value: i32) -> Result<(), SystemException> {
        self.0.oneway("note", |phase| match phase {
            Phase::Arguments(encoder) => value.encode(encoder),
            Phase::Results(_) => Ok(()),
        })
    }
}

impl<S: Echo> Skeleton<S> for EchoRef {
    fn dispatch(servant: &S, upcall: &mut Upcall<'_, '_>) -> Result<(), SystemException> {
        match upcall.operation() {
            "twice" => {
                let value = upcall.argument()?;
                let result = servant.twice(value)?;
                upcall.reply(|reply| result.encode(reply))
            }
            "greet" => {
                let name = upcall.argument()?;
                match servant.greet(name) {
                    Ok(result) => upcall.reply(|reply| result.encode(reply)),
                    Err(error) => upcall.fail(error),
                }
            }
            "note" => {
                let value = upcall.argument()?;
                servant.note(value)
            }
            _ => Err(upcall.unknown_operation()),
        }
    }
}

#[derive(Default)]
struct Servant {
    noted: Arc<AtomicU32>,
}

impl Echo for Servant {
    fn twice(&self, value: i32) -> Result<i32, SystemException> {
        assert_ne!(value, 13, "unlucky");
        Ok(value * 2)
    }

    fn greet(&self, name: &str) -> Result<String, GreetError> {
        if name.is_empty() {
            return Err(GreetError::Refused(Refused {
                reason: "no name".into(),
            }));
        }
        Ok(format!("Hello, {name}!"))
    }

    fn note(&self, value: i32) -> Result<(), SystemException> {
        self.noted.store(value as u32, Ordering::SeqCst);
        Ok(())
    }
}

/// Calls everything there is, twice, so that the second round runs on used connections and buffers.
fn exercise(echo: &EchoRef, noted: &AtomicU32) {
    for round in 1..=2 {
        assert_eq!(echo.twice(21).unwrap(), 42);
        assert_eq!(echo.greet("Grüße").unwrap(), "Hello, Grüße!");
        assert_eq!(
            echo.greet("").unwrap_err(),
            GreetError::Refused(Refused {
                reason: "no name".into()
            })
        );
        let panicked = echo.twice(13).unwrap_err();
        assert_eq!(
            (panicked.kind, panicked.minor),
            (SystemExceptionKind::Unknown, Minor::SERVANT_PANICKED)
        );
        echo.note(round).unwrap();
        // A two-way call behind a oneway one: over one connection it arrives later.
        assert_eq!(echo.twice(-1).unwrap(), -2);
        assert_eq!(noted.load(Ordering::SeqCst), round as u32);
        let unknown = echo
            .0
            .call::<SystemException>("nonsense", |_| Ok(()))
            .unwrap_err();
        assert_eq!(unknown.kind, SystemExceptionKind::BadOperation);
        assert!(echo.0.is_a("IDL:Echo:1.0").unwrap());
        assert!(!echo.0.is_a("IDL:Other:1.0").unwrap());
        assert!(!echo.0.non_existent().unwrap());
    }
}

#[test]
fn calls_cross_the_wire() {
    let server = Orb::builder().build().unwrap();
    let pool = server.threadpool().threads(2).build().unwrap();
    let poa = server.root_poa().child("echo").threadpool(&pool).build().unwrap();
    let servant = Servant::default();
    let noted = servant.noted.clone();
    let object: EchoRef = poa.activate(servant).unwrap();

    let client = Orb::builder().build().unwrap();
    let remote: EchoRef = client.resolve(&object.0.to_ior()).unwrap();
    exercise(&remote, &noted);
    let (_, statistics) = pool.statistics()[0];
    assert_eq!(
        statistics.connections.open, 1,
        "a caller's thread has one connection"
    );
    assert!(statistics.requests > 10);
    // Other threads have their own; when they end, the next one goes on with it.
    for _ in 0..3 {
        let remote = remote.clone();
        thread::spawn(move || remote.twice(1).unwrap()).join().unwrap();
    }
    assert_eq!(pool.statistics()[0].1.connections.open, 2);

    poa.deactivate(&object).unwrap();
    assert!(remote.0.non_existent().unwrap());
    assert_eq!(
        remote.twice(1).unwrap_err().kind,
        SystemExceptionKind::ObjectNotExist
    );
    assert!(matches!(poa.deactivate(&object), Err(OrbError::NotActive)));
    server.shutdown_and_wait().unwrap();
    assert!(remote.twice(1).is_err());
}

#[test]
fn calls_inside_one_orb_need_no_connection() {
    let orb = Orb::builder().build().unwrap();
    let pool = orb.threadpool().build().unwrap();
    let poa = orb.root_poa().child("echo").threadpool(&pool).build().unwrap();
    let servant = Servant::default();
    let noted = servant.noted.clone();
    let object: EchoRef = poa.activate(servant).unwrap();
    exercise(&object, &noted);
    let again: EchoRef = orb.resolve(&object.0.to_ior()).unwrap();
    exercise(&again, &noted);
    let (_, lane) = pool.statistics()[0];
    assert_eq!(
        (lane.requests, lane.connections.open, lane.threads.busy),
        (0, 0, 0)
    );
}

#[test]
fn a_corbaloc_client_at_the_highest_priority_runs_in_the_highest_lane() {
    let server = Orb::builder().listen("iiop://127.0.0.1:0").build().unwrap();
    let low = Priority::new(10_922).unwrap();
    let pool = server
        .threadpool()
        .lane(Priority::MAX, 1)
        .lane(low, 1)
        .build()
        .unwrap();
    let model = PriorityModel::ClientPropagated { default: low };
    let poa = server
        .root_poa()
        .child("rt")
        .threadpool(&pool)
        .priority_model(model)
        .build()
        .unwrap();
    let object: EchoRef = poa.activate(Servant::default()).unwrap();
    let url = server.publish("Echo", &object).unwrap();
    let runner = server.clone();
    let run = thread::spawn(move || runner.run());

    let client = Orb::builder().build().unwrap();
    let url_text = url.to_string();
    thread::spawn(move || {
        let echo: EchoRef = client
            .resolve(&url_text)
            .unwrap_or_else(|error| panic!("{error}"));
        let unset = echo.twice(1).unwrap_err();
        assert_eq!(
            (unset.kind, unset.minor),
            (SystemExceptionKind::InvPolicy, Minor::NO_ENDPOINT_FOR_PRIORITY)
        );
        let expected = format!("(this thread has priority 0, the reference offers {low}, 32767)");
        assert!(unset.to_string().ends_with(&expected), "{unset}");
        client.current().set_priority(Priority::MAX).unwrap();
        assert_eq!(echo.twice(1).unwrap(), 2);
        client.current().set_priority(low).unwrap();
        assert_eq!(echo.twice(1).unwrap(), 2);
        assert_eq!(echo.twice(2).unwrap(), 4);
    })
    .join()
    .unwrap();
    let requests: Vec<_> = pool
        .statistics()
        .iter()
        .map(|(lane, seen)| (*lane, seen.requests))
        .collect();
    assert_eq!(requests, [(Some(low), 2), (Some(Priority::MAX), 1)]);
    server.shutdown();
    run.join().unwrap();
}

#[test]
fn exceptions_name_the_address_and_the_key() {
    let server = Orb::builder().listen("iiop://127.0.0.1:0").build().unwrap();
    let pool = server.threadpool().build().unwrap();
    let poa = server.root_poa().child("echo").threadpool(&pool).build().unwrap();
    let object: EchoRef = poa.activate(Servant::default()).unwrap();
    let url = server.publish("Echo", &object).unwrap().to_string();
    let runner = server.clone();
    let run = thread::spawn(move || runner.run());
    let client = Orb::builder().build().unwrap();
    let unknown = client
        .resolve::<EchoRef>(&url.replace("/Echo", "/Ecko"))
        .unwrap_err();
    let echo: EchoRef = client.resolve(&url).unwrap();
    assert_eq!(echo.twice(1), Ok(2));
    server.shutdown_and_wait().unwrap();
    run.join().unwrap();
    let refused = echo.twice(1).unwrap_err();
    assert_eq!(refused.minor, Minor::CONNECT_REFUSED);
    let port = refused
        .to_string()
        .rsplit_once("(at iiop://127.0.0.1:")
        .unwrap()
        .1
        .to_owned();
    let port = port.strip_suffix(" in `twice`)").unwrap();
    assert!(port.parse::<u16>().is_ok(), "{refused}");
    assert!(unknown.to_string().contains("Ecko"), "{unknown}");
}

#[test]
fn resolving_ends_if_nobody_serves() {
    let server = Orb::builder().listen("iiop://127.0.0.1:0").build().unwrap();
    let object: EchoRef = server.root_poa().activate(Servant::default()).unwrap();
    let url = server.publish("Echo", &object).unwrap().to_string();
    let limits = Limits::default().resolve_timeout(Duration::from_millis(50));
    let client = Orb::builder().limits(limits).build().unwrap();
    let refused = client.resolve::<EchoRef>(&url).unwrap_err().to_string();
    for expected in [
        "CORBA::TIMEOUT",
        "(at iiop://127.0.0.1:",
        "ms: the peer accepted the connection and has sent nothing;",
        "has it called `Orb::run`?)",
    ] {
        assert!(refused.contains(expected), "{refused}");
    }
}

/// Its default pool is served by no thread yet.
#[test]
fn an_orb_resolves_its_own_names_before_it_runs() {
    let orb = Orb::builder().listen("iiop://127.0.0.1:0").build().unwrap();
    let object: EchoRef = orb.root_poa().activate(Servant::default()).unwrap();
    let url = orb.publish("Echo", &object).unwrap().to_string();
    let (sender, resolved) = std::sync::mpsc::channel();
    thread::spawn(move || {
        let echo = orb.resolve::<EchoRef>(&url);
        let _ = sender.send(echo.map(|echo| echo.twice(2)));
    });
    let resolved = resolved.recv_timeout(Duration::from_secs(20)).expect("a result");
    assert_eq!(resolved.unwrap(), Ok(4));
}

#[test]
fn what_cannot_be_resolved_is_said_why() {
    let orb = Orb::builder().build().unwrap();
    let refused = orb.resolve::<EchoRef>("corbaloc::127.0.0.1:1/Echo").unwrap_err();
    assert!(
        refused
            .to_string()
            .starts_with("`corbaloc::127.0.0.1:1/Echo`: CORBA::TRANSIENT"),
        "{refused}"
    );
    let ResolveError::Call { exception, .. } = refused else {
        panic!("{refused}")
    };
    assert_eq!(exception.minor, Minor::CONNECT_REFUSED);
    let server = Orb::builder().listen("iiop://127.0.0.1:0").build().unwrap();
    let echo: EchoRef = server.root_poa().activate(Servant::default()).unwrap();
    let url = server.publish("Echo", &echo).unwrap();
    let serves = server.clone();
    let serving = thread::spawn(move || serves.run());
    let unknown = orb.resolve::<EchoRef>(&url.replace("Echo", "Ecko"));
    server.shutdown();
    serving.join().unwrap();
    let unknown = unknown.unwrap_err();
    assert!(unknown.to_string().contains("`Ecko`"), "{unknown}");
    let ResolveError::Call { exception, .. } = unknown else {
        panic!("{unknown}")
    };
    assert_eq!(exception.minor, Minor::NOTHING_PUBLISHED);
    let raw = orb
        .resolve::<EchoRef>("corbaloc:uiop:1.2@/run/server/Echo")
        .unwrap_err();
    assert!(
        raw.to_string()
            .contains("`corbaloc:uiop:1.2@%2frun%2fserver/Key`"),
        "{raw}"
    );
    assert!(matches!(
        orb.resolve::<EchoRef>("Echo"),
        Err(ResolveError::Url(_))
    ));
    assert!(matches!(
        orb.resolve::<EchoRef>("corbaloc:rir:/Echo"),
        Err(ResolveError::UnknownInitialReference(_))
    ));
}

#[test]
fn a_call_ends_at_its_deadline_and_the_late_reply_is_dropped() {
    struct Slow;
    impl Echo for Slow {
        fn twice(&self, value: i32) -> Result<i32, SystemException> {
            if value == 0 {
                thread::sleep(Duration::from_millis(150));
            }
            Ok(value * 2)
        }
        fn greet(&self, _: &str) -> Result<String, GreetError> {
            Ok(String::new())
        }
        fn note(&self, _: i32) -> Result<(), SystemException> {
            Ok(())
        }
    }
    let server = Orb::builder().build().unwrap();
    let pool = server.threadpool().build().unwrap();
    let poa = server.root_poa().child("slow").threadpool(&pool).build().unwrap();
    let object: EchoRef = poa.activate(Slow).unwrap();
    let client = Orb::builder().build().unwrap();
    let echo: EchoRef = client.resolve(&object.0.to_ior()).unwrap();
    for timeout in [5, 60] {
        let hasty = EchoRef(echo.0.with_timeout(Duration::from_millis(timeout)));
        let late = hasty.twice(0).unwrap_err();
        assert_eq!(
            (late.kind, late.completed),
            (SystemExceptionKind::Timeout, Completion::Maybe)
        );
        // The next call on the same connection gets its own reply.
        assert_eq!(echo.twice(4).unwrap(), 8);
    }
    assert_eq!(pool.statistics()[0].1.connections.open, 1);
}

#[test]
fn an_orb_shuts_down_from_inside_an_upcall() {
    struct Ender(Orb);
    impl Echo for Ender {
        fn twice(&self, value: i32) -> Result<i32, SystemException> {
            assert_eq!(
                self.0.shutdown_and_wait().unwrap_err().kind,
                SystemExceptionKind::BadInvOrder
            );
            self.0.shutdown();
            Ok(value * 2)
        }
        fn greet(&self, _: &str) -> Result<String, GreetError> {
            Ok(String::new())
        }
        fn note(&self, _: i32) -> Result<(), SystemException> {
            Ok(())
        }
    }
    let server = Orb::builder().build().unwrap();
    let object: EchoRef = server.root_poa().activate(Ender(server.clone())).unwrap();
    let text = object.0.to_ior();
    let run = thread::spawn(move || server.run());
    let client = Orb::builder().build().unwrap();
    let echo: EchoRef = client.resolve(&text).unwrap();
    assert_eq!(echo.twice(3).unwrap(), 6, "the reply is sent before the end");
    run.join().unwrap();
    assert!(echo.twice(3).is_err());
}

#[test]
fn user_ids_and_persistent_objects_are_found_by_name() {
    let first = Orb::builder().listen("iiop://127.0.0.1:0").build().unwrap();
    let poa = first
        .root_poa()
        .child("store")
        .persistent()
        .user_ids()
        .build()
        .unwrap();
    let object: EchoRef = poa.object(Servant::default()).id("one").activate().unwrap();
    assert!(matches!(
        poa.object(Servant::default()).id("one").activate::<EchoRef>(),
        Err(OrbError::AlreadyActive)
    ));
    assert!(matches!(
        poa.activate::<EchoRef, _>(Servant::default()),
        Err(OrbError::WrongPolicy(_))
    ));
    assert!(matches!(
        first.root_poa().child("store").build(),
        Err(OrbError::AdapterAlreadyExists(_))
    ));
    let runner = first.clone();
    let run = thread::spawn(move || runner.run());
    let client = Orb::builder().build().unwrap();
    let echo: EchoRef = client.resolve(&object.0.to_ior()).unwrap();
    assert_eq!(echo.twice(1).unwrap(), 2);
    first.shutdown();
    run.join().unwrap();
}

/// So that the module path of the stub crate is used as generated code uses it.
#[test]
fn a_servant_can_be_erased() {
    let servant = stub::servant::<EchoRef, _>(Servant::default());
    assert!(servant.is_a("IDL:Echo:1.0") && servant.is_a("IDL:omg.org/CORBA/Object:1.0"));
}
