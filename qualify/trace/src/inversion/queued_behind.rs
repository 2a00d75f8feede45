//! Inversions that flight records show without kernel events.

use super::{Analysis, Inversion, Waiter, Waiting, Who, charge};
use crate::request::Request;

/// Finds requests that waited in a server while it served a request of a lower CORBA priority.
///
/// For machines whose kernel may not be traced. The use of CPUs is unknown: a lane that is rightly preempted
/// by a higher one looks as if it ran, so an upcall in progress counts as running.
pub fn queued_behind(requests: &[Request]) -> Analysis {
    let mut changes: Vec<(u64, Change)> = Vec::new();
    for (place, request) in requests.iter().enumerate() {
        let Some(service) = &request.service else { continue };
        if request.sent_ns < service.served_ns {
            changes.push((request.sent_ns, Change::Waits(place)));
            changes.push((service.served_ns, Change::IsServed(place)));
        }
        if let (Some(begin), Some(end)) = (service.upcall_begin_ns, service.upcall_end_ns) {
            changes.push((begin, Change::Begins(place)));
            changes.push((end, Change::Ends(place)));
        }
    }
    changes.sort_by_key(|(time, _)| *time);
    let mut found = Analysis::default();
    let (mut waiting, mut in_upcall): (Vec<Inversion>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut now = 0;
    for (time, change) in changes {
        for inversion in &mut waiting {
            let waiter = inversion.waiter.request.map(|place| &requests[place]);
            let behind = in_upcall
                .iter()
                .find(|place| waiter.is_some_and(|waiter| is_behind(waiter, &requests[**place])));
            if let Some(&place) = behind {
                let who = Who::Thread {
                    thread: requests[place]
                        .service
                        .as_ref()
                        .map_or(0, |service| service.thread),
                    level: None,
                    request: Some(place),
                };
                if inversion.culprits.is_empty() {
                    inversion.start_ns = now;
                }
                charge(&mut inversion.culprits, who, time - now);
                inversion.length_ns = inversion.culprits.iter().map(|culprit| culprit.ran_ns).sum();
            }
        }
        now = time;
        match change {
            Change::Waits(place) => waiting.push(Inversion {
                waiter: Waiter {
                    thread: requests[place]
                        .service
                        .as_ref()
                        .map_or(0, |service| service.thread),
                    level: None,
                    request: Some(place),
                    state: Waiting::Queued,
                },
                cpu: 0,
                start_ns: time,
                length_ns: 0,
                culprits: Vec::new(),
            }),
            Change::IsServed(place) => {
                let at = waiting
                    .iter()
                    .position(|inversion| inversion.waiter.request == Some(place));
                let done = at.map(|at| waiting.swap_remove(at));
                found.inversions.extend(done.filter(|done| done.length_ns > 0));
            }
            Change::Begins(place) => in_upcall.push(place),
            Change::Ends(place) => in_upcall.retain(|other| *other != place),
        }
    }
    for inversion in &mut found.inversions {
        inversion
            .culprits
            .sort_by_key(|culprit| std::cmp::Reverse(culprit.ran_ns));
    }
    found.inversions.sort_by_key(|inversion| inversion.start_ns);
    found
}

enum Change {
    Waits(usize),
    IsServed(usize),
    Begins(usize),
    Ends(usize),
}

/// Returns whether the first waits for the second, in the same server, and has a higher priority.
fn is_behind(waiter: &Request, served: &Request) -> bool {
    let process = |request: &Request| request.service.as_ref().map(|service| service.process);
    process(waiter) == process(served) && waiter.priority > served.priority
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inversion::Culprit;
    use crate::request::{Model, Service};
    use punctual_flight::Link;

    fn request(priority: i16, sent_ns: u64, [served_ns, done_ns]: [u64; 2], process: i32) -> Request {
        Request {
            id: 0,
            link: Link::NONE,
            operation: 0,
            priority: Some(priority),
            client: priority.into(),
            client_process: 1,
            begin_ns: sent_ns,
            encoded_ns: sent_ns,
            sent_ns,
            received_ns: Some(done_ns),
            end_ns: done_ns,
            failed: false,
            service: Some(Service {
                thread: 20,
                process,
                taken_ns: served_ns,
                read_ns: None,
                served_ns,
                upcall_begin_ns: Some(served_ns),
                upcall_end_ns: Some(done_ns),
                done_ns: Some(done_ns),
                priority: None,
                model: Model::None,
            }),
        }
    }

    #[test]
    fn only_lower_priorities_of_the_same_server_count() {
        let low = request(1, 0, [10, 100], 2);
        for (other, expected) in [
            (request(9, 40, [100, 120], 2), Some((40, 60))),
            (request(1, 40, [100, 120], 2), None),
            (request(0, 40, [100, 120], 2), None),
            (request(9, 40, [100, 120], 3), None),
            (request(9, 100, [105, 120], 2), None),
        ] {
            let found = queued_behind(&[low.clone(), other.clone()]).inversions;
            let found = found.first().map(|found| (found.start_ns, found.length_ns));
            assert_eq!(found, expected, "{other:?}");
        }
    }

    #[test]
    fn consecutive_culprits_belong_to_one_wait() {
        let requests = [
            request(1, 0, [10, 50], 2),
            request(2, 0, [50, 110], 2),
            request(9, 20, [110, 120], 2),
        ];
        let found = queued_behind(&requests).inversions;
        assert_eq!(found.len(), 2, "{found:?}");
        let high = found
            .iter()
            .find(|found| found.waiter.request == Some(2))
            .unwrap();
        assert_eq!((high.start_ns, high.length_ns), (20, 90));
        let ran: Vec<u64> = high
            .culprits
            .iter()
            .map(|Culprit { ran_ns, .. }| *ran_ns)
            .collect();
        assert_eq!(ran, [60, 30]);
    }
}
