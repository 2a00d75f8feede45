//! Consumers that a channel on another host cannot call.

use std::net::{IpAddr, UdpSocket};

use punctual::ObjectRef;
use punctual_giop::{IiopProfile, TAG_INTERNET_IOP, is_loopback};
use punctual_os::Notice;

/// Reports once per process that a channel on another host cannot call a consumer, whose only addresses are
/// of the loopback interface. Channels with a host name in their address are not examined.
pub(super) fn report(channel: &ObjectRef, consumer: &ObjectRef) {
    static NOTICE: Notice = Notice::new(
        "punctual: this consumer is at a loopback address, and its channel on another host, from which it \
         receives nothing; let the ORB listen at an address of this host, such as \
         `Orb::builder().listen(\"iiop://192.0.2.7\")`\n",
    );
    if is_out_of_reach(&hosts(channel), &hosts(consumer)) {
        NOTICE.send();
    }
}

/// Hosts of an object's IIOP addresses.
fn hosts(object: &ObjectRef) -> Vec<String> {
    let profiles = object.ior().profiles.iter();
    let iiop = profiles.filter(|profile| profile.tag == TAG_INTERNET_IOP);
    iiop.filter_map(|profile| Some(IiopProfile::decode(profile).ok()?.host))
        .collect()
}

fn is_out_of_reach(channel: &[String], consumer: &[String]) -> bool {
    // An address of this host can be bound.
    let is_elsewhere = |host: &String| {
        let ip = host.parse::<IpAddr>();
        ip.is_ok_and(|ip| UdpSocket::bind((ip, 0)).is_err())
    };
    let (no_channel, no_consumer) = (channel.is_empty(), consumer.is_empty());
    !no_channel
        && !no_consumer
        && consumer.iter().all(|host| is_loopback(host))
        && channel.iter().all(is_elsewhere)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_addresses_are_out_of_reach_of_other_hosts_only() {
        // An address of a network for documentation: no host has it.
        for (channel, consumer, expected) in [
            ("192.0.2.1", "127.0.0.1", true),
            ("192.0.2.1", "localhost", true),
            ("192.0.2.1", "192.0.2.2", false),
            ("127.0.0.1", "127.0.0.1", false),
            ("channel.example", "127.0.0.1", false),
        ] {
            let [channel, consumer] = [channel, consumer].map(|host| [host.to_owned()]);
            assert_eq!(
                is_out_of_reach(&channel, &consumer),
                expected,
                "{channel:?} {consumer:?}"
            );
        }
        assert!(!is_out_of_reach(&[], &["127.0.0.1".to_owned()]), "a Unix socket");
    }
}
