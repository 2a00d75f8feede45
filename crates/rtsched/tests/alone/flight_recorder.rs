//! Records of distributable threads in the flight recorder, on both hosts, which make up one track each;
//! without allocations.

use punctual_fixtures::{Folder, eventually, skip_error};
use punctual_flight::{Event, Record, Settings};
use punctual_os::{TaskId, alloc_counter::count_allocations};
use punctual_rtsched::SchedulingError;

use crate::hosts::{Host, importance};

pub fn a_distributable_thread_is_recorded_at_each_host() {
    let folder = match Folder::in_memory("recorded-threads") {
        Ok(folder) => folder,
        Err(error) => return skip_error(&error),
    };
    if let Err(error) = punctual_flight::start(&Settings::new(&*folder)) {
        return skip_error(&error);
    }
    let (client, server) = (Host::new(), Host::new());
    let carrier = server.serve_with(1, |_| Ok(TaskId::current_thread().get()));
    let carrier = client.resolve(&carrier);
    let current = client.scheduling.current();
    let (id, lane) = current
        .segment("track", importance(5), |segment| {
            let lane = carrier.work(0)?;
            segment.update(importance(6))?;
            carrier.post(0)?;
            Ok::<_, SchedulingError>((current.id()?, lane))
        })
        .unwrap();
    let rounds = || {
        for _ in 0..50 {
            let round = current.segment("a name that does not fit", importance(5), |segment| {
                segment.update(importance(6))?;
                Ok::<_, SchedulingError>(carrier.work(0)?)
            });
            round.unwrap();
        }
    };
    rounds();
    let ((), allocated) = count_allocations(rounds);
    assert_eq!(allocated, 0);
    eventually("it has left", || server.scheduling.threads() == 0);

    let id = id.0 as u64;
    let at_client = noted(&folder, TaskId::current_thread().get());
    use Event::{
        DistributableThreadReceived as Received, DistributableThreadResumed as Resumed,
        DistributableThreadReturned as Returned, DistributableThreadSent as Sent,
        DistributableThreadSpawned as Spawned, DistributableThreadSuspended as Suspended, SegmentBegin,
        SegmentEnd, SegmentName, SegmentUpdate,
    };
    let events: Vec<_> = at_client.iter().map(|record| record.event).take(12).collect();
    let expected = [
        SegmentBegin,
        SegmentName,
        Resumed,
        Suspended,
        Sent,
        Returned,
        Resumed,
        SegmentUpdate,
        Spawned,
        SegmentEnd,
        Suspended,
        SegmentBegin,
    ];
    assert_eq!(events, expected);
    assert_eq!(at_client[1].text(), "track");
    let spawned = at_client[8].detail;
    for (place, record) in at_client[..11].iter().enumerate() {
        let is_its = record.detail == id;
        assert_eq!(is_its, ![1, 8].contains(&place), "{place}: {record:?}");
    }
    assert_eq!(at_client[12].text(), "a name that does not");

    let at_server = noted(&folder, lane);
    let visit = [
        Received,
        SegmentBegin,
        SegmentName,
        Resumed,
        SegmentEnd,
        Suspended,
    ];
    for (records, (id, operation)) in at_server
        .chunks(visit.len())
        .zip([(id, "work"), (spawned, "post")])
    {
        let events: Vec<_> = records.iter().map(|record| record.event).collect();
        assert_eq!(events, visit);
        assert_eq!([0, 1, 3, 4, 5].map(|place: usize| records[place].detail), [id; 5]);
        assert_eq!(records[2].text(), operation);
    }
}

/// Records of distributable threads by an OS thread.
fn noted(folder: &Folder, thread: i32) -> Vec<Record> {
    let threads = punctual_flight::read_folder(folder).unwrap();
    let found = threads.into_iter().find(|found| found.thread == thread);
    let records = found.expect("it has recorded something").records.into_iter();
    records
        .filter(|record| record.event as u8 >= Event::SegmentBegin as u8)
        .collect()
}
