//! Matching of connections without ports, whose ends do not know each other's number.

use std::collections::{HashMap, HashSet};

use super::{Connection, Key, Request, Service};

/// Replaces the connections without ports in the services by the best matching ones of clients.
///
/// A service matches a request of the same id and operation if it is between its sending and its reply. For
/// two ends of one connection all of them match, for others only some, by chance.
pub(super) fn name_by_client(requests: &[Request], served: &mut [(Key, Service)]) {
    let mut calls: HashMap<(u32, u64), Vec<&Request>> = HashMap::new();
    for request in requests.iter().filter(|request| !request.link.has_ports()) {
        calls
            .entry((request.id, request.operation))
            .or_default()
            .push(request);
    }
    let mut votes: HashMap<(Connection, Connection), u32> = HashMap::new();
    for (key, service) in served.iter().filter(|(key, _)| !key.connection.link.has_ports()) {
        let candidates = calls.get(&(key.id, key.operation)).into_iter().flatten();
        for request in candidates.filter(|request| fits(request, service)) {
            *votes
                .entry((key.connection, request.key().connection))
                .or_default() += 1;
        }
    }
    let mut votes: Vec<_> = votes.into_iter().collect();
    // The same result for the same recording, independent of the order in the map.
    votes.sort_by_key(|((server, client), votes)| {
        let number = |connection: &Connection| (connection.process, connection.link.number());
        (std::cmp::Reverse(*votes), number(server), number(client))
    });
    let mut client_of: HashMap<Connection, Connection> = HashMap::new();
    let mut taken: HashSet<Connection> = HashSet::new();
    for ((server, client), _) in votes {
        if !client_of.contains_key(&server) && taken.insert(client) {
            client_of.insert(server, client);
        }
    }
    for (key, _) in served {
        if let Some(client) = client_of.get(&key.connection) {
            key.connection = *client;
        }
    }
}

fn fits(request: &Request, service: &Service) -> bool {
    let until = request.received_ns.unwrap_or(u64::MAX);
    // The reply may be read before its sender has recorded the sending, but not before the end of the upcall.
    let done = service.upcall_end_ns.unwrap_or(service.served_ns);
    request.encoded_ns <= service.served_ns && done <= until
}
