//! Each row of the measured tables and each rule that follows from them, by name.
//!
//! A row gives what is expected of an unknown version and of the six measured ones, in order.

use countersign_wire::Extra;
use countersign_wire::cli::ResultSubtype;
use countersign_wire::control::{ControlOutcome, ControlResponse, InitializeReply};
use countersign_wire::permission::{
    DirectoriesUpdate, ModeUpdate, PermissionRule, PermissionUpdate, RuleBehavior, RuleDestination,
    RulesUpdate,
};
use countersign_wire::vocab::{PermissionMode, TerminalReason};
use serde_json::json;

use super::measured::*;
use super::*;

/// The columns of the tables; the first is a version nobody knows.
const COLUMNS: [Option<Version>; 7] = [
    None,
    Some(V1_0_128),
    Some(V2_0_75),
    Some(V2_1_17),
    Some(V2_1_62),
    Some(V2_1_197),
    Some(V2_1_325),
];

const V2_1_30: Version = Version::new(2, 1, 30);

const N: bool = false;
const Y: bool = true;

fn at(version: Version) -> Capabilities {
    Capabilities::of(Some(version))
}

macro_rules! rows {
    ($( $name:ident: $method:ident $(($arg:expr))? => $expected:expr; )*) => {$(
        #[test]
        fn $name() {
            for (version, expected) in COLUMNS.into_iter().zip($expected) {
                let found = Capabilities::of(version).$method($($arg)?);
                assert_eq!(found, expected, "{version:?}");
            }
        }
    )*};
}

