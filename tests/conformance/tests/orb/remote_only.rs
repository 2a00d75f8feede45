//! Calls to objects of the same ORB that go over a connection all the same: `PolicyOverrides::remote_only`.

use punctual::{Interface, PolicyOverrides};
use punctual_fixtures::{conformance::ProbeRef, server::Server};
use punctual_os::TaskId;

#[test]
fn the_objects_lane_executes_them() {
    let server = Server::start();
    let own = TaskId::current_thread().get();
    assert_eq!(server.probe.thread(), Ok(own));
    let policies = PolicyOverrides::new().remote_only(true);
    let remote = ProbeRef::from_object(server.probe.as_object().with_policies(policies));
    assert_ne!(remote.thread().unwrap(), own);
    assert_eq!(server.seen(0).requests, 1);
    // The other reference is as before, and so is explicit binding of both.
    assert_eq!(server.probe.thread(), Ok(own));
    assert_eq!(remote.as_object().validate_connection(), Ok(()));
    assert_eq!(server.seen(0).requests, 1);
}
