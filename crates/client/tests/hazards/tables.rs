//! Which test shows which case: what was measured of other clients, what their users complained about, what is listed.
//!
//! Naming a function that does not exist does not compile; naming one that the runner does not know fails below.

use std::collections::BTreeSet;
use std::process::Command;

use crate::complaints::{approvals, lines, options, process, servers, turns};
use crate::listed::{asking, ending, reading};
use crate::measured;

struct Row {
    number: usize,
    case: &'static str,
    test: &'static str,
}

macro_rules! table {
    ($name:ident: $($number:literal $case:literal => $($test:ident)::+;)*) => {
        const $name: &[Row] = &[$({
            let _: fn() = $($test)::+;
            Row { number: $number, case: $case, test: stringify!($($test)::+) }
        }),*];
    };
}

table! { MEASURED:
    1 "an unknown top-level type" => measured::unknown_top_level_type_is_delivered;
    2 "an unknown content block" => measured::unknown_content_block_is_delivered;
    3 "new fields on assistant and result" => measured::new_fields_on_assistant_and_result_are_kept;
    4 "a line of 2 MB" => measured::a_line_of_two_megabytes_arrives;
    5 "a line of broken JSON" => measured::broken_json_is_one_malformed_event;
    6 "plain text on stdout" => measured::plain_text_on_stdout_is_one_malformed_event;
    7 "a thinking block without signature" => measured::a_thinking_block_without_signature_is_delivered;
    8 "a result without duration_ms" => measured::a_result_without_duration_ends_the_turn;
    9 "exit 7 in the middle of a run, the reason on stderr" => measured::an_exit_mid_run_carries_the_stderr;
    10 "exit 3 while set_model is pending" => measured::an_exit_fails_a_pending_set_model_at_once;
    11 "500 unread messages, then an interrupt" => measured::an_interrupt_with_500_unread_messages_is_answered;
    12 "a pending approval is cancelled" => measured::a_cancelled_approval_is_withdrawn_from_its_handler;
    13 "an unknown inbound control request" => measured::an_unknown_control_request_is_answered_with_an_error;
    14 "a second result that nobody asked for" => measured::an_unsolicited_result_answers_no_prompt;
    15 "the CLI has a grandchild, and is closed" => measured::a_grandchild_is_gone_after_close;
    16 "the CLI ignores EOF and SIGTERM" => measured::a_cli_that_ignores_eof_and_sigterm_is_killed;
}

table! { COMPLAINTS:
    1 "a closed enum of messages" => lines::c01_a_new_message_type_does_not_kill_the_stream;
    2 "the first result closes stdin" => turns::c02_the_first_result_does_not_close_stdin;
    3 "the reader waits for a queue nobody drains" => lines::c03_a_listener_that_does_not_read_deadlocks_nothing;
    4 "a cap of 1 MiB, tripped by parts of a line" => lines::c04_a_long_line_in_many_pieces_does_not_end_the_session;
    5 "a cap that adds up" => lines::c05_the_bound_of_a_line_does_not_add_up;
    6 "tied to the task that opened it" => turns::c06_a_session_wanders_between_tasks_and_threads;
    7 "an exit leaves initialize pending" => process::c07_an_exit_during_the_handshake_is_told_at_once;
    8 "one opaque text for every stalled start" => process::c08_what_stalls_the_handshake_can_be_told_apart;
    9 "an exit code without its stderr" => process::c09_an_exit_has_its_stderr_without_a_listener;
    10 "orphans" => process::c10_nothing_outlives_its_session;
    10 "orphans of a host that was killed" => process::c10_the_agent_dies_with_its_host;
    11 "SIGTERM right after EOF" => process::c11_the_cli_has_time_to_write_its_transcript;
    12 "our own SIGTERM told as an error" => process::c12_our_own_signal_is_no_error;
    13 "a deadline for a person" => approvals::c13_an_approval_may_wait_for_days;
    14 "the handler is silently never called" => approvals::c14_whoever_has_a_handler_is_asked;
    15 "an interrupted turn thrown as a fatal error" => turns::c15_an_interrupted_turn_is_a_result_and_no_error;
    16 "an interrupt without an observable end" => turns::c16_the_end_of_an_interrupted_turn_can_be_waited_for;
    17 "an interrupt that does not say what it ended" => turns::c17_the_receipt_of_an_interrupt_names_what_it_touched;
    18 "turns out of step" => turns::c18_leftover_results_are_nobodys_answer;
    19 "a denial that aborts other calls" => approvals::c19_a_denial_leaves_the_other_calls_alone;
    20 "cards of cancelled approvals stay" => approvals::c20_a_cancelled_approval_takes_its_card_away;
    21 "blocks vanish" => lines::c21_blocks_that_are_in_no_list_are_kept;
    22 "a new word loses the result" => lines::c22_a_word_that_is_in_no_enum_does_not_lose_the_result;
    23 "a server object serves one query" => servers::c23_one_server_serves_many_sessions_at_once;
    24 "hidden inner timeouts" => servers::c24_the_limits_that_are_set_are_the_only_ones;
    25 "long options on argv" => options::c25_long_options_do_not_go_on_the_command_line;
    26 "a process for each query" => process::c26_one_process_answers_many_prompts;
    27 "blocking calls on the event loop" => process::c27_nothing_blocks_the_event_loop;
    28 "a CLI that neither answers nor ends" => process::c28_a_cli_that_neither_answers_nor_ends_is_ended;
    29 "a question before the hooks are registered" => approvals::c29_hooks_are_registered_before_anything_runs;
    30 "the protocol is not documented" => lines::c30_what_is_nowhere_documented_is_measured;
    31 "an interrupt by SIGINT" => turns::c31_an_interrupt_is_no_signal;
    32 "session hooks hit a closed stream" => approvals::c32_a_session_hook_that_is_called_is_answered;
    33 "the environment of an outer session" => options::c33_the_environment_of_an_outer_session_is_not_inherited;
}

