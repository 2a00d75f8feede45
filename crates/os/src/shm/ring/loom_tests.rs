//! Model of one direction: every interleaving of a writer and a reader.

use loom::{
    cell::UnsafeCell,
    sync::{Arc, Notify},
    thread,
};

use super::*;

const CAPACITY: u64 = 2;

struct Connection {
    control: Control,
    slots: [UnsafeCell<u64>; CAPACITY as usize],
    doorbell_of_reader: Notify,
    doorbell_of_writer: Notify,
}

/// Loom fails if an octet is read while it is written, or if one side sleeps forever.
#[test]
fn no_octet_is_torn_and_no_side_sleeps_for_ever() {
    const OCTETS: u64 = 4;
    let mut model = loom::model::Builder::new();
    // As for the object table: without a bound the model takes minutes.
    model.preemption_bound = Some(3);
    model.check(|| {
        let connection = Arc::new(Connection {
            control: Control {
                of_writer: WriterWords {
                    written: AtomicU64::new(0),
                    waits: AtomicU32::new(0),
                    closed: AtomicU32::new(0),
                },
                of_reader: ReaderWords {
                    read: AtomicU64::new(0),
                    sleeps: AtomicU32::new(1),
                },
            },
            slots: [UnsafeCell::new(0), UnsafeCell::new(0)],
            doorbell_of_reader: Notify::new(),
            doorbell_of_writer: Notify::new(),
        });
        let writing = {
            let connection = connection.clone();
            thread::spawn(move || write_all(&connection, OCTETS))
        };
        read_all(&connection, OCTETS);
        writing.join().unwrap();
    });
}

fn write_all(connection: &Connection, octets: u64) {
    let writer = Writer::new(CAPACITY);
    let mut next = 0;
    while next < octets {
        let (position, room) = writer.room(&connection.control, octets - next).unwrap();
        let count = room.min(octets - next);
        if count == 0 {
            if !writer.wait(&connection.control).unwrap() {
                connection.doorbell_of_writer.wait();
            }
            continue;
        }
        for index in position..position + count {
            connection.slots[(index % CAPACITY) as usize].with_mut(|_| ());
            assert_eq!(index, next);
            next += 1;
        }
        if writer.publish(&connection.control, count) {
            connection.doorbell_of_reader.notify();
        }
    }
}

/// Reads like `Segment::read`, and then waits.
fn read_all(connection: &Connection, octets: u64) {
    let reader = Reader::new(CAPACITY);
    let mut next = 0;
    while next < octets {
        let (position, available) = reader.available(&connection.control).unwrap();
        for index in position..position + available {
            connection.slots[(index % CAPACITY) as usize].with(|_| ());
            assert_eq!(index, next);
            next += 1;
        }
        let settled = reader.settle(&connection.control, available, true).unwrap();
        if settled.wake_writer {
            connection.doorbell_of_writer.notify();
        }
        if settled.is_empty && next < octets {
            connection.doorbell_of_reader.wait();
        }
    }
}
