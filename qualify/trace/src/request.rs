//! Requests, joined from the flight records of client and server.

mod without_ports;

use std::collections::HashMap;

use punctual_flight::{Event, Link, Record, ThreadRecords, model};

use crate::event::ThreadId;
use without_ports::name_by_client;

/// Call over a connection, as recorded by its client. Times are in nanoseconds of the monotonic clock.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Request {
    /// GIOP request id.
    pub id: u32,
    /// Connection, seen from the client.
    pub link: Link,
    /// Operation, as numbered by [`punctual_flight::operation_id`].
    pub operation: u64,
    /// CORBA priority of the caller.
    pub priority: Option<i16>,
    /// Calling thread.
    pub client: ThreadId,
    /// Process of the client.
    pub client_process: i32,
    /// Time of the application's call.
    pub begin_ns: u64,
    /// Time at which the request was encoded.
    pub encoded_ns: u64,
    /// Time at which the request was sent.
    pub sent_ns: u64,
    /// Time at which the caller had read the reply; `None` for oneway and asynchronous calls, and for missing
    /// replies.
    pub received_ns: Option<u64>,
    /// Time at which the application had its result.
    pub end_ns: u64,
    /// Whether the result is an exception: also that of a timeout.
    pub failed: bool,
    /// Server's side, if recorded on this machine.
    pub service: Option<Service>,
}

/// Service of a request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Service {
    /// Serving thread.
    pub thread: ThreadId,
    /// Its process.
    pub process: i32,
    /// Time at which the thread last left its poller, or finished another request: from then on it worked on
    /// this one.
    pub taken_ns: u64,
    /// Time at which the whole request had been read.
    pub read_ns: Option<u64>,
    /// Start of the service.
    pub served_ns: u64,
    /// Start of the upcall.
    pub upcall_begin_ns: Option<u64>,
    /// End of the upcall.
    pub upcall_end_ns: Option<u64>,
    /// Time at which the reply had been sent, or the service ended.
    pub done_ns: Option<u64>,
    /// CORBA priority at which it ran, if the server determines one.
    pub priority: Option<i16>,
    /// Origin of that priority.
    pub model: Model,
}

/// Origin of the priority at which a request runs.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Model {
    /// That of the serving thread, as in CORBA without the real-time extension.
    #[default]
    None,
    /// The caller's.
    ClientPropagated,
    /// The server's.
    ServerDeclared,
}

/// Returns the recorded requests in the order of their sending. Requests that were in progress when recording
/// started, or whose records have been overwritten, are omitted.
pub fn requests(threads: &[ThreadRecords]) -> Vec<Request> {
    let mut requests: Vec<Request> = threads.iter().flat_map(calls_of).collect();
    requests.sort_by_key(|request| request.sent_ns);
    let mut served = Vec::new();
    for thread in threads {
        services_of(thread, |key, service| served.push((key, service)));
    }
    name_by_client(&requests, &mut served);
    let mut services = Services::default();
    for (key, service) in served {
        services.add(key, service);
    }
    services.sort();
    for request in &mut requests {
        request.service = services.take(request);
    }
    requests
}

/// Returns the calls of a thread over connections. Calls within calls, from a servant, are nested records.
fn calls_of(thread: &ThreadRecords) -> Vec<Request> {
    let mut done = Vec::new();
    let mut open: Vec<(Record, Vec<Record>)> = Vec::new();
    for record in &thread.records {
        match record.event {
            Event::CallBegin => open.push((*record, Vec::new())),
            Event::Encoded | Event::Sent | Event::ReplyReceived => {
                if let Some((_, records)) = open.last_mut() {
                    records.push(*record);
                }
            }
            Event::CallEnd => {
                if let Some((begin, records)) = open.pop() {
                    done.extend(call(thread, begin, &records, record));
                }
            }
            _ => {}
        }
    }
    done
}

/// Returns the call of these records: of several attempts, the last one counts. `None`: nothing was sent.
fn call(thread: &ThreadRecords, begin: Record, records: &[Record], end: &Record) -> Option<Request> {
    let last = |event| records.iter().rev().find(|record| record.event == event);
    let sent = last(Event::Sent)?;
    let of_it = |record: &&Record| record.request == sent.request && record.link == sent.link;
    Some(Request {
        id: sent.request,
        link: sent.link,
        operation: begin.detail,
        priority: begin.priority,
        client: thread.thread,
        client_process: thread.process,
        begin_ns: begin.time_ns,
        encoded_ns: last(Event::Encoded)
            .filter(of_it)
            .map_or(sent.time_ns, |record| record.time_ns),
        sent_ns: sent.time_ns,
        received_ns: last(Event::ReplyReceived)
            .filter(of_it)
            .map(|record| record.time_ns),
        end_ns: end.time_ns,
        failed: end.detail != 0,
        service: None,
    })
}

/// Identity of a request, seen from the client.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
struct Key {
    id: u32,
    connection: Connection,
    operation: u64,
}

