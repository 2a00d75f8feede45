//! A separate network for server and client: a network namespace for each, with a cable (a veth pair) between
//! them that carries 100 Mbit/s in each direction, as in [Pyarali 2002] 3.1.
//!
//! Everything is created within the two processes: the namespaces have no names, and the cable is never in
//! the machine's namespace. So all of it disappears with the processes, however they end.

use std::process::Command;

use punctual_system::namespace;

use crate::error::{Error, Missing};

/// The server's address.
pub(crate) const SERVER: &str = "10.213.77.1";

/// The client's address.
pub(crate) const CLIENT: &str = "10.213.77.2";
pub(crate) const SERVER_END: &str = "server-end";
pub(crate) const CLIENT_END: &str = "client-end";
/// The cable's rate, in the notation of `tc`.
const RATE: &str = "100mbit";
/// Burst of the token bucket: a frame of the largest size, in octets.
const FRAME: &str = "1600";

/// Moves this process to an empty network namespace. Must be called before the process has other threads.
///
/// # Errors
/// [`Missing`]: the right, or the kernel's support.
pub(crate) fn separate() -> Result<(), Error> {
    namespace::unshare_network().map_err(|error| {
        Missing(format!(
            "cannot create a network namespace ({error}): run as root, and not in a container that forbids it"
        ))
    })?;
    Ok(())
}

/// Server process: creates an empty network with both ends of a cable, one of them with the server's address.
///
/// # Errors
/// [`Missing`]: rights, the kernel's support, or a program. Others: the cable cannot be made although they
/// are there.
pub(crate) fn make_cable() -> Result<(), Error> {
    separate()?;
    ip(&[
        "link", "add", SERVER_END, "type", "veth", "peer", "name", CLIENT_END,
    ])?;
    bring_up(SERVER_END, SERVER)
}

/// Server process: moves the other end to the client process.
pub(crate) fn plug_into(client: u32) -> Result<(), Error> {
    ip(&["link", "set", CLIENT_END, "netns", &client.to_string()])
}

/// Client process: brings up its end, once it has it.
pub(crate) fn connect() -> Result<(), Error> {
    bring_up(CLIENT_END, CLIENT)
}

/// Limits what an end of the cable sends to this number of bits per second, from now on. What does not fit
/// waits for up to four seconds.
pub(crate) fn limit(end: &str, bits_per_second: u64) -> Result<(), Error> {
    let rate = format!("{bits_per_second}bit");
    let shape = ["root", "tbf", "rate", &rate, "burst", FRAME, "latency", "4s"];
    let qdisc: Vec<&str> = ["qdisc", "change", "dev", end].into_iter().chain(shape).collect();
    run("tc", &qdisc)
}

/// Returns the limit of an end of the cable, in bits per second, as the kernel states it.
#[cfg(test)]
pub(crate) fn rate(end: &str) -> Result<Option<u64>, Error> {
    let output = Command::new("tc")
        .args(["-j", "qdisc", "show", "dev", end])
        .output()?;
    let shown: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    // In octets per second.
    Ok(shown[0]["options"]["rate"].as_u64().map(|octets| octets * 8))
}

fn bring_up(end: &str, address: &str) -> Result<(), Error> {
    ip(&["addr", "add", &format!("{address}/30"), "dev", end])?;
    let shape = ["root", "tbf", "rate", RATE, "burst", FRAME, "latency", "50ms"];
    let qdisc: Vec<&str> = ["qdisc", "add", "dev", end].into_iter().chain(shape).collect();
    run("tc", &qdisc)?;
    ip(&["link", "set", end, "up"])
}

fn ip(arguments: &[&str]) -> Result<(), Error> {
    run("ip", arguments)
}

fn run(program: &str, arguments: &[&str]) -> Result<(), Error> {
    // A user's search path may lack the administrator's programs.
    let output = ["", "/usr/sbin/", "/sbin/"]
        .iter()
        .find_map(|folder| {
            let command = Command::new(format!("{folder}{program}"))
                .args(arguments)
                .output();
            command.ok()
        })
        .ok_or_else(|| Missing(format!("program `{program}` not found: install iproute2")))?;
    if output.status.success() {
        return Ok(());
    }
    let message = String::from_utf8_lossy(&output.stderr);
    let failed = format!("`{program} {}` failed: {}", arguments.join(" "), message.trim());
    match is_missing(&message) {
        true => Err(Missing(failed).into()),
        false => Err(failed.into()),
    }
}

/// Whether a right is missing or the kernel lacks devices or shaping of this kind, according to `ip` or `tc`.
fn is_missing(message: &str) -> bool {
    let signs = [
        "Operation not permitted",
        "Operation not supported",
        "Unknown device type",
        "qdisc kind is unknown",
    ];
    signs.iter().any(|sign| message.contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_differs_from_what_fails() {
        let missing = |message: &str| Missing::of(Err::<(), _>(Missing(message.to_owned()).into()));
        assert_eq!(missing("root").unwrap(), Err("root".to_owned()));
        assert!(Missing::of(Err::<(), _>("address in use".into())).is_err());
        assert!(Missing::of(run("no-such-program", &[])).unwrap().is_err());
        for (message, expected) in [
            ("RTNETLINK answers: Operation not permitted", true),
            ("Error: Unknown device type.", true),
            ("Error: Specified qdisc kind is unknown.", true),
            ("RTNETLINK answers: File exists", false),
            ("Cannot find device \"server-end\"", false),
        ] {
            assert_eq!(is_missing(message), expected, "{message}");
        }
    }
}