//                                                                  ?  1.0.128 2.0.75 2.1.17 2.1.62 2.1.197 2.1.325
rows! {
    stdin_empty_line: survives_empty_line                       => [N, N, N, N, Y, Y, Y];
    stdin_spaces_only: survives_blank_line                      => [N, N, N, N, N, N, Y];
    stdin_unknown_type_and_bare_json: may_send_unknown_type     => [N, N, N, N, Y, Y, Y];
    stdin_content_null: may_send_null_content                   => [N, N, N, N, Y, Y, Y];
    stdin_content_empty_list: may_send_empty_content            => [N, N, N, N, Y, Y, Y];
    stdin_unknown_control_subtype: answers_unknown_requests     => [N, N, N, N, Y, Y, Y];
    stdin_response_without_response: survives_empty_response    => [N, N, N, N, N, N, Y];
    stdin_control_cancel_request: may_send_cancel               => [N, N, N, N, Y, Y, Y];
    stdin_keep_alive: may_send(StdinKind::KeepAlive)            => [Y, Y, Y, Y, Y, Y, Y];
    stdin_user: may_send(StdinKind::User)                       => [Y, Y, Y, Y, Y, Y, Y];
    stdin_control_request: may_send(StdinKind::ControlRequest)  => [Y, Y, Y, Y, Y, Y, Y];
    stdin_control_response: may_send(StdinKind::ControlResponse) => [Y, Y, Y, Y, Y, Y, Y];
    stdin_other_types: may_send(StdinKind::Other)               => [N, N, N, N, Y, Y, Y];
    stdin_update_environment_variables: may_send_env_update     => [N, N, N, Y, Y, Y, Y];
    stdin_environment_reaches_bash: env_update_reaches_bash     => [N, N, N, N, Y, N, N];
    stdin_byte_order_mark: survives_byte_order_mark             => [N, N, N, N, N, N, Y];
    stdin_raw_non_ascii: reads_raw_utf8                         => [N, N, N, N, N, Y, Y];
    stdin_garbage_is_echoed: echoes_bad_lines_to_stderr         => [Y, Y, Y, Y, Y, Y, N];

    answer_allow_without_input: updated_input_required          => [Y, Y, Y, Y, Y, Y, N];
    answer_allow_with_empty_input: empty_input_runs_as_empty    => [Y, Y, Y, Y, Y, N, N];
    answer_allow_in_snake_case: misspelt_input_runs_original    => [Y, N, N, N, N, N, Y];
    answer_input_against_schema: checks_updated_input           => [N, N, N, N, N, Y, Y];
    answer_updates_null: null_updates_deny_tool                 => [Y, Y, Y, Y, Y, N, N];
    answer_unknown_update: bad_update_denies_tool               => [Y, Y, Y, Y, Y, N, N];
    answer_deny_and_stop_message: deny_and_stop_keeps_message   => [N, Y, Y, Y, Y, N, N];
    answer_questions_repeated: questions_must_be_repeated       => [Y, N, N, N, N, Y, Y];

    update_auto_mode: knows_auto_mode                           => [N, N, N, N, N, N, Y];
    update_bypass_needs_launch: bypass_update_needs_allow_flag  => [Y, N, N, N, N, Y, Y];
    update_local_rule_untrusted: honours_local_rules_untrusted  => [N, Y, Y, Y, Y, N, Y];
    update_project_rule_untrusted: honours_project_rules_untrusted => [N, Y, Y, Y, Y, N, N];
    update_remove_cli_rule: can_remove_cli_rules                => [N, N, N, N, N, Y, Y];
    update_deny_rule_is_reported: reports_denials_by_rule       => [N, N, N, N, N, N, Y];
    update_bash_rule_and_paths: bash_rule_covers_paths          => [N, N, Y, N, N, N, Y];

    version_mode_replies: mode_replies                          => [2, 2, 2, 2, 1, 1, 1];
    version_unknown_mode: refuses_unknown_mode                  => [N, N, N, N, N, N, Y];
    version_auto_is_a_word_only: lacks_mode(&PermissionMode::Auto) => [N, Y, Y, Y, Y, N, N];
    version_other_modes_are_words: lacks_mode(&"banana".into()) => [N, Y, Y, Y, Y, Y, N];
    version_id_of_a_fork: takes_id_of_fork                      => [N, N, Y, Y, Y, Y, Y];
    version_rewind_dry_run: rewinds_dry                         => [N, N, N, N, Y, Y, Y];
    version_bypass_without_flag: bypass_needs_allow_flag        => [Y, Y, N, N, N, Y, Y];
    version_status_on_mode_change: status_on_mode_change        => [N, N, N, N, N, Y, Y];
    version_status_in_turn: status_on_mode_change_in_turn       => [N, N, N, N, Y, Y, Y];
    version_mode_before_a_turn: reply_tells_mode                => [N, N, N, N, N, N, Y];
    version_is_error_on_interrupt: interrupt_is_error           => [N, N, N, N, N, Y, Y];
    version_is_error_on_limits: limit_is_error                  => [N, N, N, N, N, Y, Y];
    version_partial_text: keeps_partial_text                    => [N, N, N, N, N, Y, Y];
    version_tools_before_message_stop: tools_start_while_streaming => [Y, N, N, N, N, Y, Y];
    version_hook_and_closed_stdin: hook_fails_open_on_stdin_close => [Y, Y, Y, Y, Y, Y, N];
    version_hook_timeout: hook_timeout_refuses                  => [N, N, N, N, N, Y, Y];
    version_hook_on_failure: hook_on_failure                    => [N, N, N, N, N, N, Y];
    version_hook_input_alone: hook_input_without_decision       => [N, N, N, N, Y, Y, Y];
    version_hook_defer: hook_may_defer                          => [N, N, N, N, N, N, Y];
    version_enter_plan_mode: enter_plan_mode_asks               => [Y, Y, Y, Y, N, N, N];
    version_bash_in_plan_mode: plan_mode_hides_bash             => [Y, N, N, N, N, N, Y];
    version_permission_request_hook: permission_request_hook    => [N, N, N, N, Y, Y, Y];
    version_self_started_turns: self_started_turns              => [N, N, N, N, Y, Y, Y];
    version_background_agent_asks: background_agent_asks        => [Y, N, N, N, N, Y, Y];
    version_eof_and_background: eof_waits_for_background        => [Y, N, N, Y, Y, Y, Y];
    version_sigint: sigint_ends_bash                            => [N, N, N, N, N, Y, Y];
    version_sigterm: sigterm_ends_bash                          => [N, N, N, N, N, N, Y];
    version_resume_elsewhere: resume_from_other_cwd             => [N, N, N, N, N, N, Y];
    version_unknown_resume: unknown_resume_gives_result         => [N, N, N, N, Y, Y, Y];
    version_second_initialize: second_initialize_ok             => [N, N, N, N, N, Y, Y];
    version_is_replay: marks_replays                            => [N, N, Y, Y, Y, Y, Y];
    version_lifecycle: lifecycle_events                         => [N, N, N, N, N, N, Y];
    version_interrupt_receipt: interrupt_receipt                => [N, N, N, N, N, N, Y];
    version_cancel_queued: interrupt_cancels_queued             => [N, N, N, N, N, N, Y];
    version_elicitation: elicitation_reaches_host               => [N, N, N, N, N, N, Y];
    version_schema_never_met: structured_output_gives_up        => [N, N, N, N, N, N, Y];
    version_agents_file: agents_flag_takes_file                 => [N, N, N, N, N, N, Y];
}

