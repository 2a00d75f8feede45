//! References with profiles of a transport of the user's.

use std::{io, time::Duration};

use punctual_cdr::{CdrError, Decoder, Encoder};
use punctual_orb::Orb;
use punctual_rtsched::{
    RtScheduling,
    remote::{ThreadControlRef, ThreadControlSpec},
};
use punctual_sched::dynamic::SchedulingParameters;
use punctual_stub::Interface;
use punctual_transport::{Listener, ProtocolProperties, Stream, Tcp, Transport};

use super::tracker::{Tracker, TrackerRef};

/// TCP under a tag that only its users know.
struct Own;

impl Transport for Own {
    fn scheme(&self) -> &str {
        "own"
    }

    fn profile_tag(&self) -> u32 {
        0x1234_5678
    }

    fn default_address(&self) -> &str {
        Tcp.default_address()
    }

    fn listen(
        &self,
        address: &str,
        published: Option<&str>,
        properties: &ProtocolProperties,
    ) -> io::Result<Box<dyn Listener>> {
        Tcp.listen(address, published, properties)
    }

    fn connect(
        &self,
        address: &str,
        properties: &ProtocolProperties,
        timeout: Duration,
    ) -> io::Result<Box<dyn Stream>> {
        Tcp.connect(address, properties, timeout)
    }

    fn lane_address(&self, address: &str, lane: &str) -> String {
        Tcp.lane_address(address, lane)
    }

    fn encode_address(&self, address: &str, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        Tcp.encode_address(address, encoder)
    }

    fn decode_address(&self, decoder: &mut Decoder<'_>) -> Result<String, CdrError> {
        Tcp.decode_address(decoder)
    }
}

#[test]
fn references_with_profiles_of_a_users_transport_contain_the_control_and_can_be_resources() {
    let orb = Orb::builder()
        .transport(Own)
        .listen("own://127.0.0.1")
        .build()
        .unwrap();
    let scheduling = RtScheduling::builder().build().unwrap();
    let control = scheduling
        .open_control(&orb, ThreadControlSpec::default())
        .unwrap();
    let tracker: TrackerRef = orb.root_poa().activate(Tracker::new(&scheduling)).unwrap();
    let object = tracker.as_object();
    assert_eq!(ThreadControlRef::of(object).as_ref(), Some(control.reference()));
    let ceiling = SchedulingParameters::Importance { importance: 1 };
    scheduling.set_scheduling_parameter(object, ceiling).unwrap();
}
