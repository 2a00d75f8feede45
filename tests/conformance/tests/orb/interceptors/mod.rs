//! Portable interceptors: which points are called, in which order, and what they see and change.

mod contexts;
mod costs;
mod failing;
mod ior;
mod native_priority;
mod points;
mod policies;
mod relaying;
mod reply_contexts;
mod slots;
mod ways_out;

use std::{
    mem,
    sync::{Arc, Mutex},
};

use punctual::{
    Completion, ObjectRef, Orb, OrbBuilder, SystemException, SystemExceptionKind as Kind, interceptors::*,
};
use punctual_fixtures::{conformance::ProbeRef, real_time::ordinary, server::Server};

/// Calls of interceptors, in order.
#[derive(Clone, Default)]
struct Journal(Arc<Mutex<Vec<String>>>);

impl Journal {
    fn note(&self, entry: String) {
        self.0.lock().unwrap().push(entry);
    }

    /// Returns the notes since the last call.
    fn take(&self) -> Vec<String> {
        mem::take(&mut self.0.lock().unwrap())
    }

    /// Panics unless this is what has been noted since the last time.
    #[track_caller]
    fn expect(&self, what: &str, expected: &[&str]) {
        assert_eq!(self.take(), expected, "{what}");
    }
}

/// An interceptor of both sides that notes what it sees, and does once what it is told.
struct Watch {
    name: &'static str,
    journal: Journal,
    plan: Mutex<Option<(&'static str, Act)>>,
}

/// Action of an interceptor at a point.
#[derive(Clone, Debug)]
enum Act {
    Raise(SystemException),
    Forward(ObjectRef),
    Panic,
}

impl Watch {
    fn new(name: &'static str, journal: &Journal) -> Arc<Self> {
        Arc::new(Self {
            name,
            journal: journal.clone(),
            plan: Mutex::new(None),
        })
    }

    fn plan(&self, point: &'static str, act: Act) {
        *self.plan.lock().unwrap() = Some((point, act));
    }

    /// Whether the plan has been carried out.
    fn is_done(&self) -> bool {
        self.plan.lock().unwrap().is_none()
    }

    fn at(&self, point: &'static str, detail: &str) -> Result<(), Interrupt> {
        self.journal.note(format!("{}.{point}{detail}", self.name));
        let act = self
            .plan
            .lock()
            .unwrap()
            .take_if(|(planned, _)| *planned == point);
        match act {
            None => Ok(()),
            Some((_, Act::Raise(exception))) => Err(exception.into()),
            Some((_, Act::Forward(object))) => Err(Interrupt::Forward(object)),
            // Without the message.
            Some((_, Act::Panic)) => std::panic::resume_unwind(Box::new("of a test")),
        }
    }
}

/// Returns the exception, at points that cannot forward.
fn only_exception(interrupt: Interrupt) -> SystemException {
    match interrupt {
        Interrupt::Exception(exception) => exception,
        Interrupt::Forward(_) => unreachable!("no test forwards there"),
    }
}

/// ` NAME` of the exception, or ` STATUS`.
fn detail(status: Option<ReplyStatus>, exception: Option<Raised<'_>>) -> String {
    match exception {
        Some(raised) => {
            let id = raised.repository_id();
            let name = id.rsplit('/').next().unwrap();
            format!(" {}", name.trim_end_matches(":1.0"))
        }
        None => format!(" {:?}", status.expect("it has ended")),
    }
}

impl ClientRequestInterceptor for Watch {
    fn name(&self) -> &str {
        self.name
    }

    fn send_request(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), Interrupt> {
        assert_eq!((info.reply_status(), info.exception()), (None, None));
        self.at("send_request", &format!(" {}", info.operation()))
    }

    fn send_poll(&self, _: &mut ClientRequestInfo<'_>) -> Result<(), Interrupt> {
        self.at("send_poll", "")
    }

