//! Every kind of question: bulk decisions, expiry, forms, dialogs, questions of sub-agents.

use countersign_host::control::approval::{Kind, Life, Outcome, Withdrawal};
use countersign_host::control::session::Setup;
use countersign_host::control::{
    ApprovalId, Command, Control, ControlError, Decide, Did, Digest, Mode,
};
use countersign_host::store::{Connection, Durability, Store, approvals};
use serde_json::json;

use crate::heard::Heard;
use crate::stage::{DEADLINE, Stage};

/// Asks about three commands and a file at once.
const MANY: &str = r#"
turn
  ask Bash {"command":"touch one"} gives "ran" nowait
  ask Bash {"command":"touch two"} gives "ran" nowait
  ask Bash {"command":"touch three"} gives "ran" nowait
  ask Write {"file_path":"/srv/file.txt","content":"x"} gives "ran" nowait
  wait answers
  say "Done."
"#;

#[tokio::test(flavor = "multi_thread")]
async fn one_decision_is_for_all_of_a_kind() {
    let stage = Stage::new(MANY).await;
    let id = stage.start("go").await;
    let open = stage.open_approvals(id, 4).await;
    let first = open.iter().find(|one| one.tool == "Bash").unwrap();
    let alike = |others: Vec<Digest>| Command::DecideAlike {
        approval: first.id,
        saw: first.digest.clone(),
        others,
        whole: Vec::new(),
        decide: Decide::allow(),
    };
    let others = open.iter().filter(|one| one.id != first.id);
    let receipt = stage
        .execute(alike(others.map(|one| one.digest.clone()).collect()))
        .await;
    let Did::Decided { approvals, .. } = receipt.did else {
        panic!("{receipt:?}");
    };
    assert_eq!(approvals.len(), 3);
    let left = stage.open_approvals(id, 1).await;
    assert_eq!(left[0].tool, "Write");
    stage.decide(&left[0], Decide::deny("No.")).await;
    stage.until(id, "idle").await;
    let heard = Heard::of(&stage, id).await;
    let answers = heard.0.iter().filter(|line| line.kind == 'h');
    let said = answers.filter_map(|line| line.said["response"]["response"]["behavior"].as_str());
    assert_eq!(
        said.collect::<Vec<_>>(),
        ["allow", "allow", "allow", "deny"]
    );
}

