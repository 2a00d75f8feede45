//! Resolution of host names within a timeout.
//!
//! The system's resolver cannot be interrupted and waits for name servers as long as its own configuration
//! states. A caller with a deadline therefore leaves a name to a helper thread, and waits for that thread.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs},
    sync::Arc,
    time::Instant,
};

use punctual_os::{PiCondvar, PiMutex, ThreadSpec, scheduling};

use crate::host_port::HostPort;

/// Helper threads that one calling thread may have left behind; its next name waits until one of them ends.
const MAX_HELPERS: usize = 4;

/// Octets of a helper's stack.
const STACK: usize = 512 << 10;

/// Names longer than this do not exist (RFC 1035, 2.3.4).
const MAX_NAME: usize = 255;

thread_local! {
    static HELPERS: Arc<Helpers> = Arc::default();
}

/// Resolves a host, IPv4 first: names with both are usually the loopback, and IPv4 is more often reachable.
///
/// Addresses in numbers and `localhost` are resolved here. Other names are resolved by a thread
/// `orb-resolver`, which has the scheduling of its caller and ends with the answer.
///
/// # Errors
/// `TimedOut` at the deadline; the helper then ends when the system's resolver gives up.
pub(crate) fn resolve_until(place: &HostPort, deadline: Instant) -> io::Result<Vec<SocketAddr>> {
    match known(&place.host) {
        Some(addresses) => Ok(with_port(&addresses, place.port)),
        None => HELPERS.with(|helpers| resolve_by(helpers, resolve, place, deadline)),
    }
}

/// Resolves a host as [`resolve_until`] does, on the calling thread and with the timeouts of the system.
pub(crate) fn resolve(place: &HostPort) -> io::Result<Vec<SocketAddr>> {
    let mut addresses: Vec<_> = (place.host.as_str(), place.port).to_socket_addrs()?.collect();
    addresses.sort_by_key(SocketAddr::is_ipv6);
    Ok(addresses)
}

/// Addresses for which no name server is queried.
fn known(host: &str) -> Option<Vec<IpAddr>> {
    if host == "localhost" {
        return Some(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
    }
    Some(vec![host.parse().ok()?])
}

fn with_port(addresses: &[IpAddr], port: u16) -> Vec<SocketAddr> {
    let socket = |address: &IpAddr| SocketAddr::new(*address, port);
    addresses.iter().map(socket).collect()
}

/// The helpers of one calling thread.
#[derive(Default)]
struct Helpers {
    state: PiMutex<State>,
    changed: PiCondvar,
}

#[derive(Default)]
struct State {
    running: usize,
    /// Number of the name that the caller waits for.
    wanted: u64,
    answer: Option<io::Result<Vec<SocketAddr>>>,
}

type Lookup = fn(&HostPort) -> io::Result<Vec<SocketAddr>>;

fn resolve_by(
    helpers: &Arc<Helpers>,
    lookup: Lookup,
    place: &HostPort,
    deadline: Instant,
) -> io::Result<Vec<SocketAddr>> {
    if place.host.len() > MAX_NAME {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the host name is too long",
        ));
    }
    let number = helpers.enter(deadline)?;
    let (answering, place) = (Arc::clone(helpers), place.clone());
    let helper = ThreadSpec::new("orb-resolver")
        .scheduling(scheduling::current())
        .stack_bytes(STACK)
        .spawn(move || answering.answer(number, lookup(&place)));
    if let Err(error) = helper {
        helpers.state.lock().running -= 1;
        return Err(error);
    }
    helpers.wait(deadline)
}

impl Helpers {
    /// Waits until the caller may have one more helper, and returns the number of its name.
    fn enter(&self, deadline: Instant) -> io::Result<u64> {
        let mut state = self.state.lock();
        let too_many = |state: &mut State| state.running == MAX_HELPERS;
        if self.changed.wait_while_until(&mut state, deadline, too_many).0 {
            return Err(io::ErrorKind::TimedOut.into());
        }
        state.running += 1;
        state.wanted += 1;
        state.answer = None;
        Ok(state.wanted)
    }

    fn answer(&self, number: u64, answer: io::Result<Vec<SocketAddr>>) {
        let mut state = self.state.lock();
        state.running -= 1;
        if state.wanted == number {
            state.answer = Some(answer);
        }
        drop(state);
        self.changed.notify_all();
    }

    fn wait(&self, deadline: Instant) -> io::Result<Vec<SocketAddr>> {
        let mut state = self.state.lock();
        let unanswered = |state: &mut State| state.answer.is_none();
        let _ = self.changed.wait_while_until(&mut state, deadline, unanswered);
        state.answer.take().unwrap_or(Err(io::ErrorKind::TimedOut.into()))
    }
}

#[cfg(test)]
mod tests {
    use std::{
        thread,
        time::{Duration, Instant},
    };

    use super::*;

    fn place(host: &str) -> HostPort {
        let host = host.to_owned();
        HostPort { host, port: 7 }
    }

    /// Returns a resolver whose name server does not answer for a second.
    fn slow(_: &HostPort) -> io::Result<Vec<SocketAddr>> {
        thread::sleep(Duration::from_secs(1));
        Ok(Vec::new())
    }

    fn after(milliseconds: u64) -> Instant {
        Instant::now() + Duration::from_millis(milliseconds)
    }

    #[test]
    fn numbers_and_localhost_ask_no_name_server() {
        let addresses = |host: &str| resolve_until(&place(host), Instant::now()).unwrap();
        assert_eq!(addresses("127.0.0.1"), ["127.0.0.1:7".parse().unwrap()]);
        assert_eq!(addresses("::1"), ["[::1]:7".parse().unwrap()]);
        let both = ["127.0.0.1:7".parse().unwrap(), "[::1]:7".parse().unwrap()];
        assert_eq!(addresses("localhost"), both);
    }

    #[test]
    fn a_name_is_resolved_by_a_helper() {
        let found = |place: &HostPort| Ok(vec![SocketAddr::new(Ipv4Addr::LOCALHOST.into(), place.port)]);
        let helpers = Arc::default();
        let addresses = resolve_by(&helpers, found, &place("radar"), after(10_000)).unwrap();
        assert_eq!(addresses, ["127.0.0.1:7".parse().unwrap()]);
        let missing = resolve_by(
            &helpers,
            |_| Err(io::ErrorKind::NotFound.into()),
            &place("x"),
            after(10_000),
        );
        assert_eq!(missing.unwrap_err().kind(), io::ErrorKind::NotFound);
        let too_long = resolve_by(&helpers, found, &place(&"x".repeat(256)), after(10_000));
        assert_eq!(too_long.unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn a_name_server_that_does_not_answer_delays_no_caller_beyond_its_deadline() {
        let helpers = Arc::<Helpers>::default();
        let start = Instant::now();
        for _ in 0..3 * MAX_HELPERS {
            let error = resolve_by(&helpers, slow, &place("radar"), after(10)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            assert!(helpers.state.lock().running <= MAX_HELPERS);
        }
        // One after another, the twelve names would take 12 s.
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
        // A late answer belongs to no other name.
        let found = |_: &HostPort| Ok(vec![SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 1)]);
        let addresses = resolve_by(&helpers, found, &place("radar"), after(10_000)).unwrap();
        assert_eq!(addresses, ["127.0.0.1:1".parse().unwrap()]);
    }
}