use Support::{No, Unmeasured, Yes};

rows! {
    control_initialize: has_control("initialize")               => [Yes; 7];
    control_interrupt: has_control("interrupt")                 => [Yes; 7];
    control_set_permission_mode: has_control("set_permission_mode") => [Yes; 7];
    control_set_model: has_control("set_model")
        => [Unmeasured, Unmeasured, Yes, Yes, Yes, Yes, Yes];
    control_rewind_files: has_control("rewind_files")
        => [Unmeasured, Unmeasured, Yes, Yes, Yes, Yes, Yes];
    control_stop_task: has_control("stop_task")
        => [Unmeasured, No, No, Unmeasured, Yes, Yes, Yes];
    control_end_session: has_control("end_session")
        => [Unmeasured, No, No, No, No, Yes, Yes];
    control_get_settings: has_control("get_settings")
        => [Unmeasured, No, No, No, No, Unmeasured, Yes];
    control_set_color: has_control("set_color")                 => [No; 7];
    control_hook_callback_is_the_clis: has_control("hook_callback") => [No; 7];
    flag_model: flag_supported("--model")                       => [Yes; 7];
    flag_cwd: flag_supported("--cwd")                           => [No; 7];
    flag_additional_directories: flag_supported("--additional-directories") => [No; 7];
    flag_enable_file_checkpointing: flag_supported("--enable-file-checkpointing") => [No; 7];
    flag_allow_dangerously: flag_supported("--allow-dangerously-skip-permissions")
        => [Unmeasured, No, Yes, Yes, Yes, Yes, Yes];
    flag_effort: flag_supported("--effort")
        => [Unmeasured, No, No, Unmeasured, Yes, Yes, Yes];
    flag_thinking: flag_supported("--thinking")
        => [Unmeasured, No, No, Unmeasured, Yes, Yes, Yes];
    flag_name: flag_supported("--name")
        => [Unmeasured, No, No, No, No, Unmeasured, Yes];
    flag_include_hook_events: flag_supported("--include-hook-events")
        => [Unmeasured, No, No, No, No, Unmeasured, Yes];
    field_agents: initialize_reads("agents")                    => [Yes; 7];
    field_prompt_suggestions: initialize_reads("promptSuggestions")
        => [Unmeasured, No, No, Unmeasured, Yes, Yes, Yes];
    field_title: initialize_reads("title")
        => [Unmeasured, No, No, No, No, Unmeasured, Yes];
}

#[test]
fn a_version_between_two_measured_ones_is_treated_with_care() {
    let between = at(Version::new(2, 1, 100));
    assert!(between.updated_input_required());
    assert!(between.bypass_needs_allow_flag());
    assert!(between.hook_fails_open_on_stdin_close());
    assert_eq!(between.has_control("get_settings"), Unmeasured);
    assert_eq!(at(V2_1_30).mode_replies(), 2);
    assert_eq!(at(V2_1_45).mode_replies(), 1);
    assert!(!at(V2_1_30).answers_unknown_requests());
    assert!(at(V2_1_45).answers_unknown_requests());
}

#[test]
fn what_the_cli_says_of_itself_counts() {
    let reply: InitializeReply = serde_json::from_value(json!({
        "commands": [], "output_style": "default", "available_output_styles": [], "models": [],
        "account": {}, "claude_code_version": "2.1.325", "hook_on_failure_supported": false,
        "capabilities": ["interrupt_receipt_v1"],
    }))
    .unwrap();
    let mut capabilities = Capabilities::of(None);
    capabilities.learn_from_reply(&reply);
    assert_eq!(capabilities.version(), Some(V2_1_325));
    assert!(
        !capabilities.hook_on_failure(),
        "the reply counts more than the version"
    );
    let mut old = at(V2_1_62);
    old.learn(None, ["msg_lifecycle_v1".to_owned()]);
    assert!(old.lifecycle_events());
    assert!(!old.interrupt_receipt());
    assert_eq!(old.version(), Some(V2_1_62));
}

fn mode(mode: &str) -> PermissionUpdate {
    PermissionUpdate::SetMode(ModeUpdate {
        mode: PermissionMode::from(mode),
        destination: RuleDestination::Session,
        extra: Extra::default(),
    })
}

