//! Commands of `punctual` that measure or watch processes. One runs at a time: two would disturb each other.

mod demo;
mod endings;
mod endsystem;
mod experiments;
mod explain;
mod measurement;
mod orb_benchmarks;
mod scheduling_benchmarks;
mod top;
mod trace;

use std::process::ExitCode;

use punctual_fixtures::runner::{self, test_list};

fn main() -> ExitCode {
    runner::run(&test_list![
        demo::demo_runs_and_writes_what_other_tools_read,
        demo::impossible_length_is_a_wrong_command_line,
        endings::ctrl_c_says_that_the_machine_is_as_before,
        endings::a_pipe_that_ends_ends_the_measurement_without_a_word,
        endings::a_full_disk_ends_the_measurement_with_an_error,
        endings::unwritable_files_are_reported_first,
        endings::standard_output_is_a_file_as_well,
        endsystem::the_list_has_all_of_them,
        endsystem::protocols_prevent_every_inversion_and_without_one_there_are_all,
        endsystem::a_semaphore_wakes_the_most_important_waiter,
        experiments::experiment_1_runs_and_writes_what_other_tools_read,
        experiments::a_killed_run_leaves_no_process_and_no_network,
        explain::a_thread_that_keeps_the_cpu_from_a_call_is_named_with_its_priority,
        explain::benchmarks_without_single_latencies_refuse_at_once,
        explain::what_is_traced,
        orb_benchmarks::throughput_has_every_type_on_each_placement,
        orb_benchmarks::context_switches_are_counted_for_each_number_of_clients,
        orb_benchmarks::demultiplexing_is_timed_for_each_arrangement,
        orb_benchmarks::calls_of_omniorb_are_beside_ours,
        orb_benchmarks::footprint_knows_the_layers_and_servers_grow_with_their_lanes,
        scheduling_benchmarks::mif_and_tp_give_the_papers_schedule,
        scheduling_benchmarks::hand_overs_are_timed_each_way_and_decisions_allocate_nothing,
        scheduling_benchmarks::operations_are_cancelled_instead_of_missed_in_virtual_time,
        scheduling_benchmarks::the_tables_of_the_paper_about_storage_are_filled,
        top::a_single_snapshot_is_a_table_or_json,
        top::a_single_orb_is_found_and_several_are_an_error,
        top::services_remove_their_sockets_when_they_are_told_to_end,
        top::an_orb_that_does_not_answer_is_not_missing,
        top::an_orb_that_ends_is_reported,
        top::the_terminal_is_restored_however_top_ends,
        top::top_ends_when_its_terminal_is_closed,
        trace::what_is_written_agrees_with_the_exit_code,
        trace::a_command_that_fails_is_named,
        trace::calls_of_an_orb_are_recorded_on_both_sides,
        trace::a_server_that_is_not_recorded_is_named,
        trace::wrong_command_lines_say_what_is_missing,
        trace::a_killed_trace_leaves_neither_instance_nor_command,
        trace::processes_of_the_command_end_with_the_time,
        trace::processes_that_the_command_leaves_behind_are_ended,
    ])
}
