//! The connection of `tail`, `send` and `top` to a channel.

use std::{
    net::{IpAddr, ToSocketAddrs, UdpSocket},
    time::Duration,
};

use punctual::{
    Interface, Minor, ObjectRef, Orb, Priority, ResolveError, SchedulingClass, SystemException,
    SystemExceptionKind,
};
use punctual_events::{EventError, RemoteChannel, rtec::rtec_event_channel_admin::EventChannelRef, wire};

use super::{Failed, serve::INSPECTION};
use crate::{
    default_priority,
    tls::{self, TlsFile},
};

/// Longest wait for an answer of the channel.
pub const TIMEOUT: Duration = Duration::from_secs(2);

/// An ORB for a client: no real-time priorities, and calls that end. It listens at this endpoint, if any.
pub fn orb(listen: Option<&str>, tls: &TlsFile) -> Result<Orb, Failed> {
    let mut builder = tls
        .applied_to(Orb::builder())?
        .scheduling_class(SchedulingClass::Other)
        .lock_memory(false)
        .call_timeout(TIMEOUT);
    if let Some(endpoint) = listen {
        builder = builder.listen(endpoint);
    }
    builder
        .build()
        .map_err(|error| Failed::not_built(listen.unwrap_or_default(), error))
}

/// The object with the counters of the channel that `serve` started at this address.
pub fn inspection(orb: &Orb, address: &str) -> Result<wire::punctual_events::InspectionRef, Failed> {
    if !address.starts_with("corbaloc:") {
        return Err(Failed::Refused(format!(
            "`{address}`: the counters of a channel are found by its `corbaloc:` address, which \
             `punctual events serve` prints"
        )));
    }
    let counters = format!("{address}{INSPECTION}");
    orb.resolve(&counters).map_err(|error| match error {
        ResolveError::Call { exception, .. } if exception.kind == SystemExceptionKind::ObjectNotExist => {
            channel(orb, address, None).map_or_else(|failed| failed, |_| without_counters(address))
        }
        // The server has lanes of other priorities, and no object of this name outside them.
        ResolveError::Call { exception, .. } if exception.kind == SystemExceptionKind::InvPolicy => {
            Failed::Refused(format!(
                "the counters {counters} cannot be queried at priority 0: {exception}; the channel's program has \
                 to publish them under this name, on an adapter without `priority_model`"
            ))
        }
        error => refused(address, error),
    })
}

fn without_counters(address: &str) -> Failed {
    Failed::Refused(format!(
        "the channel {address} answers, but its program does not publish its counters; add \
         `orb.publish(\"NAME{INSPECTION}\", &channel.serve_inspection(&poa)?)` to it, where NAME is the name \
         of the channel in its address"
    ))
}

/// The channel at this address, for calls of this priority. Default: the priority that its adapter gives to
/// requests without one.
pub fn channel(orb: &Orb, address: &str, priority: Option<Priority>) -> Result<RemoteChannel, Failed> {
    if let Some(priority) = priority {
        orb.current().set_priority(priority)?;
    }
    let object = resolved(orb, address)?;
    match priority {
        None => default_priority::apply(orb, &object)?,
        Some(_) if object.exposed_policies().priority_model.is_none() => eprintln!(
            "note: --priority has no effect: the channel {address} is served by an adapter without \
             `priority_model`"
        ),
        Some(_) => {}
    }
    narrowed::<EventChannelRef>(&object, address).map(RemoteChannel::new)
}

/// Both channels of a gateway, for calls of this priority. Default: that of [`channel`] for `to`, or for
/// `from` if that has no lane of it.
pub fn channels(
    orb: &Orb,
    from: &str,
    to: &str,
    priority: Option<Priority>,
) -> Result<[RemoteChannel; 2], Failed> {
    let both = [channel(orb, from, priority)?, channel(orb, to, priority)?];
    let source = resolved(orb, from)?;
    let has_lane = || {
        let mut conflicts = source.inconsistent_policies().into_iter();
        conflicts.all(|conflict| conflict.reason != Minor::NO_ENDPOINT_FOR_PRIORITY)
    };
    if priority.is_none() && !has_lane() {
        default_priority::apply(orb, &source)?;
    }
    Ok(both)
}

fn resolved(orb: &Orb, address: &str) -> Result<ObjectRef, Failed> {
    orb.resolve_object(address)
        .map_err(|error| refused(address, error))
}

fn narrowed<R: Interface>(object: &ObjectRef, address: &str) -> Result<R, Failed> {
    match object.narrow() {
        Ok(Some(narrowed)) => Ok(narrowed),
        Ok(None) => Err(Failed::Refused(format!(
            "`{address}` is the address of an object that is not an event channel: it does not support {}; the \
             address of a channel is the first line of the output of `punctual events serve`",
            R::REPOSITORY_ID
        ))),
        Err(exception) => Err(unreachable(address, &exception.into())),
    }
}