fn rule(behavior: &str, destination: &str) -> RulesUpdate {
    RulesUpdate {
        rules: vec![PermissionRule {
            tool_name: "Bash".into(),
            rule_content: None,
            extra: Extra::default(),
        }],
        behavior: RuleBehavior::from(behavior),
        destination: RuleDestination::from(destination),
        extra: Extra::default(),
    }
}

fn reason(
    capabilities: &Capabilities,
    update: PermissionUpdate,
    may_bypass: bool,
) -> Option<DropReason> {
    let (usable, dropped) = capabilities.usable_updates(vec![update], may_bypass);
    assert_eq!(usable.len() + dropped.len(), 1, "nothing is lost");
    dropped.first().map(|dropped| dropped.reason)
}

#[test]
fn updates_plain_modes_go_to_every_version() {
    for version in COLUMNS {
        for word in ["acceptEdits", "default", "plan", "dontAsk"] {
            assert_eq!(
                reason(&Capabilities::of(version), mode(word), false),
                None,
                "{word}"
            );
        }
    }
}

#[test]
fn updates_auto_and_unknown_modes_would_deny_the_tool_on_older_versions() {
    for version in [None, Some(V2_0_75), Some(V2_1_62)] {
        let old = Capabilities::of(version);
        assert_eq!(
            reason(&old, mode("auto"), true),
            Some(DropReason::UnknownMode)
        );
    }
    assert_eq!(reason(&at(V2_1_325), mode("auto"), false), None);
    assert_eq!(
        reason(&at(V2_1_325), mode("banana"), true),
        Some(DropReason::UnknownMode)
    );
}

#[test]
fn updates_bypass_is_dropped_where_it_would_be_ignored() {
    let dropped = Some(DropReason::BypassNotLaunched);
    assert_eq!(
        reason(&at(V2_1_325), mode("bypassPermissions"), false),
        dropped
    );
    assert_eq!(
        reason(&at(V2_1_197), mode("bypassPermissions"), false),
        dropped
    );
    assert_eq!(reason(&at(V2_1_325), mode("bypassPermissions"), true), None);
    assert_eq!(reason(&at(V2_1_62), mode("bypassPermissions"), false), None);
}

#[test]
fn updates_rules_and_folders_go_to_every_destination_but_unknown_ones() {
    let capabilities = Capabilities::of(None);
    for place in RuleDestination::KNOWN {
        for behavior in RuleBehavior::KNOWN {
            let update = PermissionUpdate::AddRules(rule(behavior, place));
            assert_eq!(
                reason(&capabilities, update, false),
                None,
                "{place} {behavior}"
            );
        }
    }
    let nowhere = PermissionUpdate::RemoveRules(rule("allow", "nowhere"));
    assert_eq!(
        reason(&capabilities, nowhere, false),
        Some(DropReason::UnknownDestination)
    );
    let strange = PermissionUpdate::ReplaceRules(rule("maybe", "session"));
    assert_eq!(
        reason(&capabilities, strange, false),
        Some(DropReason::UnknownBehavior)
    );
    let folders = |place: &str| {
        PermissionUpdate::AddDirectories(DirectoriesUpdate {
            directories: vec!["/tmp".into()],
            destination: RuleDestination::from(place),
            extra: Extra::default(),
        })
    };
    assert_eq!(reason(&capabilities, folders("session"), false), None);
    assert_eq!(
        reason(&capabilities, folders("nowhere"), false),
        Some(DropReason::UnknownDestination)
    );
}

#[test]
fn updates_of_an_unknown_type_are_dropped_and_the_rest_keeps_its_order() {
    let unknown = serde_json::from_value(json!({"type": "addMagic", "x": 1})).unwrap();
    let updates = vec![mode("plan"), unknown, mode("default")];
    let (usable, dropped) = at(V2_0_75).usable_updates(updates, false);
    assert_eq!(usable, [mode("plan"), mode("default")]);
    assert_eq!(dropped[0].reason, DropReason::UnknownType);
}

#[test]
fn rule_01_nothing_is_sent_that_the_version_may_not_know() {
    let unknown = Capabilities::of(None);
    for kind in [
        StdinKind::ControlCancelRequest,
        StdinKind::UpdateEnvironmentVariables,
        StdinKind::Other,
    ] {
        assert!(!unknown.may_send(kind), "{kind:?}");
        assert!(at(V2_1_62).may_send(kind), "{kind:?}");
    }
}

