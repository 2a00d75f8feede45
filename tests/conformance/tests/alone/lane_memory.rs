//! Memory that lanes take before they serve. A process of its own, because its resident memory is measured.

use std::fs;

use punctual::{LaneSpec, Orb, Priority};

/// Resident memory of this process in octets that is not a file's: stacks and heap.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("procfs");
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kibibytes
        .expect("RssAnon")
        .trim()
        .parse::<u64>()
        .expect("a number")
        * 1024
}

const LANES: i16 = 10;
const MOST: u64 = 10 << 20;
const STACK: usize = 2 << 20;

pub fn ten_lanes_take_less_than_ten_mebibytes() {
    assert!(taken_by_lanes(false, None) < MOST);
}

pub fn ten_lanes_take_less_than_ten_mebibytes_of_locked_memory() {
    assert!(taken_by_lanes(true, None) < MOST);
}

pub fn ten_lanes_with_resident_stacks_take_more() {
    let taken = taken_by_lanes(false, Some(STACK));
    assert!(taken > LANES as u64 * (STACK as u64 - (64 << 10)), "{taken}");
}

/// Resident memory that starting the lanes takes, in octets.
fn taken_by_lanes(lock_memory: bool, prefault_bytes: Option<usize>) -> u64 {
    let before = resident();
    let orb = Orb::builder().lock_memory(lock_memory).build().unwrap();
    let mut pool = orb.threadpool();
    for number in 0..LANES {
        let lane = LaneSpec::new(Priority::new(number * 3000).unwrap());
        pool = pool.lane_with(prefault_bytes.into_iter().fold(lane, LaneSpec::prefault_bytes));
    }
    let pool = pool.build().unwrap();
    let taken = resident() - before;
    println!("{LANES} lanes take {} KiB", taken >> 10);
    for (priority, lane) in pool.statistics() {
        let stack = lane.threads.stack.unwrap();
        assert_eq!(stack.size_bytes, STACK);
        let most = 64 << 10;
        assert!((1..most).contains(&stack.used_bytes), "{priority:?}: {stack:?}");
    }
    taken
}
