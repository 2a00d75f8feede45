//! Tests that need a process of their own each: they look at all its threads, limit its memory, record all
//! its calls, or need a CPU for themselves.

mod descriptors;
mod flight_recorder;
mod inversion_sources;
mod lane_memory;
mod large_messages;
mod locked_memory;
mod notices;
mod primitives;
mod priority_inversion_with_bands;
mod rt_mutex;
mod signals;
mod thread_failures;
mod threads;

use std::process::ExitCode;

use punctual_fixtures::runner::{self, test_list};

#[global_allocator]
static ALLOCATOR: punctual_os::CountingAllocator = punctual_os::CountingAllocator;

fn main() -> ExitCode {
    runner::run_isolated(&test_list![
        descriptors::a_client_that_has_gone_leaves_no_descriptor,
        descriptors::unused_connections_make_room_where_no_descriptor_is_free,
        flight_recorder::a_call_leaves_its_records_on_both_sides,
        inversion_sources::connection_cache_low_priority_connections_come_first_only_without_lanes,
        inversion_sources::reactor_requests_are_told_apart_only_with_lanes,
        inversion_sources::memory_freestore_a_large_request_costs_others_allocations_only_without_lanes,
        inversion_sources::leader_followers_middle_priority_work_delays_the_leader_only_without_lanes,
        inversion_sources::poa_a_million_activations_delay_nobody_with_lanes,
        large_messages::a_large_message_leaves_no_memory_in_use,
        large_messages::a_value_for_which_there_is_no_memory_costs_its_call,
        lane_memory::ten_lanes_take_less_than_ten_mebibytes,
        lane_memory::ten_lanes_take_less_than_ten_mebibytes_of_locked_memory,
        lane_memory::ten_lanes_with_resident_stacks_take_more,
        locked_memory::locked_memory_is_resident_before_it_is_touched,
        notices::a_callback_that_no_thread_serves_is_reported,
        primitives::primitives_of_the_request_path_keep_their_budgets,
        priority_inversion_with_bands::only_lanes_and_bands_together_let_the_urgent_one_pass,
        priority_inversion_with_bands::the_urgent_one_interrupts_what_runs,
        rt_mutex::lock_and_unlock,
        rt_mutex::without_contention_it_makes_no_system_call,
        rt_mutex::try_lock_without_wait_returns_at_once,
        rt_mutex::try_lock_waits_as_long_as_it_was_told,
        rt_mutex::one_thread_at_a_time,
        rt_mutex::a_panic_unlocks,
        rt_mutex::a_thread_that_ends_with_it_is_succeeded,
        rt_mutex::named_mutexes_are_one_for_each_name_and_orb,
        rt_mutex::a_destroyed_mutex_is_gone_for_all,
        rt_mutex::waiters_get_it_by_priority,
        rt_mutex::inheritance_keeps_medium_from_running_before_high,
        rt_mutex::a_ceiling_keeps_medium_from_running_before_high,
        rt_mutex::without_either_medium_runs_before_high,
        rt_mutex::the_owner_runs_at_the_ceiling_and_afterwards_as_before,
        rt_mutex::a_wait_in_vain_for_a_ceiling_restores_the_priority,
        rt_mutex::in_the_ordinary_class_a_ceiling_raises_nobody,
        rt_mutex::a_caller_above_the_ceiling_is_told,
        signals::a_signal_sets_the_flag_and_wakes_the_poller,
        thread_failures::a_refused_thread_is_counted_and_its_requests_are_served_later,
        threads::there_are_the_configured_threads_and_no_others,
    ])
}
