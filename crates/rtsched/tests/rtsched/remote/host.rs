//! A second process as another host.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

use punctual_fixtures::LONG;
use punctual_orb::{Orb, OrbBuilder, Peers};
use punctual_os::ThreadSpec;
use punctual_rtsched::{
    AcceptedClaims, Preemption, RtScheduling, RtSchedulingBuilder, SchedulingError,
    remote::{ThreadControl, ThreadControlRef, ThreadControlSpec},
};
use punctual_sched::dynamic::SchedulingParameters;
use punctual_stub::Interface;
use punctual_types::{DistributableThreadId, SystemException, SystemExceptionKind};

use super::tracker::{Tracker, TrackerRef};

/// Starts a builder that accepts all claims of this host.
pub fn trusting() -> RtSchedulingBuilder {
    RtScheduling::builder().accept_claims(Peers::SameHost, AcceptedClaims::all().above_lane(true))
}

/// An endsystem with an object that threads call.
pub struct Host {
    pub orb: Orb,
    pub scheduling: RtScheduling,
    pub control: ThreadControl,
    pub tracker: Tracker,
    pub reference: TrackerRef,
}

impl Host {
    pub fn new() -> Self {
        Self::with(Self::scheduling())
    }

    pub fn scheduling() -> RtScheduling {
        let builder = trusting().preemption(Preemption::Cooperative);
        builder.build().unwrap()
    }

    pub fn with(scheduling: RtScheduling) -> Self {
        Self::answering(scheduling, ThreadControlSpec::default())
    }

    pub fn answering(scheduling: RtScheduling, spec: ThreadControlSpec) -> Self {
        Self::of(Orb::builder(), scheduling, spec)
    }

    pub fn of(builder: OrbBuilder, scheduling: RtScheduling, spec: ThreadControlSpec) -> Self {
        let orb = builder
            .listen("iiop://127.0.0.1")
            .call_timeout(LONG)
            .initializer(&scheduling)
            .build()
            .unwrap();
        let control = scheduling.open_control(&orb, spec).unwrap();
        let pool = orb.threadpool().threads(3).build().unwrap();
        let adapter = orb
            .root_poa()
            .child("trackers")
            .threadpool(&pool)
            .build()
            .unwrap();
        let tracker = Tracker::new(&scheduling);
        let reference = adapter.activate(tracker.clone()).unwrap();
        Self {
            orb,
            scheduling,
            control,
            tracker,
            reference,
        }
    }

    /// Threads that arrive here call that host next.
    pub fn leads_to(&self, next: &str) {
        *self.tracker.0.next.lock() = Some(self.orb.resolve(next).unwrap());
    }

    pub fn ior(&self) -> String {
        self.reference.as_object().to_ior()
    }

    pub fn control_at(&self, other: &Host) -> ThreadControlRef {
        let ior = other.control.reference().as_object().to_ior();
        self.orb.resolve(&ior).unwrap()
    }

    pub fn received_thread(&self) -> Option<DistributableThreadId> {
        *self.tracker.0.received_thread.lock()
    }

    /// Runs a thread that begins here and calls the next host.
    pub fn sends(&self, manner: i32) -> Result<i32, SchedulingError> {
        let next = self.tracker.0.next.lock().clone();
        self.sends_by(&next.expect("a next host"), manner)
    }

    pub fn sends_by(&self, by: &TrackerRef, manner: i32) -> Result<i32, SchedulingError> {
        self.scheduling
            .current()
            .segment("track", IMPORTANCE, |_| Ok(by.track(manner)?))
    }
}

pub const IMPORTANCE: SchedulingParameters = SchedulingParameters::Importance { importance: 5 };

/// Result of a thread, with the kind of its exception.
pub fn kind_of(result: Result<i32, SchedulingError>) -> Result<i32, SystemExceptionKind> {
    result.map_err(|error| match error {
        SchedulingError::System(SystemException { kind, .. }) => kind,
        other => panic!("{other}"),
    })
}

/// A host in a separate process, which can die.
pub struct HostProcess {
    child: Child,
    pub ior: String,
}

impl HostProcess {
    /// Starts it. `leads_to`: the host that threads call next; `None`: they stay there.
    pub fn start(leads_to: Option<&str>) -> Self {
        let (_, module) = module_path!().split_once("::").unwrap();
        let host_process = format!("{module}::host_process");
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &host_process, "--ignored", "--nocapture"])
            .envs(leads_to.map(|ior| (LEADS_TO, ior)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let ior = lines.find_map(|line| Some(line.ok()?.strip_prefix('>')?.to_owned()));
        // A process that writes to a closed pipe would end.
        let reader = ThreadSpec::new("child-says").spawn(move || lines.for_each(drop));
        drop(reader.unwrap());
        Self {
            child,
            ior: ior.expect("the other process prints its reference"),
        }
    }

    /// Sends SIGKILL, so that it cannot notify its peers.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Lets it end normally.
    pub fn let_go(mut self) {
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for HostProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const LEADS_TO: &str = "PUNCTUAL_TEST_LEADS_TO";

/// The program that [`HostProcess`] starts; not a test.
#[test]
#[ignore = "started by other tests"]
fn host_process() {
    // Binaries without a test harness do not compile this function.
    use std::io::Write;

    let host = Host::new();
    if let Ok(next) = std::env::var(LEADS_TO) {
        host.leads_to(&next);
    }
    let mut out = std::io::stdout();
    writeln!(out, "\n>{}", host.ior()).unwrap();
    out.flush().unwrap();
    // Until the parent closes the pipe or ends.
    let _ = std::io::stdin().read_line(&mut String::new());
    host.orb.shutdown();
}
