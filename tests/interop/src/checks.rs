//! The client: checks every operation of a server of `Interop::Peer`, regardless of its ORB.

mod bulk;
mod calls;
mod protocol;
mod references;
mod types;

use std::{fmt::Display, time::Duration};

use punctual::{Limits, Orb, OrbBuilder, Poa, SystemException, SystemExceptionKind, ThreadPool};
use punctual_fixtures::{Missing, skip_part};
use punctual_giop::{Component, IiopProfile, PUNCTUAL_ORB_TYPE, UTF_8};

use crate::interop::PeerRef;

/// Environment of the checks.
pub struct Context {
    /// The client's ORB.
    pub orb: Orb,
    /// Its adapter for objects that the server calls back, served by threads of their own.
    pub poa: Poa,
    /// These threads, which read the replies over shared connections, too.
    pub callbacks: ThreadPool,
    /// The server's main object.
    pub peer: PeerRef,
    /// Where the server is, from its reference.
    pub profile: IiopProfile,
    /// The server closes connections that are idle for less than this.
    pub idle_close: Option<Duration>,
}

/// Why a check failed.
pub struct Failure(String);

impl<E: Display> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(format!("raised {error}"))
    }
}

type Outcome = Result<(), Failure>;
type Check = (&'static str, fn(&Context) -> Outcome);

/// The table of some checks.
macro_rules! checks {
    ($($name:ident),* $(,)?) => {
        pub(super) const CHECKS: &[super::Check] = &[$((stringify!($name), $name)),*];
    };
}

macro_rules! ensure {
    ($condition:expr) => {
        if !$condition {
            let text = format!("{}:{}: not so: {}", file!(), line!(), stringify!($condition));
            return Err(crate::checks::Failure(text));
        }
    };
}

/// Compares what `Debug` says as well, which tells -0 from 0.
macro_rules! expect_eq {
    ($found:expr, $expected:expr) => {
        match (&$found, &$expected) {
            (found, expected) => {
                let (shown, wanted) = (format!("{found:?}"), format!("{expected:?}"));
                if !(*found == *expected && shown == wanted) {
                    let place = format!("{}:{}: {}", file!(), line!(), stringify!($found));
                    let cut = |text: String| text.chars().take(300).collect::<String>();
                    let text = format!("{place} is {}, not {}", cut(shown), cut(wanted));
                    return Err(crate::checks::Failure(text));
                }
            }
        }
    };
}

/// The call must raise this system exception.
macro_rules! expect_raises {
    ($kind:ident, $call:expr) => {
        crate::checks::raises(punctual::SystemExceptionKind::$kind, $call, stringify!($call))?
    };
}

use {checks, ensure, expect_eq, expect_raises};

fn raises<T>(
    kind: SystemExceptionKind,
    result: Result<T, SystemException>,
    call: &str,
) -> Result<SystemException, Failure> {
    match result {
        Err(exception) if exception.kind == kind => Ok(exception),
        Err(exception) => Err(Failure(format!("{call} raised {exception}, not {}", kind.name()))),
        Ok(_) => Err(Failure(format!("{call} did not raise {}", kind.name()))),
    }
}

/// Calls may nest up to five deep from side to side.
const CALLBACK_THREADS: usize = 4;

/// An ORB for a client: its calls have a deadline, and its own objects are served by a pool.
pub fn client_orb() -> (Orb, Poa, ThreadPool) {
    client_orb_of(Orb::builder())
}

/// Like [`client_orb`], with something of its own.
fn client_orb_of(builder: OrbBuilder) -> (Orb, Poa, ThreadPool) {
    let orb = builder
        .listen("iiop://127.0.0.1:0")
        .call_timeout(Duration::from_secs(20))
        .build()
        .expect("an ORB on a free port of the loopback interface");
    let pool = orb
        .threadpool()
        .threads(CALLBACK_THREADS)
        .build()
        .expect("a thread pool");
    orb.set_reply_threadpool(&pool).expect("threads that poll");
    let poa = orb
        .root_poa()
        .child("callbacks")
        .threadpool(&pool)
        .build()
        .expect("an adapter");
    (orb, poa, pool)
}

/// The limits that the tests run with: the largest results have 4 MiB.
pub fn limits() -> Limits {
    Limits::default()
}

impl Context {
    /// For the server that `reference` leads to, an `IOR:` or `corbaloc:`.
    pub fn new(reference: &str) -> Result<Self, String> {
        Self::of(Orb::builder(), reference)
    }

    /// Like [`Self::new`], with an ORB that has something of its own.
    pub fn of(builder: OrbBuilder, reference: &str) -> Result<Self, String> {
        let client = client_orb_of(builder);
        let peer: PeerRef = client.0.resolve(reference).map_err(|error| error.to_string())?;
        Self::with_peer(client, peer)
    }

    /// For a reference of the client's own ORB.
    pub fn with_peer(client: (Orb, Poa, ThreadPool), peer: PeerRef) -> Result<Self, String> {
        let (orb, poa, callbacks) = client;
        let profiles = &peer.ior().profiles;
        let profile = profiles
            .iter()
            .find_map(|profile| IiopProfile::decode(profile).ok());
        Ok(Self {
            profile: profile.ok_or("the reference has no IIOP profile")?,
            orb,
            poa,
            callbacks,
            peer,
            idle_close: None,
        })
    }

    /// The code set of the connection, which the client chooses: UTF-8 where the reference says that the
    /// server's own is, or is one of ours, else ISO-8859-1.
    pub fn speaks_utf8(&self) -> bool {
        self.profile
            .components
            .iter()
            .any(|component| match Component::decode(component) {
                Ok(Component::CodeSets(server)) => server.char.native == UTF_8,
                Ok(Component::OrbType(orb)) => orb == PUNCTUAL_ORB_TYPE,
                _ => false,
            })
    }

    /// Runs all checks but those named in `skipped`, which gives a reason for each, prints a line for each,
    /// and returns how many passed.
    ///
    /// Panics where one fails, with all that failed, or where a name is unknown.
    pub fn run(&self, skipped: &[(&str, &str)]) -> usize {
        let all = [
            types::CHECKS,
            calls::CHECKS,
            references::CHECKS,
            bulk::CHECKS,
            protocol::CHECKS,
        ]
        .concat();
        for (name, _) in skipped {
            assert!(
                all.iter().any(|(known, _)| known == name),
                "no check is called {name}"
            );
        }
        self.run_each(&all, skipped)
    }

    /// Runs the checks of all `rotate_x` for which x is a type without references, but those named in
    /// `skipped`. Returns how many passed.
    pub fn run_rotations(&self, skipped: &[(&str, &str)]) -> usize {
        let rotations = types::CHECKS
            .iter()
            .filter(|(name, _)| name.starts_with("rotate_"));
        self.run_each(&rotations.copied().collect::<Vec<_>>(), skipped)
    }

    fn run_each(&self, checks: &[Check], skipped: &[(&str, &str)]) -> usize {
        let mut failed = Vec::new();
        let mut passed = 0;
        for (name, check) in checks {
            if let Some((_, reason)) = skipped.iter().find(|(skipped, _)| skipped == name) {
                skip_part(Missing::Machine, format!("{name}: {reason}"));
                continue;
            }
            match check(self) {
                Ok(()) => {
                    println!("ok {name}");
                    passed += 1;
                }
                Err(Failure(why)) => {
                    println!("FAILED {name}: {why}");
                    failed.push(format!("{name}: {why}"));
                }
            }
        }
        assert!(
            failed.is_empty(),
            "{} failed:\n{}",
            failed.len(),
            failed.join("\n")
        );
        passed
    }
}
