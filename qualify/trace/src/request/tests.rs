//! Joining of requests from made-up flight records.

use punctual_flight::operation_id;

use super::*;

const OPERATION: &str = "method";

fn link() -> Link {
    Link::of_ports(40_000, 2809)
}

fn at(time_ns: u64, record: Record) -> Record {
    Record { time_ns, ..record }
}

fn thread(thread: i32, records: Vec<Record>) -> ThreadRecords {
    ThreadRecords {
        process: thread / 10,
        process_name: String::new(),
        thread,
        name: format!("thread-{thread}"),
        records,
        overwritten: 0,
        operations: Vec::new(),
    }
}

/// Returns the records of a call at these times: begin, encoded, sent, received, end.
fn call_at(times: [u64; 5], id: u32, link: Link) -> Vec<Record> {
    let of_it = |event| Record::new(event).request(id).link(link);
    let begin = Record::new(Event::CallBegin)
        .priority(9)
        .detail(operation_id(OPERATION));
    vec![
        at(times[0], begin),
        at(times[1], of_it(Event::Encoded)),
        at(times[2], of_it(Event::Sent)),
        at(times[3], of_it(Event::ReplyReceived)),
        at(times[4], Record::new(Event::CallEnd)),
    ]
}

/// Returns the records of a service at these times: woken, read, served and placed, upcall begin and end,
/// done.
fn service_at(times: [u64; 6], id: u32, link: Link) -> Vec<Record> {
    let link = link.reversed();
    let served = Record::new(Event::Served)
        .request(id)
        .link(link)
        .priority(5)
        .detail(operation_id(OPERATION));
    vec![
        at(times[0], Record::new(Event::Woken)),
        at(times[1], Record::new(Event::Read).link(link)),
        at(times[2], served),
        at(
            times[2],
            Record::new(Event::Placed)
                .priority(7)
                .detail(model::SERVER_DECLARED),
        ),
        at(times[3], Record::new(Event::UpcallBegin)),
        at(times[4], Record::new(Event::UpcallEnd)),
        at(times[5], Record::new(Event::ReplySent).link(link)),
    ]
}

#[test]
fn both_sides_are_joined() {
    let client = thread(11, call_at([10, 20, 30, 90, 95], 3, link()));
    let server = thread(21, service_at([40, 45, 50, 55, 70, 80], 3, link()));
    let found = requests(&[server, client]);
    assert_eq!(
        found,
        [Request {
            id: 3,
            link: link(),
            operation: operation_id(OPERATION),
            priority: Some(9),
            client: 11,
            client_process: 1,
            begin_ns: 10,
            encoded_ns: 20,
            sent_ns: 30,
            received_ns: Some(90),
            end_ns: 95,
            failed: false,
            service: Some(Service {
                thread: 21,
                process: 2,
                taken_ns: 40,
                read_ns: Some(45),
                served_ns: 50,
                upcall_begin_ns: Some(55),
                upcall_end_ns: Some(70),
                done_ns: Some(80),
                priority: Some(7),
                model: Model::ServerDeclared,
            }),
        }]
    );
}

#[test]
fn reused_ids_and_ports_are_distinguished_by_time() {
    let mut client = call_at([10, 20, 30, 90, 95], 3, link());
    client.extend(call_at([110, 120, 130, 190, 195], 3, link()));
    // The first one was never served here; the service before both belongs to neither.
    let mut server = service_at([1, 2, 3, 4, 5, 6], 3, link());
    server.extend(service_at([140, 145, 150, 155, 170, 180], 3, link()));
    let found = requests(&[thread(11, client), thread(21, server)]);
    let served: Vec<_> = found
        .iter()
        .map(|request| request.service.as_ref().map(|service| service.served_ns))
        .collect();
    assert_eq!(served, [None, Some(150)]);
}

#[test]
fn requests_are_distinguished_by_connection_and_operation() {
    let other_link = Link::of_ports(40_001, 2809);
    let client = thread(11, call_at([10, 20, 30, 90, 95], 3, link()));
    let server = thread(21, service_at([40, 45, 50, 55, 70, 80], 3, other_link));
    assert_eq!(requests(&[client.clone(), server])[0].service, None);
    let mut other_operation = service_at([40, 45, 50, 55, 70, 80], 3, link());
    other_operation[2].detail = operation_id("other");
    assert_eq!(requests(&[client, thread(21, other_operation)])[0].service, None);
}