table! { LISTED:
    1 "unknown message type" => measured::unknown_top_level_type_is_delivered;
    2 "unknown content block" => measured::unknown_content_block_is_delivered;
    3 "missing field" => reading::a_missing_field_is_named_and_harms_nobody;
    4 "type not first" => reading::a_type_that_does_not_stand_first_is_found;
    5 "20 MB line" => reading::a_line_of_20_mb_arrives_whole;
    6 "300 MB line over the limit" => reading::a_line_of_300_mb_is_over_the_limit;
    6 "300 MB line over a lower limit" => reading::a_line_over_a_lower_limit_costs_that_limit;
    7 "stdout noise that is no JSON" => reading::noise_of_any_bytes_is_told_and_passed_on;
    8 "dies in the middle of a turn" => measured::an_exit_mid_run_carries_the_stderr;
    8 "dies in the middle of a line" => ending::a_death_in_the_middle_of_a_line_is_told_with_what_there_was;
    8 "dies during the handshake" => process::c07_an_exit_during_the_handshake_is_told_at_once;
    9 "handler panics" => asking::a_handler_that_panics_denies;
    10 "handler never answers while 50 others are answered" => asking::one_that_is_never_answered_holds_up_none_of_fifty;
    11 "two approvals in reverse order" => asking::two_approvals_are_answered_in_reverse_order;
    12 "answer after cancel" => approvals::c20_a_cancelled_approval_takes_its_card_away;
    13 "duplicate request id" => asking::a_question_that_is_repeated_is_asked_once;
    13 "duplicate replies" => asking::replies_that_are_double_or_misaddressed_are_named;
    14 "interrupt while an approval is open" => asking::an_interrupt_withdraws_an_open_approval;
    15 "interrupt with 500 unread events" => measured::an_interrupt_with_500_unread_messages_is_answered;
    16 "listener stops for a minute" => reading::who_does_not_read_for_a_minute_is_told_what_was_lost;
    16 "listener never reads" => reading::who_never_reads_costs_a_bounded_amount_of_memory;
    16 "the CLI stops reading" => reading::a_cli_that_does_not_read_is_told_to_the_writer;
    17 "handle dropped with approvals open" => ending::an_agent_let_go_with_approvals_open_runs_none_of_them;
    18 "grandchild holds the pipes open" => ending::a_grandchild_that_holds_the_pipes_open_delays_no_end;
    18 "stdout closed, process alive" => ending::a_closed_stdout_is_the_end_of_the_agent;
    19 "100 sessions in one process" => ending::a_hundred_sessions_in_one_process;
}

#[test]
fn every_case_has_its_test() {
    let output = Command::new(std::env::current_exe().unwrap())
        .arg("--list")
        .output()
        .unwrap();
    let listed = String::from_utf8(output.stdout).unwrap();
    let known: BTreeSet<&str> = listed
        .lines()
        .filter_map(|line| line.strip_suffix(": test"))
        .collect();
    for (table, rows, count) in [
        ("measured", MEASURED, 16),
        ("complaints", COMPLAINTS, 33),
        ("listed", LISTED, 19),
    ] {
        let numbers: BTreeSet<usize> = rows.iter().map(|row| row.number).collect();
        let all: BTreeSet<usize> = (1..=count).collect();
        assert_eq!(numbers, all, "{table} leaves rows out or invents some");
        for row in rows {
            // The table names a test by its last module, the runner by its whole path.
            let test = row.test.replace(' ', "");
            let is_it = |name: &&&str| **name == test || name.ends_with(&format!("::{test}"));
            let (number, case) = (row.number, row.case);
            let found = known.iter().find(is_it);
            assert!(found.is_some(), "{table} {number}, {case}: no test {test}");
        }
    }
}
