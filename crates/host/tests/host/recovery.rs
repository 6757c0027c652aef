//! A host ends, another one begins: nothing is lost, nothing happens twice.

use std::time::{Duration, Instant};

use countersign_host::control::approval::{Life, Outcome, PlanDecision, Way};
use countersign_host::control::session::Setup;
use countersign_host::control::{
    Command, Control, ControlError, Decide, Message, Mode, SessionId, SessionView, State,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::heard::Heard;
use crate::stage::{DEADLINE, Stage};

/// One question in each turn.
const ASKS: &str = r#"
turn always
  tool Bash {"command":"echo ${prompt} >> ran.log","description":"Leave a mark"}
  say "Done: ${prompt}."
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_was_asked_before_is_answered_by_the_next_host() {
    let mut stage = Stage::new(ASKS).await;
    let id = stage.start("one").await;
    let before = stage.open_approvals(id, 1).await;
    let epoch = stage.host().epoch();
    stage.restart().await;
    assert!(stage.host().epoch() > epoch);
    let after = stage.open_approvals(id, 1).await;
    assert_eq!(after[0].id, before[0].id);
    assert_eq!(after[0].digest, before[0].digest);
    stage.decide(&after[0], Decide::allow()).await;
    stage.until_life(&after[0], "settled").await;
    let view = stage.until(id, "idle").await;
    assert_eq!(view.generation, 1, "the same agent went on");
    assert_eq!(stage.ran(), ["one"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_last_is_known_to_the_next_host() {
    let mut stage = Stage::new("turn always\n  say \"First.\\nHello: ${prompt}.\"\n").await;
    let id = stage.start("one").await;
    stage
        .until_seen(id, "idle, with words", |view| {
            view.state.name() == "idle" && view.last_line.is_some()
        })
        .await;
    stage.restart().await;
    let after = stage.until(id, "idle").await;
    assert_eq!(after.last_line.as_deref(), Some("Hello: one."));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_a_loss_of_power_took_from_the_journal_keeps_nothing_from_going_on() {
    let mut stage = Stage::new(ASKS).await;
    let id = stage.start("one").await;
    let asked = stage.open_approvals(id, 1).await;
    stage.close().await;
    stage.kill_all();
    // The database knows of the question, the disk no longer does.
    let data = stage.settings.agents.data.clone();
    let segment = data.join(format!("sessions/{id}/journal/000001.j"));
    let text = std::fs::read(&segment).unwrap();
    let question = memchr::memmem::find(&text, b"can_use_tool").unwrap();
    let line = text[..question].iter().rposition(|byte| *byte == b'\n');
    std::fs::write(&segment, &text[..=line.unwrap()]).unwrap();
    stage.open().await;
    let view = stage.until(id, "failed").await;
    assert!(view.cut_off, "{}", view.reason);
    let gone = stage.host().approval(asked[0].id).await.unwrap_err();
    assert!(matches!(gone, ControlError::NotFound { .. }), "{gone}");
}

/// A plan whose turn is ended by the answer, and whose agent never says so.
const PLANS: &str = r#"
turn when "plan"
  lose result
  ask ExitPlanMode {"plan":"1. Dig"}
turn when "write"
  tool Write {"file_path":"${cwd}/note.txt","content":"x"}
turn always
  say "Heard: ${prompt}."
"#;

/// A way on from a plan, with the context compacted first.
fn decision(choice: Way) -> PlanDecision {
    PlanDecision {
        choice,
        mode: None,
        plan: None,
        rules: Vec::new(),
        allowed_prompts: Vec::new(),
        feedback: None,
        images: Vec::new(),
        comments: Vec::new(),
        compact: true,
    }
}

/// The plan is approved, with the context compacted first; its answer is with the agent.
async fn approved(stage: &Stage) -> SessionId {
    let id = stage.start("plan").await;
    let plan = stage.open_approvals(id, 1).await.remove(0);
    let decision = decision(Way::AcceptEdits);
    stage.decide(&plan, Decide::Plan(decision)).await;
    stage.until_life(&plan, "settled").await;
    id
}

#[tokio::test(flavor = "multi_thread")]
async fn what_follows_the_turn_of_a_plan_is_done_by_the_next_host() {
    // Its turn ends with one that it begins by itself, later.
    let by_itself = "unsolicited after 1500ms\n  say \"By itself.\"\nturn when \"write\"";
    let scenario = PLANS.replace("turn when \"write\"", by_itself);
    let mut stage = Stage::new(&scenario).await;
    let id = approved(&stage).await;
    stage.restart().await;
    stage.until_said(id, "Heard: /compact.").await;
    let is_through = |view: &SessionView| view.state.name() == "idle" && view.queued == 0;
    let view = stage
        .until_seen(id, "idle with an empty queue", is_through)
        .await;
    assert_eq!((view.mode, view.generation), (Mode::Edits, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_to_follow_a_turn_that_never_ended_does_not_follow_another() {
    let stage = Stage::new(PLANS).await;
    let id = approved(&stage).await;
    stage.kill_all();
    let is_off = |view: &SessionView| {
        let state = &view.state;
        matches!(
            state,
            State::Idle { asleep: true, .. } | State::Failed { .. }
        )
    };
    stage.until_seen(id, "without an agent", is_off).await;
    let mode = Mode::Ask;
    stage.execute(Command::SetMode { session: id, mode }).await;
    for queued in stage.host().queue(id).await.unwrap() {
        let message = queued.id;
        let remove = Command::RemoveQueued {
            session: id,
            message,
        };
        stage.execute(remove).await;
    }
    let message = Some(Message::text("talk"));
    let resume = Command::Resume {
        session: id,
        message,
    };
    stage.execute(resume).await;
    stage.until_said(id, "Heard: talk.").await;
    stage.until(id, "idle").await;
    let message = Message::text("write");
    stage
        .execute(Command::Send {
            session: id,
            message,
        })
        .await;
    let asked = stage.open_approvals(id, 1).await;
    assert_eq!(asked[0].tool, "Write");
    assert_eq!(stage.view(id).await.mode, Mode::Ask);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_is_decided_while_the_next_agent_starts_is_carried_out_in_its_mode() {
    let scenario = r#"
turn when "Plan"
  ask ExitPlanMode {"plan":"1. Dig"}
turn always
  say "Heard."
"#;
    let stage = Stage::new(scenario).await;
    let setup = Setup {
        mode: Mode::Plan,
        ..Setup::default()
    };
    let session = stage.start_with("Plan the garden", setup).await;
    let plan = stage.open_approvals(session, 1).await.remove(0);
    stage.kill_all();
    stage.until(session, "failed").await;
    let message = None;
    stage.execute(Command::Resume { session, message }).await;
    let decision = PlanDecision {
        compact: false,
        ..decision(Way::Manual)
    };
    stage.decide(&plan, Decide::Plan(decision)).await;
    stage.until_said(session, "Heard.").await;
    let heard = Heard::of(&stage, session).await;
    let inits = heard.inits(2);
    assert_eq!(inits[0]["permissionMode"], "default", "{inits:?}");
    assert_eq!(stage.view(session).await.mode, Mode::Ask);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_whose_agent_has_gone_expires_though_its_host_ended() {
    let scenario = "turn\n  ask ExitPlanMode {\"plan\":\"1. Dig\"}\n";
    let mut stage = Stage::with(scenario, |settings| settings.expiry = Some(3_000_000)).await;
    let id = stage.start("plan").await;
    let plan = stage.open_approvals(id, 1).await.remove(0);
    stage.kill_all();
    stage.until(id, "failed").await;
    stage.restart().await;
    let after = stage.until_life(&plan, "settled").await;
    let outcome = Outcome::Refused;
    assert_eq!(after.life, Life::Settled { outcome });
    assert_eq!(after.decided.unwrap().by, "expired");
}

/// How many files this process may have open.
fn allow_files(current: Option<u64>) -> Option<u64> {
    let before = getrlimit(Resource::Nofile);
    let maximum = before.maximum;
    setrlimit(Resource::Nofile, Rlimit { current, maximum }).unwrap();
    before.current
}

/// The time that this process has had on a processor.
fn worked_so_far() -> Duration {
    let clock = rustix::time::ClockId::ProcessCPUTime;
    Duration::try_from(rustix::time::clock_gettime(clock)).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_journal_that_could_not_be_read_for_a_moment_is_read_on() {
    let scenario = r#"
turn when "talk"
  say "Here."
turn
  flood 17500 4096
  tool Bash {"command":"touch made"}
  say "Done."
"#;
    let stage = Stage::new(scenario).await;
    let id = stage.start("talk").await;
    stage.until_said(id, "Here.").await;
    stage.until(id, "idle").await;
    // No file can be opened from now on: the next segment cannot.
    let free = std::fs::File::open("/dev/null").unwrap();
    let free = std::os::fd::AsRawFd::as_raw_fd(&free);
    let before = allow_files(u64::try_from(free).ok());
    let session = id;
    let message = Message::text("go");
    stage.execute(Command::Send { session, message }).await;
    let data = &stage.settings.agents.data;
    let second = data.join(format!("sessions/{id}/journal/000002.j"));
    let start = Instant::now();
    let asks = || std::fs::metadata(&second).is_ok_and(|it| it.len() > 500);
    while !asks() {
        assert!(start.elapsed() < DEADLINE, "there is no second segment");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // Whoever reads comes to the end of the first one, which is long.
    let mut worked = Duration::MAX;
    while worked > Duration::from_millis(10) {
        assert!(start.elapsed() < DEADLINE, "it works on and on");
        let so_far = worked_so_far();
        tokio::time::sleep(Duration::from_millis(200)).await;
        worked = worked_so_far() - so_far;
    }
    allow_files(before);
    let asked = stage.open_approvals(id, 1).await;
    stage.decide(&asked[0], Decide::allow()).await;
    stage.until(id, "idle").await;
    assert!(stage.project().join("made").exists());
    let heard = Heard::of(&stage, id).await;
    let asked = |line: &&crate::heard::Line| line.said["request"]["subtype"] == "can_use_tool";
    assert_eq!(heard.0.iter().filter(asked).count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_of_an_agent_whose_version_was_unknown_is_answered_after_a_restart() {
    use std::os::unix::fs::PermissionsExt as _;

    let mut stage = Stage::with(ASKS, |settings| {
        // It does not tell its version when asked, and tells one that needs no hook when it works.
        let silent = settings.agents.data.parent().unwrap().join("silent");
        let cli = &settings.agents.claude[0];
        let text = format!("#!/bin/sh\n[ \"$1\" = --version ] && exit 1\nexec '{cli}' \"$@\"\n");
        std::fs::write(&silent, text).unwrap();
        std::fs::set_permissions(&silent, std::fs::Permissions::from_mode(0o755)).unwrap();
        settings.agents.claude = vec![silent.to_str().unwrap().to_owned()];
    })
    .await;
    let id = stage.start("one").await;
    let asked = stage.open_approvals(id, 1).await;
    stage.decide(&asked[0], Decide::allow()).await;
    stage.until(id, "idle").await;
    stage.restart().await;
    stage.until(id, "idle").await;
    let message = Message::text("three");
    let session = id;
    stage.execute(Command::Send { session, message }).await;
    let asked = stage.open_approvals(id, 1).await;
    stage.decide(&asked[0], Decide::allow()).await;
    stage.until_said(id, "Done: three.").await;
    let heard = Heard::of(&stage, id).await;
    let hooks: Vec<_> = (heard.0.iter())
        .filter(|line| line.said["request"]["subtype"] == "hook_callback")
        .map(|line| line.said["request_id"].clone())
        .collect();
    assert_eq!(hooks.len(), 2, "one for each call");
    for hook in hooks {
        let is_it = |line: &&crate::heard::Line| line.said["response"]["request_id"] == hook;
        let answer = heard.0.iter().find(is_it).expect("it is answered");
        assert_eq!(answer.said["response"]["subtype"], "success", "{answer:?}");
    }
}
