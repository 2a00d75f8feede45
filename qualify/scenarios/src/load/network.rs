//! A network of its own for server and client: each in a network namespace, with a cable (a veth pair) between them.
//!
//! Everything is made inside the two processes: neither namespace has a name, and the cable is never in the machine's own. So
//! all of it goes when the processes do, however they end.

use std::process::Command;

use punctual_system::namespace;

use crate::error::Error;

/// The argument that asks for it.
pub(crate) const LINKED: &str = "linked";
/// The server's address.
pub(crate) const SERVER: &str = "10.213.77.1";

const CLIENT: &str = "10.213.77.2";
const SERVER_END: &str = "server-end";
const CLIENT_END: &str = "client-end";

/// Leaves the machine's network for an empty one. To be called before the process has other threads.
pub(crate) fn separate() -> Result<(), Error> {
    namespace::unshare_network().map_err(|error| {
        format!("no network namespace can be made ({error}): be root, outside a container that forbids it")
    })?;
    Ok(())
}

/// The server's side: an empty network, in it both ends of a cable, one of them with the server's address.
pub(crate) fn make_cable() -> Result<(), Error> {
    separate()?;
    ip(&[
        "link", "add", SERVER_END, "type", "veth", "peer", "name", CLIENT_END,
    ])?;
    bring_up(SERVER_END, SERVER)
}

/// The server's side: gives the other end to the client's process.
pub(crate) fn plug_into(client: u32) -> Result<(), Error> {
    ip(&["link", "set", CLIENT_END, "netns", &client.to_string()])
}

/// The client's side, once it has its end.
pub(crate) fn connect() -> Result<(), Error> {
    bring_up(CLIENT_END, CLIENT)
}

fn bring_up(end: &str, address: &str) -> Result<(), Error> {
    ip(&["addr", "add", &format!("{address}/30"), "dev", end])?;
    ip(&["link", "set", end, "up"])
}

fn ip(arguments: &[&str]) -> Result<(), Error> {
    // Where a user's search path lacks the administrator's programs.
    let programs = ["ip", "/usr/sbin/ip", "/sbin/ip"];
    let output = programs
        .iter()
        .find_map(|program| Command::new(program).args(arguments).output().ok())
        .ok_or("the program `ip` is missing: install iproute2")?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("`ip {}` failed: {}", arguments.join(" "), said.trim()).into())
}
