//! Plan mode: when a session plans, and which file it may write then.

use std::os::unix::fs::symlink;

use countersign_client::wire::control::CanUseTool;
use countersign_host::control::Mode;
use countersign_host::desk::{Desk, Grounds};
use countersign_policy::Effect;

use crate::ground::{Ground, NOW, bash, kept, word, write_to};

fn by_agent(mut ask: CanUseTool, agent: &str) -> CanUseTool {
    ask.agent_id = Some(agent.into());
    ask
}

#[test]
fn a_session_that_plans_changes_nothing_by_rule_but_its_own_plan() {
    let ground = Ground::new();
    let mut desk = ground.desk_with(vec![kept(Effect::Allow, "Bash")], Mode::Plan);
    let plan = write_to(&ground.path("home/.claude/plans/a.md"));
    let mut ruled = |ask: &CanUseTool| word(&desk.rule_on(ask, Some("plan"), NOW));
    assert_eq!(ruled(&bash("make install")), "ask");
    assert_eq!(ruled(&plan), "allow");
    assert_eq!(
        ruled(&write_to(&ground.path("home/.claude/plans/b.md"))),
        "ask"
    );
    assert_eq!(ruled(&write_to(&ground.path("work/a.md"))), "ask");
}

#[test]
fn the_plan_of_another_session_is_never_taken_for_ones_own() {
    let ground = Ground::new();
    let plan = write_to(&ground.path("home/.claude/plans/a.md"));
    let mut first = ground.desk(Mode::Plan);
    let mut second = ground.desk(Mode::Plan);
    assert_eq!(word(&first.rule_on(&plan, Some("plan"), NOW)), "allow");
    ground.write("home/.claude/plans/a.md", "the plan of the first");
    assert_eq!(word(&first.rule_on(&plan, Some("plan"), NOW)), "allow");
    assert_eq!(word(&second.rule_on(&plan, Some("plan"), NOW)), "ask");
}

#[test]
fn a_host_that_comes_back_remembers_the_plan() {
    let ground = Ground::new();
    ground.write("home/.claude/plans/a.md", "written before");
    let file = ground.path("home/.claude/plans/a.md");
    let mut desk = ground.desk(Mode::Plan);
    assert_eq!(
        word(&desk.rule_on(&write_to(&file), Some("plan"), NOW)),
        "ask"
    );
    desk.remember_plan_file(None, file.clone());
    assert_eq!(
        word(&desk.rule_on(&write_to(&file), Some("plan"), NOW)),
        "allow"
    );
    let of_agent = by_agent(write_to(&file), "a-1");
    assert_eq!(word(&desk.rule_on(&of_agent, Some("plan"), NOW)), "ask");
}

#[test]
fn an_agent_that_takes_a_conversation_up_writes_on_in_its_plan_or_begins_another() {
    let ground = Ground::new();
    ground.write("home/.claude/plans/a.md", "written before");
    ground.write("home/.claude/plans/b.md", "of another session");
    let mut desk = ground.desk(Mode::Plan);
    let plan = |name: &str| write_to(&ground.path("home/.claude/plans").join(name));
    desk.remember_earlier_plan_file(None, ground.path("home/.claude/plans/a.md"));
    let mut ruled = |ask: &CanUseTool| word(&desk.rule_on(ask, Some("plan"), NOW));
    assert_eq!(ruled(&plan("a.md")), "allow");
    assert_eq!(ruled(&plan("b.md")), "ask");
    assert_eq!(ruled(&plan("c.md")), "allow");
    assert_eq!(ruled(&plan("d.md")), "ask");
    assert_eq!(ruled(&by_agent(plan("a.md"), "1")), "ask");
}

#[test]
fn each_sub_agent_has_a_plan_of_its_own() {
    let ground = Ground::new();
    let mut desk = ground.desk(Mode::Plan);
    let plan = |name: &str| write_to(&ground.path("home/.claude/plans").join(name));
    let mut ruled = |ask: &CanUseTool| word(&desk.rule_on(ask, Some("plan"), NOW));
    assert_eq!(ruled(&plan("a.md")), "allow");
    assert_eq!(ruled(&by_agent(plan("a-agent-1.md"), "1")), "allow");
    assert_eq!(ruled(&by_agent(plan("other.md"), "1")), "ask");
    assert_eq!(ruled(&by_agent(plan("a-agent-2.md"), "2")), "allow");
}

#[test]
fn with_another_folder_of_the_cli_plans_lie_there() {
    let mut ground = Ground::new();
    ground.setup.config_dir = Some(ground.path("cli"));
    std::fs::create_dir_all(ground.path("cli/plans")).unwrap();
    let mut desk = ground.desk(Mode::Plan);
    let usual = write_to(&ground.path("home/.claude/plans/a.md"));
    assert_eq!(word(&desk.rule_on(&usual, Some("plan"), NOW)), "ask");
    let here = write_to(&ground.path("cli/plans/a.md"));
    assert_eq!(word(&desk.rule_on(&here, Some("plan"), NOW)), "allow");
}

#[test]
fn plans_lie_where_the_settings_of_a_trusted_folder_say_and_nowhere_else() {
    let ground = Ground::new();
    ground.write(
        "work/.claude/settings.json",
        r#"{"plansDirectory": "docs/plans"}"#,
    );
    trust(&ground);
    let mut desk = ground.desk(Mode::Plan);
    let mut ruled = |path: &str| {
        let ask = write_to(&ground.path(path));
        word(&desk.rule_on(&ask, Some("plan"), NOW))
    };
    assert_eq!(ruled("home/.claude/plans/a.md"), "ask");
    assert_eq!(ruled("work/docs/plans/CLAUDE.md"), "ask");
    assert_eq!(ruled("work/docs/plans/SKILL.md"), "ask");
    assert_eq!(ruled("work/docs/plans/a.md"), "allow");
    assert_eq!(ruled("work/docs/plans/b.md"), "ask");
}