#[test]
fn rule_02_silence_and_second_replies_are_expected_where_they_happen() {
    for version in [None, Some(V1_0_128), Some(V2_0_75), Some(V2_1_30)] {
        let old = Capabilities::of(version);
        assert_eq!(
            (old.mode_replies(), old.answers_unknown_requests()),
            (2, false)
        );
    }
}

#[test]
fn rule_03_an_unknown_request_is_answered_with_an_error_envelope() {
    let answer = ControlResponse::error("r1", "not supported");
    assert!(matches!(answer.response, ControlOutcome::Error(_)));
}

#[test]
fn rule_04_the_full_input_is_needed_wherever_the_version_is_not_known_to_be_new() {
    assert!(Capabilities::of(None).updated_input_required());
    assert!(Capabilities::of(None).bad_update_denies_tool());
    // On the newest it is not needed, but a misspelt one would run the original.
    assert!(at(V2_1_325).misspelt_input_runs_original());
}

#[test]
fn rule_06_idle_is_told_by_what_the_version_has() {
    let signal = |version| Capabilities::of(version).idle_signal();
    assert_eq!(signal(None), IdleSignal::Result);
    assert_eq!(signal(Some(V2_0_75)), IdleSignal::Result);
    assert_eq!(signal(Some(V2_1_62)), IdleSignal::TaskMessages);
    assert_eq!(signal(Some(V2_1_325)), IdleSignal::SessionState);
}

#[test]
fn rule_07_success_is_subtype_and_no_error_and_interrupted_is_asked_or_aborted() {
    use ResultSubtype::{ErrorDuringExecution, ErrorMaxTurns, Success};
    let aborted = Some(&TerminalReason::AbortedTools);
    assert_eq!(turn_outcome(&Success, false, None, false), Outcome::Success);
    assert_eq!(turn_outcome(&Success, true, None, false), Outcome::Failed);
    assert_eq!(
        turn_outcome(&ErrorDuringExecution, true, aborted, false),
        Outcome::Interrupted
    );
    assert_eq!(
        turn_outcome(&ErrorDuringExecution, false, None, true),
        Outcome::Interrupted
    );
    assert_eq!(
        turn_outcome(&ErrorDuringExecution, false, None, false),
        Outcome::Failed
    );
    assert_eq!(
        turn_outcome(&ErrorMaxTurns, false, None, true),
        Outcome::Failed
    );
}

#[test]
fn rule_08_a_refused_bypass_is_silent_where_the_status_line_is_the_only_sign() {
    for version in [V2_1_197, V2_1_325] {
        assert!(at(version).bypass_update_needs_allow_flag());
        assert!(at(version).status_on_mode_change_in_turn());
    }
}

#[test]
fn rule_09_bypass_later_needs_the_flag_at_launch() {
    assert!(at(V2_1_325).bypass_needs_allow_flag());
    assert!(!at(V2_1_62).bypass_needs_allow_flag());
    let flag = "--allow-dangerously-skip-permissions";
    assert_eq!(at(V1_0_128).flag_supported(flag), No);
}

#[test]
fn rule_11_children_are_ours_to_end_before_the_newest_version() {
    assert!(!Capabilities::of(None).sigterm_ends_bash());
    assert!(!at(V2_1_197).sigterm_ends_bash());
    assert!(Capabilities::of(None).eof_waits_for_background());
}

#[test]
fn rule_12_stderr_may_be_as_long_as_what_was_sent() {
    assert!(Capabilities::of(None).echoes_bad_lines_to_stderr());
}

#[test]
fn rule_13_the_version_comes_from_init_or_from_the_reply_or_from_asking() {
    let mut capabilities = Capabilities::default();
    assert_eq!(capabilities.version(), None);
    capabilities.learn("2.0.75 (Claude Code)".parse().ok(), []);
    assert_eq!(capabilities.version(), Some(V2_0_75));
    capabilities.learn(Version::find("2.1.325"), []);
    assert_eq!(capabilities.version(), Some(V2_1_325));
}

#[test]
fn rule_14_hooks_alone_are_not_safe_before_the_newest_version() {
    for version in [None, Some(V2_0_75), Some(V2_1_62), Some(V2_1_197)] {
        assert!(Capabilities::of(version).hook_fails_open_on_stdin_close());
    }
}
