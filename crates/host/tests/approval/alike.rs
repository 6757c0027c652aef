//! One decision for all questions of a kind.

use countersign_host::approval::{Asked, are_alike, for_the_others};
use countersign_host::control::approval::{Remember, Scope, Way};
use countersign_host::control::{Decide, Mode};
use serde_json::{Value, json};

use crate::stage::{ask, choose, invalid, plan, tool};

fn bash(command: &str) -> Asked {
    tool("Bash", json!({"command": command}))
}

fn marked(mark: &str) -> Asked {
    let mut request = json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "x"}, "tool_use_id": "t"});
    request[mark] = match mark {
        "decision_reason_type" => Value::from("safetyCheck"),
        _ => Value::from(true),
    };
    ask(request)
}

#[test]
fn calls_of_one_tool_are_alike_and_others_are_not() {
    let yes = Decide::allow();
    assert!(are_alike(&bash("a"), &bash("b"), true, &yes));
    assert!(!are_alike(
        &bash("a"),
        &tool("Write", json!({})),
        true,
        &yes
    ));
    assert!(!are_alike(&plan("# A"), &plan("# B"), true, &yes));
    assert!(!are_alike(
        &plan("# A"),
        &plan("# B"),
        true,
        &Decide::deny("no")
    ));
    let form = |server: &str| {
        ask(json!({"subtype": "elicitation", "mcp_server_name": server, "message": "m"}))
    };
    let no = Decide::Decline { message: None };
    assert!(are_alike(&form("a"), &form("a"), true, &no));
    assert!(!are_alike(&form("a"), &form("b"), true, &no));
}

#[test]
fn what_the_cli_marks_is_never_allowed_unseen_but_may_be_denied() {
    for mark in [
        "suppress_always_allow_rule",
        "requires_user_interaction",
        "server_policy_ask_only",
        "default_to_no",
        "decision_reason_type",
    ] {
        assert!(
            !are_alike(&bash("a"), &marked(mark), true, &Decide::allow()),
            "{mark}"
        );
        assert!(
            are_alike(&bash("a"), &marked(mark), true, &Decide::deny("no")),
            "{mark}"
        );
    }
}

#[test]
fn what_nobody_has_seen_is_not_allowed_but_may_be_denied() {
    let (seen, came_later) = (bash("git log"), bash("rm -r src"));
    assert!(!are_alike(&seen, &came_later, false, &Decide::allow()));
    assert!(are_alike(&seen, &came_later, false, &Decide::deny("no")));
}

#[test]
fn only_yes_or_no_holds_for_the_others() {
    let wide = Decide::Allow {
        updated_input: None,
        remember: Some(Remember {
            rules: vec!["Bash".to_owned()],
            scope: Scope::Always,
            expires: None,
            also_cli: true,
        }),
        mode: Some(Mode::Edits),
        add_dirs: vec!["/x".to_owned()],
    };
    assert_eq!(for_the_others(&wide), Ok(Decide::allow()));
    assert_eq!(for_the_others(&Decide::deny("no")), Ok(Decide::deny("no")));
    let changed = Decide::Allow {
        updated_input: Some(json!({"command": "y"})),
        remember: None,
        mode: None,
        add_dirs: Vec::new(),
    };
    invalid(for_the_others(&changed));
    invalid(for_the_others(&Decide::Plan(choose(Way::Manual))));
    invalid(for_the_others(&Decide::Answer { answers: json!({}) }));
}