fn refused(address: &str, error: ResolveError) -> Failed {
    match error {
        ResolveError::Call { exception, .. } => unreachable(address, &exception.into()),
        error => Failed::Refused(
            tls::missing(&error)
                .unwrap_or_else(|| format!("`{address}` is not the address of a channel: {error}")),
        ),
    }
}

/// Explains why a channel cannot be used: it does not answer, or has refused something.
pub fn unreachable(address: &str, problem: &EventError) -> Failed {
    Failed::Unreachable(match problem {
        EventError::Call(exception) if exception.kind == SystemExceptionKind::ObjectNotExist => format!(
            "a server answers at {address}, but has no channel of this name: {exception}; the address is the \
             first line of the output of `punctual events serve`"
        ),
        EventError::Call(exception) if exception.kind == SystemExceptionKind::InvPolicy => format!(
            "the channel {address} does not serve this priority: {exception}; `--priority` must be that of a \
             lane of the channel"
        ),
        EventError::Call(exception) if is_unanswered(exception) => format!(
            "no channel at {address}: {exception}; is `punctual events serve` running there? The address is the \
             first line of its output"
        ),
        other => format!("the channel {address} refused: {other}"),
    })
}

fn is_unanswered(exception: &SystemException) -> bool {
    matches!(
        exception.kind,
        SystemExceptionKind::Transient | SystemExceptionKind::CommFailure | SystemExceptionKind::Timeout
    )
}

/// The endpoint at which a channel can reach this host: its address on the network that leads to the channel.
/// For an address without a host, such as an IOR, that of this host alone.
pub fn endpoint_towards(address: &str) -> String {
    let ip = host_of(address).and_then(|host| local_address(&host));
    let protocol = match address.contains(":ssliop:") {
        true => "ssliop",
        false => "iiop",
    };
    match ip.unwrap_or(IpAddr::from([127, 0, 0, 1])) {
        IpAddr::V4(ip) => format!("{protocol}://{ip}"),
        IpAddr::V6(ip) => format!("{protocol}://[{ip}]"),
    }
}

/// Host and port of the first address of a `corbaloc:` or `corbaname:`.
fn host_of(address: &str) -> Option<String> {
    let rest = address.strip_prefix("corbaloc:");
    let rest = rest.or_else(|| address.strip_prefix("corbaname:"))?;
    let addresses = rest.split(['/', '#']).next()?;
    let first = addresses.split(',').next()?;
    let protocols = ["iiop:", "ssliop:", ":"];
    let host = protocols
        .iter()
        .find_map(|protocol| first.strip_prefix(protocol))?;
    let host = host.split_once('@').map_or(host, |(_version, host)| host);
    let has_port = host
        .rsplit_once(':')
        .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    Some(if has_port {
        host.to_owned()
    } else {
        format!("{host}:2809")
    })
}

/// The address from which this host reaches another. Sends nothing.
fn local_address(host: &str) -> Option<IpAddr> {
    let remote = host.to_socket_addrs().ok()?.next()?;
    let any: IpAddr = if remote.is_ipv4() {
        [0; 4].into()
    } else {
        [0; 16].into()
    };
    let socket = UdpSocket::bind((any, 0)).ok()?;
    socket.connect(remote).ok()?;
    Some(socket.local_addr().ok()?.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_of_an_address_is_found() {
        for (address, host) in [
            ("corbaloc::localhost:2830/Events", Some("localhost:2830")),
            ("corbaloc:iiop:1.2@127.0.0.1:7/Events", Some("127.0.0.1:7")),
            ("corbaloc:iiop:[::1]:7,:other:8/E", Some("[::1]:7")),
            ("corbaloc:ssliop:1.2@radar:7/E", Some("radar:7")),
            ("corbaloc::radar/Events", Some("radar:2809")),
            ("corbaname::radar#events/alarms", Some("radar:2809")),
            ("corbaname:rir:#events", None),
            ("corbaloc:uiop:/run/x|Events", None),
            ("IOR:00", None),
        ] {
            assert_eq!(host_of(address).as_deref(), host, "{address}");
        }
    }

    #[test]
    fn a_channel_of_this_host_reaches_the_loopback_address() {
        assert_eq!(
            endpoint_towards("corbaloc::127.0.0.1:2830/Events"),
            "iiop://127.0.0.1"
        );
        assert_eq!(endpoint_towards("IOR:00"), "iiop://127.0.0.1");
    }
}