#[test]
fn without_ports_the_best_matching_connection_is_used() {
    // Two clients in one process; both number their requests from 0.
    let (first, second) = (Link::without_ports(1), Link::without_ports(2));
    let mut one = call_at([10, 20, 30, 90, 95], 0, first);
    one.extend(call_at([110, 120, 130, 190, 195], 1, first));
    let mut two = call_at([12, 22, 32, 140, 145], 0, second);
    two.extend(call_at([150, 152, 154, 180, 185], 1, second));
    // The server numbers connections differently. Its first reply would match either request.
    let (third, fourth) = (Link::without_ports(4), Link::without_ports(3));
    let mut server = service_at([40, 45, 50, 55, 70, 80], 0, third);
    server.extend(service_at([91, 92, 93, 94, 95, 96], 0, fourth));
    server.extend(service_at([131, 132, 133, 134, 135, 136], 1, third));
    server.extend(service_at([160, 161, 162, 163, 164, 165], 1, fourth));
    let found = requests(&[thread(11, one), thread(12, two), thread(21, server)]);
    let summary: Vec<_> = found
        .iter()
        .map(|request| {
            (
                request.client,
                request.id,
                request.service.as_ref().map(|service| service.served_ns),
            )
        })
        .collect();
    assert_eq!(
        summary,
        [
            (11, 0, Some(50)),
            (12, 0, Some(93)),
            (11, 1, Some(133)),
            (12, 1, Some(162))
        ]
    );
}

#[test]
fn calls_of_servants_are_nested_records() {
    let (outer, inner) = (link(), Link::of_ports(41_000, 2810));
    let mut server = service_at([40, 45, 50, 55, 170, 180], 3, outer);
    let nested = call_at([60, 61, 62, 163, 164], 8, inner);
    server.splice(5..5, nested);
    // While it waits, it serves another request of the same connection.
    let visit = service_at([70, 71, 72, 73, 74, 75], 4, outer);
    server.splice(8..8, visit);
    let mut client = call_at([10, 20, 30, 190, 195], 3, outer);
    client.extend(call_at([210, 220, 230, 290, 295], 5, outer));
    let visitor = call_at([65, 66, 67, 80, 81], 4, outer);
    let found = requests(&[thread(11, client), thread(12, visitor), thread(21, server)]);
    let summary: Vec<_> = found
        .iter()
        .map(|request| {
            (
                request.id,
                request
                    .service
                    .as_ref()
                    .map(|service| (service.served_ns, service.done_ns)),
            )
        })
        .collect();
    assert_eq!(
        summary,
        [
            (3, Some((50, Some(180)))),
            (8, None),
            (4, Some((72, Some(75)))),
            (5, None),
        ]
    );
}

#[test]
fn retries_oneway_calls_and_incomplete_records() {
    // The first attempt found its connection closed.
    let mut records = call_at([10, 20, 30, 90, 95], 3, link());
    records.insert(1, at(15, Record::new(Event::Encoded).request(9)));
    let found = requests(&[thread(11, records)]);
    assert_eq!((found[0].id, found[0].encoded_ns), (3, 20));
    // Oneway: no reply.
    let mut records = call_at([10, 20, 30, 90, 95], 3, link());
    records.remove(3);
    assert_eq!(requests(&[thread(11, records)])[0].received_ns, None);
    // Nothing was sent; or the start has been overwritten.
    let mut records = call_at([10, 20, 30, 90, 95], 3, link());
    assert_eq!(requests(&[thread(11, records.split_off(1))]), []);
    assert_eq!(
        requests(&[thread(21, service_at([1, 2, 3, 4, 5, 6], 1, link()).split_off(3))]),
        []
    );
}

#[test]
fn an_abandoned_message_does_not_absorb_the_next_one() {
    let mut server = vec![
        at(1, Record::new(Event::Woken)),
        at(2, Record::new(Event::Read).link(link().reversed())),
    ];
    server.extend(service_at([40, 45, 50, 55, 70, 80], 3, link()));
    let client = thread(11, call_at([10, 20, 30, 90, 95], 3, link()));
    let found = requests(&[client, thread(21, server)]);
    assert_eq!(
        found[0].service.as_ref().map(|service| service.taken_ns),
        Some(40)
    );
}