    fn receive_reply(&self, info: &ClientRequestInfo<'_>) -> Result<(), SystemException> {
        assert_eq!(info.reply_status(), Some(ReplyStatus::Successful));
        self.at("receive_reply", "").map_err(only_exception)
    }

    fn receive_exception(&self, info: &ClientRequestInfo<'_>) -> Result<(), Interrupt> {
        self.at(
            "receive_exception",
            &detail(info.reply_status(), info.exception()),
        )
    }

    fn receive_other(&self, info: &ClientRequestInfo<'_>) -> Result<(), Interrupt> {
        let forwarded = info.reply_status() == Some(ReplyStatus::LocationForward);
        assert_eq!(info.forward_reference().is_some(), forwarded);
        self.at("receive_other", &detail(info.reply_status(), info.exception()))
    }
}

impl ServerRequestInterceptor for Watch {
    fn name(&self) -> &str {
        self.name
    }

    fn receive_request_service_contexts(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Interrupt> {
        assert_eq!(info.repository_id(), None);
        self.at(
            "receive_request_service_contexts",
            &format!(" {}", info.operation()),
        )
    }

    fn receive_request(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Interrupt> {
        // What a servant locator will find is not known yet.
        let known = ["IDL:conformance/Probe:1.0", "IDL:omg.org/CORBA/Object:1.0"];
        assert!(info.repository_id().is_some_and(|id| known.contains(&id)));
        self.at("receive_request", "")
    }

    fn send_reply(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), SystemException> {
        assert_eq!(info.reply_status(), Some(ReplyStatus::Successful));
        self.at("send_reply", "").map_err(only_exception)
    }

    fn send_exception(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Interrupt> {
        self.at("send_exception", &detail(info.reply_status(), info.exception()))
    }

    fn send_other(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Interrupt> {
        self.at("send_other", &detail(info.reply_status(), info.exception()))
    }
}

/// Registers interceptors of one side or both.
#[derive(Clone, Default)]
struct Registered {
    client: Vec<Arc<dyn ClientRequestInterceptor>>,
    server: Vec<Arc<dyn ServerRequestInterceptor>>,
}

impl Registered {
    fn client(interceptors: impl IntoIterator<Item = Arc<Watch>>) -> Self {
        let client = interceptors.into_iter().map(|watch| watch as _).collect();
        Self {
            client,
            server: Vec::new(),
        }
    }

    fn server(interceptors: impl IntoIterator<Item = Arc<Watch>>) -> Self {
        let server = interceptors.into_iter().map(|watch| watch as _).collect();
        Self {
            client: Vec::new(),
            server,
        }
    }
}

impl OrbInitializer for Registered {
    fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
        for interceptor in &self.client {
            info.add_client_request_interceptor(Arc::clone(interceptor))
                .unwrap();
        }
        for interceptor in &self.server {
            info.add_server_request_interceptor(Arc::clone(interceptor))
                .unwrap();
        }
    }
}

/// An ORB in the making, in the ordinary scheduling class.
fn orb() -> OrbBuilder {
    ordinary().listen("iiop://127.0.0.1:0")
}

/// A server whose ORB has these interceptors, with one thread.
fn server(initializer: &(impl OrbInitializer + Clone + 'static)) -> Server {
    let orb = orb().initializer(initializer).build().unwrap();
    let pool = orb.threadpool().build().unwrap();
    let poa = orb.root_poa().child("probes").threadpool(&pool).build().unwrap();
    Server::with_poa(orb, pool, poa)
}

/// A client whose ORB has these interceptors, and its reference to the server's object.
fn client(initializer: &(impl OrbInitializer + Clone + 'static), server: &Server) -> (Orb, ProbeRef) {
    let orb = orb().initializer(initializer).build().unwrap();
    let probe = server.reference_for(&orb);
    (orb, probe)
}

/// Exception that only tests raise.
fn refused() -> SystemException {
    SystemException::new(Kind::NoPermission, 4711, Completion::No)
}

/// The same of another kind.
fn other_error() -> SystemException {
    SystemException::new(Kind::NoResources, 4712, Completion::No)
}
