//! Records of the flight recorder for a call on both sides: they can be joined, and cost no allocation.
//!
//! One test: the recorder is on or off for the whole process.

use punctual::{Orb, Priority, PriorityModel, SchedulingClass};
use punctual_fixtures::{Folder, server::Setup, skip_error};
use punctual_flight::{Event, Record, Settings, ThreadRecords, model, operation_id};
use punctual_os::{TaskId, alloc_counter::count_allocations};

pub fn a_call_leaves_its_records_on_both_sides() {
    let folder = match Folder::in_memory("recorded") {
        Ok(folder) => folder,
        Err(error) => return skip_error(&error),
    };
    if let Err(error) = punctual_flight::start(&Settings::new(&*folder)) {
        return skip_error(&error);
    }
    let client = Orb::builder()
        .scheduling_class(SchedulingClass::Other)
        .build()
        .unwrap();
    let mut setup = Setup {
        model: Some(PriorityModel::ServerDeclared(Priority::new(7).unwrap())),
        ..Setup::default()
    };
    setup.pool = |pool| pool.lane(Priority::new(7).unwrap(), 1);
    let server = setup.start();
    let probe = server.reference_for(&client);
    client.current().set_priority(Priority::new(9).unwrap()).unwrap();
    probe.twice(1).unwrap();
    let before = probe.allocations().unwrap();
    let ((), allocated) = count_allocations(|| (0..50).for_each(|_| assert_eq!(probe.twice(2), Ok(4))));
    assert_eq!((allocated, probe.allocations().unwrap() - before), (0, 0));
    probe.note(5).unwrap();
    let lane = TaskId::new(probe.thread().unwrap()).unwrap();

    let threads = punctual_flight::read_folder(&folder).unwrap();
    let of = |thread: TaskId| -> &ThreadRecords {
        threads.iter().find(|found| found.thread == thread.get()).unwrap()
    };
    let (client, server) = (of(TaskId::current_thread()), of(lane));
    assert_eq!(client.process, server.process);
    let times = |records: &[Record]| records.iter().map(|record| record.time_ns).collect::<Vec<_>>();
    assert!(times(&client.records).is_sorted() && times(&server.records).is_sorted());

    let twice = operation_id("twice");
    let calls: Vec<&[Record]> = client
        .records
        .chunk_by(|_, next| next.event != Event::CallBegin)
        .filter(|call| call[0].event == Event::CallBegin && call[0].detail == twice)
        .collect();
    assert!(calls.len() >= 51, "{}", calls.len());
    for call in &calls {
        let events: Vec<_> = call.iter().map(|record| record.event).collect();
        use Event::{CallBegin, CallEnd, Encoded, ReplyReceived, Sent};
        assert_eq!(events, [CallBegin, Encoded, Sent, ReplyReceived, CallEnd]);
        assert_eq!(call[0].priority, Some(9));
        let sent = call[2];
        assert!(sent.link.has_ports() && sent.link.peer_port() == server_port(&server.records));
        assert_eq!(
            [call[1], call[3]].map(|other| (other.link, other.request)),
            [(sent.link, sent.request); 2]
        );
        assert_served(server, sent, twice);
    }
    let note = operation_id("note");
    let at = client
        .records
        .iter()
        .position(|record| record.detail == note)
        .unwrap();
    let events: Vec<_> = client.records[at..at + 4]
        .iter()
        .map(|record| record.event)
        .collect();
    assert_eq!(
        events,
        [Event::CallBegin, Event::Encoded, Event::Sent, Event::CallEnd]
    );
    let at = server
        .records
        .iter()
        .position(|record| record.detail == note)
        .unwrap();
    let events: Vec<_> = server.records[at..at + 5]
        .iter()
        .map(|record| record.event)
        .collect();
    assert_eq!(
        events,
        [
            Event::Served,
            Event::Placed,
            Event::UpcallBegin,
            Event::UpcallEnd,
            Event::Finished
        ]
    );
}

fn server_port(records: &[Record]) -> u16 {
    let accepted = records.iter().find(|record| record.event == Event::Accepted);
    accepted.expect("a connection was accepted").link.local_port()
}

/// The lane's records of a request, from its reading to its reply, between which nothing else was recorded.
fn assert_served(server: &ThreadRecords, sent: Record, operation: u64) {
    let is_it = |record: &Record| {
        record.event == Event::Served && (record.link, record.request) == (sent.link.reversed(), sent.request)
    };
    let at = server
        .records
        .iter()
        .position(is_it)
        .expect("the request was served");
    let served = server.records[at];
    assert_eq!((served.detail, served.priority), (operation, Some(7)));
    let around = &server.records[at - 2..at + 5];
    let events: Vec<_> = around.iter().map(|record| record.event).collect();
    use Event::{Placed, Read, ReplySent, Served, UpcallBegin, UpcallEnd, Woken};
    assert_eq!(
        events,
        [Woken, Read, Served, Placed, UpcallBegin, UpcallEnd, ReplySent]
    );
    assert_eq!([around[1].link, around[6].link], [sent.link.reversed(); 2]);
    assert_eq!(
        [around[3].priority, around[4].priority],
        [Some(7); 2],
        "where it runs, and what the servant sees"
    );
    assert_eq!(around[3].detail, model::SERVER_DECLARED);
}