/// The person trusts all that the working folder brings along.
fn trust(ground: &Ground) {
    ground.desk(Mode::Ask).trust(NOW).unwrap();
}

#[test]
fn a_folder_that_nobody_trusts_opens_no_folder_for_plans() {
    let ground = Ground::new();
    ground.write(
        "work/.claude/settings.json",
        r#"{"plansDirectory": "skills"}"#,
    );
    let mut desk = ground.desk(Mode::Plan);
    let mut ruled = |path: &str| {
        let ask = write_to(&ground.path(path));
        word(&desk.rule_on(&ask, Some("plan"), NOW))
    };
    assert_eq!(ruled("work/skills/a.md"), "ask");
    assert_eq!(ruled("home/.claude/plans/a.md"), "allow");
}

#[test]
fn a_persons_own_setting_opens_a_folder_for_plans_wherever_it_is_not_protected() {
    let ground = Ground::new();
    let of_person = r#"{"plansDirectory": "agents"}"#;
    ground.write("home/.claude/settings.json", of_person);
    let ruled = |cwd: &str| {
        let cwd = ground.path(cwd);
        let grounds = Grounds::of(&ground.setup, &cwd, None, &ground.host).unwrap();
        let mut desk = Desk::open(grounds, Vec::new(), Mode::Plan, NOW);
        let ask = write_to(&cwd.join("agents/a.md"));
        word(&desk.rule_on(&ask, Some("plan"), NOW))
    };
    assert_eq!(ruled("work"), "allow");
    assert_eq!(ruled("home/.claude"), "ask");
}

#[test]
fn a_folder_of_plans_that_is_replaced_by_a_link_opens_nothing() {
    for is_written_before in [false, true] {
        let ground = Ground::new();
        let of_person = r#"{"plansDirectory": "notes"}"#;
        ground.write("home/.claude/settings.json", of_person);
        ground.write("home/.claude/commands/known.md", "");
        ground.write("elsewhere/known.md", "");
        let mut desk = ground.desk(Mode::Plan);
        let plan = write_to(&ground.path("work/notes/evil.md"));
        if is_written_before {
            assert_eq!(word(&desk.rule_on(&plan, Some("plan"), NOW)), "allow");
        }
        for folder in ["home/.claude/commands", "elsewhere"] {
            symlink(ground.path(folder), ground.path("work/notes")).unwrap();
            let ruled = word(&desk.rule_on(&plan, Some("plan"), NOW));
            assert_eq!(ruled, "ask", "{folder} {is_written_before}");
            // The host comes back, and has seen it written before.
            let mut desk = ground.desk(Mode::Plan);
            desk.remember_plan_file(None, ground.path("work/notes/evil.md"));
            desk.remember_earlier_plan_file(None, ground.path("work/notes/evil.md"));
            let ruled = word(&desk.rule_on(&plan, Some("plan"), NOW));
            assert_eq!(ruled, "ask", "{folder} {is_written_before}");
            std::fs::remove_file(ground.path("work/notes")).unwrap();
        }
        assert_eq!(word(&desk.rule_on(&plan, Some("plan"), NOW)), "allow");
    }
}

#[test]
fn settings_open_no_folder_of_ours_for_plans() {
    let mut ground = Ground::new();
    ground.host.data = ground.path("work/data");
    ground.host.worktrees = ground.path("work/data/worktrees");
    ground.write("work/data/sessions/x", "");
    let of_person = r#"{"plansDirectory": "data/sessions"}"#;
    ground.write("home/.claude/settings.json", of_person);
    let mut desk = ground.desk(Mode::Plan);
    let plan = write_to(&ground.path("work/data/sessions/a.md"));
    assert_eq!(word(&desk.rule_on(&plan, Some("plan"), NOW)), "ask");
}

#[test]
fn a_persons_word_on_planning_holds_until_the_cli_says_more() {
    let ground = Ground::new();
    let mut desk = ground.desk_with(vec![kept(Effect::Allow, "Bash(make)")], Mode::Ask);
    let make = bash("make");
    desk.set_mode(Mode::Plan, NOW);
    assert_eq!(word(&desk.rule_on(&make, Some("default"), NOW)), "ask");
    // The CLI tells its mode of before: it has not heard yet.
    desk.mode_told();
    assert_eq!(word(&desk.rule_on(&make, Some("default"), NOW)), "ask");
    // Approved, and this version does not say that it has left plan mode.
    desk.set_mode(Mode::Ask, NOW);
    desk.planning(false);
    assert_eq!(word(&desk.rule_on(&make, Some("plan"), NOW)), "allow");
    desk.mode_told();
    assert_eq!(word(&desk.rule_on(&make, Some("plan"), NOW)), "ask");
}

#[test]
fn an_agent_that_has_not_said_its_mode_is_in_the_one_it_was_started_in() {
    let ground = Ground::new();
    let make = bash("make");
    for (mode, wanted) in [(Mode::Plan, "ask"), (Mode::Ask, "allow")] {
        let mut desk = ground.desk_with(vec![kept(Effect::Allow, "Bash(make)")], mode);
        assert_eq!(word(&desk.rule_on(&make, None, NOW)), wanted, "{mode}");
    }
}
