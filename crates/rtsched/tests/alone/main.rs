//! Tests that need a process of their own each: they count allocations, use all keys or the flight recorder
//! of the process, or need a CPU for themselves.

mod flight_recorder;
#[path = "../rtsched/remote/host.rs"]
#[allow(dead_code, reason = "a part of it is for other tests")]
mod host;
#[path = "../rtsched/threads/hosts.rs"]
#[allow(dead_code, reason = "a part of it is for other tests")]
mod hosts;
mod keys;
mod real_time;
mod remote_calls;
mod resources;
mod storage;
mod threads;
#[path = "../rtsched/remote/tracker.rs"]
#[allow(dead_code, reason = "a part of it is for other tests")]
mod tracker;

use std::process::ExitCode;

use punctual_fixtures::runner::{self, test_list};
use punctual_os::{
    CountingAllocator,
    alloc_counter::{count_allocations, installed},
};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const ROUNDS: usize = 2_000;

fn main() -> ExitCode {
    runner::run_isolated(&test_list![
        flight_recorder::a_distributable_thread_is_recorded_at_each_host,
        keys::all_keys_can_be_created_and_deleted_again,
        real_time::a_more_eligible_thread_preempts_a_running_one,
        real_time::a_passed_thread_waits_at_its_next_scheduling_point,
        real_time::many_threads_all_run_and_regain_their_own_priorities,
        real_time::native_priorities_follow_the_eligibility,
        real_time::threads_hand_over_in_order_while_their_native_priorities_are_spread,
        real_time::decisions_that_depend_on_time_are_taken_in_time,
        real_time::kernel_deadlines_are_used_or_refused_with_the_reason,
        real_time::a_passed_thread_waits_for_its_turn_before_it_calls,
        real_time::calls_in_a_segment_have_the_priority_from_before_it,
        real_time::a_late_operation_does_not_pass_more_eligible_threads,
        real_time::a_passed_thread_stays_passed_under_another_scheduler,
        real_time::a_sleeping_thread_loses_the_priority_of_a_replaced_mechanism,
        real_time::threads_that_begin_together_run_in_their_order,
        remote_calls::a_call_with_a_thread_allocates_nothing_at_either_host,
        resources::locking_allocates_nothing,
        storage::threads_that_begin_store_and_end_allocate_nothing,
        storage::retained_and_new_storage_allocate_nothing,
        threads::segments_and_scheduling_points,
        threads::work_that_is_examined_and_shed,
        threads::schedulers_that_read_processor_times,
        threads::switches_between_threads,
        threads::calls_with_a_context_on_both_sides,
        threads::oneways_and_collocated_calls,
        threads::asynchronous_calls_allocate_no_more_with_a_thread,
    ])
}

/// Returns the number of allocations of many rounds after a few.
fn after_warm_up(mut round: impl FnMut()) -> u64 {
    assert!(installed());
    (0..20).for_each(|_| round());
    count_allocations(|| (0..ROUNDS).for_each(|_| round())).1
}