/// The first call comes back though its question was not answered.
const RUNS_UNANSWERED: &str = r#"
turn
  emit {"type":"assistant","parent_tool_use_id":null,"message":{"role":"assistant","model":"m","content":[{"type":"tool_use","id":"toolu_own","name":"Bash","input":{"command":"touch one"}}]}}
  control can_use_tool {"tool_name":"Bash","tool_use_id":"toolu_own","input":{"command":"touch one"}} nowait
  ask Bash {"command":"touch two"} gives "ran"
  emit {"type":"user","parent_tool_use_id":null,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_own","content":"made","is_error":false}]}}
  say "Done."
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_ran_without_an_answer_leaves_nothing_open() {
    let stage = Stage::new(RUNS_UNANSWERED).await;
    let id = stage.start("go").await;
    let open = stage.open_approvals(id, 2).await;
    let of = |command: &str| open.iter().find(|one| one.input["command"] == command);
    let (ran, other) = (of("touch one").unwrap(), of("touch two").unwrap());
    stage.decide(other, Decide::allow()).await;
    let settled = stage.until_life(ran, "settled").await;
    let outcome = Outcome::Ran;
    assert_eq!(
        (settled.life, settled.decided),
        (Life::Settled { outcome }, None)
    );
    // Nor does the session wait for a person.
    let view = stage.until(id, "idle").await;
    assert_eq!(view.open_approvals, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_yes_for_all_leaves_open_what_was_not_seen() {
    let stage = Stage::new(MANY).await;
    let id = stage.start("go").await;
    let open = stage.open_approvals(id, 4).await;
    let seen: Vec<_> = open.iter().filter(|one| one.tool == "Bash").collect();
    // The third came while the person looked at the first two.
    let decide = |decide| Command::DecideAlike {
        approval: seen[0].id,
        saw: seen[0].digest.clone(),
        others: vec![seen[1].digest.clone()],
        whole: Vec::new(),
        decide,
    };
    let receipt = stage.execute(decide(Decide::allow())).await;
    let Did::Decided { approvals, .. } = receipt.did else {
        panic!("{receipt:?}");
    };
    assert_eq!(approvals, [seen[0].id, seen[1].id]);
    let left = stage.open_approvals(id, 2).await;
    assert!(left.iter().any(|one| one.id == seen[2].id), "{left:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_yes_for_all_needs_each_that_a_row_may_cut_to_be_seen_whole() {
    let long = format!("echo {}; touch gone", "a".repeat(80));
    let scenario = format!(
        "turn\n  ask Bash {} gives \"ran\" nowait\n  ask Bash {} gives \"ran\" nowait\n  wait answers\n  say \"Done.\"\n",
        serde_json::json!({"command": "touch one", "description": "One"}),
        serde_json::json!({"command": long, "description": "Two"}),
    );
    let stage = Stage::new(&scenario).await;
    let id = stage.start("go").await;
    let open = stage.open_approvals(id, 2).await;
    let cut = open
        .iter()
        .find(|one| one.input["command"] == long)
        .unwrap();
    let decide = |whole: Vec<Digest>| Command::DecideAlike {
        approval: open[0].id,
        saw: open[0].digest.clone(),
        others: vec![open[1].digest.clone()],
        whole,
        decide: Decide::allow(),
    };
    let refused = stage.host().execute(Stage::cmd(), decide(Vec::new())).await;
    let Err(ControlError::Invalid { why }) = refused else {
        panic!("{refused:?}");
    };
    assert!(why.contains("nothing was allowed"), "{why}");
    stage.open_approvals(id, 2).await;
    stage.execute(decide(vec![cut.digest.clone()])).await;
    stage.until_said(id, "Done.").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_of_ours_never_counts_as_inside() {
    let stage = Stage::new(MANY).await;
    let id = stage.start("go").await;
    let open = stage.open_approvals(id, 4).await;
    let ours = stage.settings.agents.data.join("sessions");
    let decide = Decide::Allow {
        updated_input: None,
        remember: None,
        mode: None,
        add_dirs: vec![ours.to_str().unwrap().to_owned()],
    };
    let command = Command::Decide {
        approval: open[0].id,
        saw: open[0].digest.clone(),
        decide,
    };
    let refused = stage.host().execute(Stage::cmd(), command).await;
    assert!(
        matches!(refused, Err(ControlError::Invalid { .. })),
        "{refused:?}"
    );
    stage.open_approvals(id, 4).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn however_much_a_person_says_it_reaches_the_agent() {
    let scenario = r#"
turn
  tool Bash {"command":"touch one","description":"One"}
  say "Understood."
"#;
    let stage = Stage::new(scenario).await;
    let id = stage.start("go").await;
    let open = stage.open_approvals(id, 1).await;
    let long = "No, and here is why. ".repeat(100_000);
    stage.decide(&open[0], Decide::deny(long.clone())).await;
    let settled = stage.until_life(&open[0], "settled").await;
    let outcome = Outcome::Refused;
    assert_eq!(settled.life, Life::Settled { outcome });
    assert_eq!(settled.decided.unwrap().why, long.trim());
    stage.until_said(id, "Understood.").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_answers_expires_as_a_refusal() {
    let scenario = r#"
turn
  tool Bash {"command":"touch one","description":"One"}
  say "So: ${result}"
"#;
    let stage = Stage::with(scenario, |settings| settings.expiry = Some(700_000)).await;
    let id = stage.start("go").await;
    let open = stage.open_approvals(id, 1).await;
    let expires = open[0].expires.unwrap();
    assert_eq!(expires, open[0].asked + 700_000);
    let settled = stage.until_life(&open[0], "settled").await;
    let decided = settled.decided.unwrap();
    assert_eq!(decided.by, "expired");
    assert!(decided.at >= expires);
    let outcome = Outcome::Refused;
    assert_eq!(settled.life, Life::Settled { outcome });
    stage.until(id, "idle").await;
    stage
        .until_said(id, "Nobody answered within 1 second.")
        .await;
    assert!(!stage.project().join("one").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_expires_later_than_can_be_counted_is_asked() {
    let scenario = "turn\n  tool Bash {\"command\":\"touch one\",\"description\":\"One\"}\n";
    let stage = Stage::with(scenario, |settings| settings.expiry = Some(u64::MAX)).await;
    let id = stage.start("go").await;
    let open = stage.open_approvals(id, 1).await;
    let year = 365 * 24 * 60 * 60 * 1_000_000;
    assert!(open[0].expires.unwrap() > open[0].asked + year);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_expired_while_no_host_ran_is_refused_by_the_next() {
    let scenario = r#"
turn
  tool Bash {"command":"touch one","description":"One"}
  say "So: ${result}"
"#;
    let mut stage = Stage::with(scenario, |settings| settings.expiry = Some(500_000)).await;
    let id = stage.start("go").await;
    let open = stage.open_approvals(id, 1).await;
    stage.restart().await;
    let settled = stage.until_life(&open[0], "settled").await;
    assert_eq!(settled.decided.unwrap().by, "expired");
    assert!(!stage.project().join("one").exists());
}

/// As when the keeper of an agent that asked did not answer: the question was stored, and policy had no say.
fn unjudged(stage: &Stage, id: ApprovalId) {
    let store = Store::open(&stage.settings.agents.data.join("host.db")).unwrap();
    let job = move |it: &Connection| {
        let mut row = approvals::get(it, id)?;
        (row.reason, row.expires) = (String::new(), None);
        approvals::save(it, &row)
    };
    store.write_blocking(Durability::Full, job).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_asked_while_nobody_could_answer_is_judged_and_expires() {
    let scenario = r#"
turn
  tool Bash {"command":"touch one","description":"One"}
  say "So: ${result}"
"#;
    let mut stage = Stage::new(scenario).await;
    let id = stage.start("go").await;
    let open = stage.open_approvals(id, 1).await;
    stage.close().await;
    unjudged(&stage, open[0].id);
    stage.settings.expiry = Some(500_000);
    stage.open().await;
    let settled = stage.until_life(&open[0], "settled").await;
    assert_eq!(settled.decided.unwrap().by, "expired");
    assert_eq!(settled.reason, open[0].reason);
    assert!(!stage.project().join("one").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_to_the_person_are_answered_by_their_text() {
    let scenario = r#"
turn
  tool AskUserQuestion {"questions":[{"question":"Which?","header":"Which","multiSelect":false,"options":[{"label":"A","description":"one"},{"label":"B","description":"other"}]}]}
  say "You said: ${result}"
"#;
    let stage = Stage::new(scenario).await;
    let id = stage.start("go").await;
    let open = stage.open_approvals(id, 1).await;
    assert_eq!(open[0].kind, Kind::Questions);
    let answers = json!({"Which?": "B"});
    stage.decide(&open[0], Decide::Answer { answers }).await;
    stage.until_life(&open[0], "settled").await;
    stage.until(id, "idle").await;
    let heard = Heard::of(&stage, id).await;
    let mut said = heard
        .0
        .iter()
        .filter(|line| line.said["type"] == "assistant");
    let last = said.next_back().unwrap().said.to_string();
    assert!(last.contains("You said:") && last.contains('B'), "{last}");
}

#[tokio::test(flavor = "multi_thread")]
async fn forms_of_servers_are_filled_in_or_declined() {
    let scenario = r#"
turn
  elicit calc "Your name?" {"type":"object","properties":{"name":{"type":"string"}},"required":["name"]} as form
  say "Thanks."
turn
  elicit calc "Your name?" {"type":"object","properties":{"name":{"type":"string"}}} as form
  say "As you like."
"#;
    let stage = Stage::new(scenario).await;
    let id = stage.start("go").await;
    let open = stage.open_approvals(id, 1).await;
    assert_eq!(
        (open[0].kind, open[0].tool.as_str()),
        (Kind::Elicitation, "calc")
    );
    let answers = json!({"name": "Somebody"});
    stage.decide(&open[0], Decide::Answer { answers }).await;
    stage.until_said(id, "Thanks.").await;
    let message = countersign_host::control::Message::text("again");
    stage
        .execute(Command::Send {
            session: id,
            message,
        })
        .await;
    let again = stage.open_approvals(id, 1).await;
    stage
        .decide(&again[0], Decide::Decline { message: None })
        .await;
    stage.until_said(id, "As you like.").await;
    let heard = Heard::of(&stage, id).await;
    let answers = heard.0.iter().filter(|line| line.kind == 'h');
    let actions = answers.filter_map(|line| line.said["response"]["response"]["action"].as_str());
    assert_eq!(actions.collect::<Vec<_>>(), ["accept", "decline"]);
    for one in [&open[0], &again[0]] {
        // The journal is ahead of the rows.
        let start = std::time::Instant::now();
        let life = async || stage.host().approval(one.id).await.unwrap().life;
        while matches!(life().await, Life::Open | Life::Decided) {
            assert!(start.elapsed() < DEADLINE, "{:?}", life().await);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn forms_and_dialogs_are_declined_where_nobody_is_asked() {
    let scenario = r#"
turn
  elicit calc "Your name?" {"type":"object","properties":{"name":{"type":"string"}}} as form
  dialog model_picker {"models":["a"]} as pick
  say "Nobody was there."
"#;
    let stage = Stage::new(scenario).await;
    let setup = Setup {
        mode: Mode::RulesOnly,
        ..Setup::default()
    };
    let id = stage.start_with("go", setup).await;
    stage.until_said(id, "Nobody was there.").await;
    stage.until(id, "idle").await;
    let heard = Heard::of(&stage, id).await;
    let answers = heard.0.iter().filter(|line| line.kind == 'h');
    let said = |line: &crate::heard::Line| {
        let reply = &line.said["response"]["response"];
        let word = reply["action"].as_str().or(reply["behavior"].as_str());
        word.map(str::to_owned)
    };
    assert_eq!(
        answers.filter_map(said).collect::<Vec<_>>(),
        ["decline", "cancelled"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_of_a_sub_agent_tells_who_asks() {
    let scenario = r#"
turn
  agent general-purpose "Look around." {"description":"Look"}
    tool Bash {"command":"touch seen","description":"Leave a mark"}
    say "I was there."
  end
  say "Done."
"#;
    let stage = Stage::new(scenario).await;
    let id = stage.start("go").await;
    let task = stage.open_approvals(id, 1).await;
    assert!(task[0].path.is_empty());
    stage.decide(&task[0], Decide::allow()).await;
    stage.until_life(&task[0], "written").await;
    let open = stage.open_approvals(id, 1).await;
    assert_eq!(open[0].tool, "Bash");
    let asker = &open[0].path[0];
    assert_eq!(asker.tool_use_id, task[0].tool_use_id);
    assert_eq!(asker.kind.as_deref(), Some("general-purpose"));
    assert_eq!(asker.description.as_deref(), Some("Look"));
    assert!(asker.agent_id.is_some());
    stage.decide(&open[0], Decide::allow()).await;
    stage.until(id, "idle").await;
    assert!(stage.project().join("seen").exists());
    for one in [&task[0], &open[0]] {
        stage.until_life(one, "settled").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_taken_back_needs_nobody() {
    let scenario = r#"
turn
  ask Bash {"command":"ls"} as late nowait
  wait control set_model
  cancel late
  say "Never mind."
"#;
    let stage = Stage::new(scenario).await;
    let id = stage.start("go").await;
    let open = stage.open_approvals(id, 1).await;
    let model = Some("haiku".to_owned());
    stage
        .execute(Command::SetModel { session: id, model })
        .await;
    let gone = stage.until_life(&open[0], "withdrawn").await;
    let why = Withdrawal::Cancelled;
    assert_eq!(gone.life, Life::Withdrawn { why });
    stage.until(id, "idle").await;
    let late = Command::Decide {
        approval: open[0].id,
        saw: open[0].digest.clone(),
        decide: Decide::allow(),
    };
    assert!(stage.host().execute(Stage::cmd(), late).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_about_an_edit_holds_the_file_as_it_was() {
    let scenario = r#"
turn
  ask Edit {"file_path":"${cwd}/a.txt","old_string":"two","new_string":"2"} gives "ran" nowait
  wait answers
  say "Done."
"#;
    let stage = Stage::new(scenario).await;
    let file = stage.project().join("a.txt");
    std::fs::write(&file, "zero\none\ntwo\nthree\n").unwrap();
    let id = stage.start("go").await;
    let asked = stage.open_approvals(id, 1).await.remove(0);
    let seen = asked.file.clone().unwrap();
    let part = &seen.parts[0];
    assert_eq!((part.line, part.new_line, seen.changed), (1, 1, false));
    assert_eq!(part.before, "zero\none\ntwo\nthree");
    assert_eq!(part.after, "zero\none\n2\nthree");
    // What stands there is what the agent asked about, and that it is not so any more is said.
    std::fs::write(&file, "none of it\n").unwrap();
    let later = stage.open_approvals(id, 1).await.remove(0).file.unwrap();
    assert!(later.changed, "{later:?}");
    assert_eq!(later.parts, seen.parts);
}
