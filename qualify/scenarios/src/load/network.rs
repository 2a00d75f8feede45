//! A separate network for server and client: a network namespace for each, with a cable (a veth pair) between
//! them.
//!
//! Everything is created within the two processes: the namespaces have no names, and the cable is never in
//! the machine's namespace. So all of it disappears with the processes, however they end.

use std::process::Command;

use punctual_system::namespace;

use crate::error::Error;

/// The argument of both processes that requests a separate network.
pub(crate) const LINKED: &str = "linked";
/// The server's address.
pub(crate) const SERVER: &str = "10.213.77.1";

const CLIENT: &str = "10.213.77.2";
const SERVER_END: &str = "server-end";
const CLIENT_END: &str = "client-end";

/// Moves this process to an empty network namespace. Must be called before the process has other threads.
pub(crate) fn separate() -> Result<(), Error> {
    namespace::unshare_network().map_err(|error| {
        format!(
            "cannot create a network namespace ({error}): run as root, and not in a container that forbids it"
        )
    })?;
    Ok(())
}

/// Server process: creates an empty network with both ends of a cable, one of them with the server's address.
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

fn bring_up(end: &str, address: &str) -> Result<(), Error> {
    ip(&["addr", "add", &format!("{address}/30"), "dev", end])?;
    ip(&["link", "set", end, "up"])
}

fn ip(arguments: &[&str]) -> Result<(), Error> {
    // A user's search path may lack the administrator's programs.
    let programs = ["ip", "/usr/sbin/ip", "/sbin/ip"];
    let output = programs
        .iter()
        .find_map(|program| Command::new(program).args(arguments).output().ok())
        .ok_or("program `ip` not found: install iproute2")?;
    if output.status.success() {
        return Ok(());
    }
    let message = String::from_utf8_lossy(&output.stderr);
    Err(format!("`ip {}` failed: {}", arguments.join(" "), message.trim()).into())
}
