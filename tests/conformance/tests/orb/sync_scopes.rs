//! Until when oneway calls wait: `Messaging::SyncScopePolicy`.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use punctual::{
    ConnectionMode, Interface, Orb, PolicyOverrides, SchedulingClass, SyncScope, SystemException,
    SystemExceptionKind,
};
use punctual_fixtures::{
    conformance::ProbeRef,
    server::{Server, Setup, client},
};

use punctual_cdr::Encode;
use punctual_stub::Phase;

/// Calls an operation with a long as oneway.
fn oneway(probe: &ProbeRef, operation: &str) -> Result<(), SystemException> {
    probe.as_object().oneway(operation, |phase| match phase {
        Phase::Arguments(encoder) => 7_i32.encode(encoder),
        Phase::Results(_) => Ok(()),
    })
}

/// A client whose calls are exclusive, or share a connection.
fn clients() -> [(Orb, ConnectionMode); 2] {
    let shared = client();
    let replies = shared
        .threadpool()
        .scheduling_class(SchedulingClass::Other)
        .build()
        .unwrap();
    shared.set_reply_threadpool(&replies).unwrap();
    [
        (client(), ConnectionMode::Exclusive),
        (shared, ConnectionMode::Shared),
    ]
}

fn with_scope(probe: &ProbeRef, mode: ConnectionMode, scope: SyncScope) -> ProbeRef {
    let policies = PolicyOverrides::new().connection_mode(mode).sync_scope(scope);
    ProbeRef::from_object(probe.as_object().with_policies(policies))
}

#[test]
fn the_caller_waits_for_the_transport_the_server_or_the_servant() {
    for (client, mode) in clients() {
        for scope in [SyncScope::None, SyncScope::Transport, SyncScope::Server] {
            let server = Server::start();
            let probe = server.reference_for(&client);
            oneway(&with_scope(&probe, mode, scope), "wait_at_gate").unwrap();
            server.hooks.await_at_gate(1);
            server.hooks.open_gate();
        }
        let server = Server::start();
        let probe = server.reference_for(&client);
        let probe = with_scope(&probe, mode, SyncScope::Target);
        let returned = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                oneway(&probe, "wait_at_gate").unwrap();
                returned.store(true, Ordering::SeqCst);
            });
            server.hooks.await_at_gate(1);
            assert!(
                !returned.load(Ordering::SeqCst),
                "{mode:?}: the servant has not returned"
            );
            server.hooks.open_gate();
        });
        assert!(returned.load(Ordering::SeqCst));
    }
}

#[test]
fn exceptions_reach_callers_that_wait_long_enough() {
    for (client, mode) in clients() {
        let server = Setup::default().start();
        let probe = server.reference_for(&client);
        let kind_of = |scope, operation: &str| {
            let result = oneway(&with_scope(&probe, mode, scope), operation);
            result.err().map(|exception| exception.kind)
        };
        for scope in [SyncScope::None, SyncScope::Transport, SyncScope::Server] {
            assert_eq!(kind_of(scope, "no_such_operation"), None, "{mode:?} {scope:?}");
        }
        let unknown = kind_of(SyncScope::Target, "no_such_operation");
        assert_eq!(unknown, Some(SystemExceptionKind::BadOperation), "{mode:?}");
        server.poa.destroy().unwrap();
        assert_eq!(kind_of(SyncScope::Transport, "twice"), None, "{mode:?}");
        for scope in [SyncScope::Server, SyncScope::Target] {
            let gone = kind_of(scope, "twice");
            assert_eq!(
                gone,
                Some(SystemExceptionKind::ObjectNotExist),
                "{mode:?} {scope:?}"
            );
        }
    }
}