/// Connection as known to its client; one without ports by its number in a process.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
struct Connection {
    process: Option<i32>,
    link: Link,
}

impl Connection {
    fn of(link: Link, process: i32) -> Self {
        let process = (!link.has_ports()).then_some(process);
        Self { process, link }
    }
}

impl Request {
    /// Returns whether the caller has waited for the reply: not in a oneway or asynchronous call.
    pub fn has_waited(&self) -> bool {
        self.received_ns.is_some() || self.failed
    }

    fn key(&self) -> Key {
        Key {
            id: self.id,
            connection: Connection::of(self.link, self.client_process),
            operation: self.operation,
        }
    }
}

#[derive(Default)]
struct Services {
    by_key: HashMap<Key, Vec<Service>>,
}

impl Services {
    fn add(&mut self, key: Key, service: Service) {
        self.by_key.entry(key).or_default().push(service);
    }

    /// Latest first.
    fn sort(&mut self) {
        for services in self.by_key.values_mut() {
            services.sort_by_key(|service| std::cmp::Reverse(service.served_ns));
        }
    }

    /// Returns the first service within the time of the request, because ports and ids are reused.
    fn take(&mut self, request: &Request) -> Option<Service> {
        let services = self.by_key.get_mut(&request.key())?;
        // Earlier services cannot belong to a later request either.
        while services
            .last()
            .is_some_and(|service| service.served_ns < request.encoded_ns)
        {
            services.pop();
        }
        let until = request.received_ns.unwrap_or(u64::MAX);
        (services.last()?.served_ns <= until)
            .then(|| services.pop())
            .flatten()
    }
}

/// Request in service on a thread.
struct Serving {
    read: Option<Record>,
    taken_ns: u64,
    begun: Option<(Key, Service)>,
}

/// Returns the services of a server's thread. While it waits in an upcall it may serve other requests: nested
/// records.
fn services_of(thread: &ThreadRecords, mut add: impl FnMut(Key, Service)) {
    let mut open: Vec<Serving> = Vec::new();
    let mut free_since = thread.records.first().map_or(0, |record| record.time_ns);
    for record in &thread.records {
        let in_upcall = |serving: &Serving| {
            let upcall =
                |service: &Service| service.upcall_begin_ns.is_some() && service.upcall_end_ns.is_none();
            serving.begun.as_ref().is_some_and(|(_, service)| upcall(service))
        };
        match record.event {
            Event::Woken => free_since = record.time_ns,
            Event::Read | Event::Served => {
                // An unfinished service was abandoned: its connection was closed.
                let begins = match open.last() {
                    None => true,
                    Some(top) if in_upcall(top) => true,
                    Some(top) => {
                        if record.event == Event::Read || top.begun.is_some() {
                            open.pop();
                            true
                        } else {
                            false
                        }
                    }
                };
                if begins {
                    open.push(Serving {
                        read: (record.event == Event::Read).then_some(*record),
                        taken_ns: free_since,
                        begun: None,
                    });
                }
                if record.event == Event::Served
                    && let Some(top) = open.last_mut()
                {
                    top.begun = Some(served(thread, top, *record));
                }
            }
            Event::Placed => {
                if let Some((_, service)) = open.last_mut().and_then(|top| top.begun.as_mut()) {
                    service.priority = record.priority;
                    service.model = match record.detail {
                        model::CLIENT_PROPAGATED => Model::ClientPropagated,
                        model::SERVER_DECLARED => Model::ServerDeclared,
                        _ => Model::None,
                    };
                }
            }
            Event::UpcallBegin => {
                if let Some((_, service)) = open.last_mut().and_then(|top| top.begun.as_mut())
                    && service.upcall_begin_ns.is_none()
                {
                    service.upcall_begin_ns = Some(record.time_ns);
                }
            }
            Event::UpcallEnd => {
                if let Some((_, service)) = open.last_mut().and_then(|top| top.begun.as_mut()) {
                    service.upcall_end_ns = Some(record.time_ns);
                }
            }
            Event::ReplySent | Event::Finished => {
                if let Some((key, mut service)) = open.pop().and_then(|top| top.begun) {
                    service.done_ns = Some(record.time_ns);
                    add(key, service);
                }
                free_since = record.time_ns;
            }
            _ => {}
        }
    }
    // Still in service when recording ended.
    for (key, service) in open.into_iter().filter_map(|serving| serving.begun) {
        add(key, service);
    }
}

fn served(thread: &ThreadRecords, serving: &Serving, record: Record) -> (Key, Service) {
    let key = Key {
        id: record.request,
        connection: Connection::of(record.link.reversed(), thread.process),
        operation: record.detail,
    };
    let service = Service {
        thread: thread.thread,
        process: thread.process,
        taken_ns: serving.taken_ns,
        read_ns: serving.read.map(|read| read.time_ns),
        served_ns: record.time_ns,
        upcall_begin_ns: None,
        upcall_end_ns: None,
        done_ns: None,
        priority: record.priority,
        model: Model::None,
    };
    (key, service)
}

#[cfg(test)]
mod tests;
