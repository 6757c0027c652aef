//! Sessions: which id one has, what of an earlier one reaches the model, and what cannot be resumed.

use std::path::PathBuf;

use countersign_client::wire::vocab::PermissionMode;
use countersign_client::{Claude, Error, Session};
use serde_json::Value;

use crate::harness::{Cli, NotInVersion, OLDEST, Pass, Verdict, Verdicts};
use crate::stage::{Stage, init, line, soon, turn, until};

cases! {
    one_history {
        "sessions/chosen id" => "init, result and transcript have it",
        "sessions/id in use" => "the start fails with an error that names the id",
        "sessions/resume" => "the model was sent what was said before, under the same id",
        "sessions/resume, mode" => "the mode of the first run is not in force after a resume",
        "sessions/resume at a message" => "the model was sent what was said up to it and nothing later",
        "sessions/fork" => "a new id, and the model was sent what was said before",
        "sessions/continue" => "the latest session went on: its id, its history",
        "sessions/clear" => "the id changed, and the model was sent nothing of what was said before",
        "sessions/resume from another folder" => "the model was sent what was said before",
    }
    not_kept {
        "sessions/without a transcript" => "no transcript was left, and the session cannot be resumed",
        "sessions/unknown id" => "the start fails with an error that names the id",
    }
    nothing_in_it {
        "sessions/transcript without a message" => "it can be neither resumed nor begun; each fails with an error that names the id",
    }
}

const TALK: &str = "reply always\n  say \"Well.\"\n";
const CHOSEN: &str = "6f1c2a9e-8a52-4c9b-9a57-2a8f0c1d3e4b";
const UNKNOWN: &str = "11111111-2222-4333-8444-555555555555";

async fn one_history(cli: Cli) -> Verdicts {
    let stage = cli.stage(TALK).await;
    let first_answer = first_run(&stage).await;
    in_use(stage.claude().session_id(CHOSEN), CHOSEN).await;

    let resumed = run(&stage, stage.claude().resume(CHOSEN), "gannet").await;
    assert_eq!(resumed.id, CHOSEN);
    assert_eq!(resumed.mode, "default");
    assert_eq!(resumed.words, ["heron", "plover", "gannet"]);

    let cut = stage
        .claude()
        .resume(CHOSEN)
        .resume_session_at(first_answer)
        .fork_session(true);
    let cut = run(&stage, cut, "gannet").await;
    assert_eq!(cut.words, ["heron", "gannet"]);

    let forked = run(
        &stage,
        stage.claude().resume(CHOSEN).fork_session(true),
        "avocet",
    )
    .await;
    assert!(![CHOSEN, &cut.id].contains(&forked.id.as_str()));
    assert_eq!(forked.words, ["heron", "plover", "gannet", "avocet"]);

    let cleared = continued_and_cleared(&stage, &forked.id).await;
    let elsewhere = from_elsewhere(&stage).await;
    Verdicts::new()
        .pass("sessions/chosen id")
        .pass("sessions/id in use")
        .pass("sessions/resume")
        .pass("sessions/resume, mode")
        .pass("sessions/resume at a message")
        .pass("sessions/fork")
        .pass("sessions/continue")
        .say("sessions/clear", cleared)
        .say("sessions/resume from another folder", elsewhere)
}

/// Two turns under the chosen id, in another mode. Gives the uuid of the first answer.
async fn first_run(stage: &Stage) -> String {
    let claude = stage.claude().session_id(CHOSEN);
    let claude = claude.permission_mode(PermissionMode::AcceptEdits);
    let mut session = claude.connect().await.unwrap();
    let sent = session.send("heron").await.unwrap();
    let begun = init(&mut session.events).await;
    assert_eq!(begun["session_id"], CHOSEN);
    assert_eq!(begun["permissionMode"], "acceptEdits");
    let answer = line(&mut session.events, "the answer", |line| {
        line["type"] == "assistant"
    })
    .await;
    let result = soon("the result", sent).await.unwrap().ok().unwrap();
    assert_eq!(result.session_id(), Some(CHOSEN));
    turn(&mut session, "plover").await;
    end(session).await;
    let transcript = transcript(stage, CHOSEN);
    until("the transcript", || {
        std::fs::read_to_string(&transcript).is_ok_and(|text| text.contains("plover"))
    })
    .await;
    answer["uuid"].as_str().unwrap().to_owned()
}

/// What a run was, and which of the birds that were named the model was sent.
struct Ran {
    id: String,
    mode: String,
    words: Vec<&'static str>,
}

const BIRDS: [&str; 4] = ["heron", "plover", "gannet", "avocet"];

/// One turn in a session that `claude` starts.
async fn run(stage: &Stage, claude: Claude, prompt: &str) -> Ran {
    let mut session = soon("the start", claude.connect()).await.unwrap();
    let ran = say(stage, &mut session, prompt).await;
    end(session).await;
    ran
}

async fn say(stage: &Stage, session: &mut Session, prompt: &str) -> Ran {
    let (begun, result) = turn(session, prompt).await;
    let result = result.ok().unwrap();
    assert_eq!(begun["session_id"].as_str(), result.session_id());
    assert_eq!(session.session_id().as_deref(), result.session_id());
    Ran {
        id: result.session_id().unwrap().to_owned(),
        mode: begun["permissionMode"].as_str().unwrap().to_owned(),
        words: birds(&stage.last_asked()),
    }
}

fn birds(request: &Value) -> Vec<&'static str> {
    let said = request["messages"].to_string();
    let named = BIRDS.into_iter().filter(|bird| said.contains(bird));
    named.collect()
}

async fn end(session: Session) {
    let closed = soon("the end", session.close()).await;
    assert!(closed.is_clean(), "{closed:?}");
}

async fn continued_and_cleared(stage: &Stage, latest: &str) -> Verdict {
    let claude = stage.claude().continue_conversation(true);
    let mut session = claude.connect().await.unwrap();
    let continued = say(stage, &mut session, "On.").await;
    assert_eq!(continued.words, BIRDS);
    // 2.0.75 goes on with what was said in a fork, under the id of what it was forked from.
    let expected = if stage.cli.is(OLDEST) { CHOSEN } else { latest };
    assert_eq!(continued.id, expected);

    let clear = session.send("/clear").await.unwrap();
    soon("the end of /clear", clear).await.unwrap();
    let after = say(stage, &mut session, "And now?").await;
    end(session).await;
    match stage.cli.is_newest() {
        true => {
            assert_ne!(after.id, continued.id);
            assert!(after.words.is_empty(), "{:?}", after.words);
            Pass
        }
        false => {
            assert_eq!((after.id, after.words.len()), (continued.id, 4));
            NotInVersion("/clear is no command here: id and history stay".into())
        }
    }
}

async fn from_elsewhere(stage: &Stage) -> Verdict {
    let folder = stage.sandbox.root().join("elsewhere");
    std::fs::create_dir_all(&folder).unwrap();
    let claude = stage.claude().cwd(folder).resume(CHOSEN);
    if stage.cli.is_newest() {
        let ran = run(stage, claude, "Here?").await;
        assert_eq!(ran.words[..2], ["heron", "plover"]);
        return Pass;
    }
    no_such_session(claude, CHOSEN).await;
    NotInVersion("there is no such session in another folder".into())
}

async fn no_such_session(claude: Claude, expected: &str) {
    match soon("the failure", claude.connect()).await {
        Err(Error::NoSuchSession { id }) => assert_eq!(id, expected),
        other => panic!("{other:?}"),
    }
}

async fn in_use(claude: Claude, expected: &str) {
    match soon("the failure", claude.connect()).await {
        Err(Error::SessionIdInUse { id }) => assert_eq!(id, expected),
        other => panic!("{other:?}"),
    }
}

/// Where the CLI keeps a session of the project.
fn transcript(stage: &Stage, id: &str) -> PathBuf {
    let project = stage.sandbox.project().to_string_lossy().into_owned();
    let folder = project.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
    let projects = stage.sandbox.home().join(".claude").join("projects");
    projects.join(folder).join(format!("{id}.jsonl"))
}

async fn not_kept(cli: Cli) -> Verdicts {
    let stage = cli.stage(TALK).await;
    let claude = stage.claude().session_id(CHOSEN).persist_session(false);
    let ran = run(&stage, claude, "heron").await;
    assert_eq!(ran.id, CHOSEN);
    assert!(!transcript(&stage, CHOSEN).exists());
    let (kept, unknown) = (
        stage.claude().resume(CHOSEN),
        stage.claude().resume(UNKNOWN),
    );
    tokio::join!(
        no_such_session(kept, CHOSEN),
        no_such_session(unknown, UNKNOWN)
    );
    Verdicts::new()
        .pass("sessions/without a transcript")
        .pass("sessions/unknown id")
}

/// What is left of a session whose agent was killed in its first turn: a file, and no message in it.
async fn nothing_in_it(cli: Cli) -> Verdicts {
    let stage = cli.stage(TALK).await;
    let queued = format!(
        "{{\"type\":\"queue-operation\",\"operation\":\"enqueue\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"sessionId\":\"{CHOSEN}\"}}\n"
    );
    let cut = "{\"parentUuid\":null,\"type\":\"user\",\"mess";
    let transcript = transcript(&stage, CHOSEN);
    std::fs::create_dir_all(transcript.parent().unwrap()).unwrap();
    for text in ["", cut, &queued] {
        std::fs::write(&transcript, text).unwrap();
        let resuming = stage.claude().resume(CHOSEN);
        match stage.cli.is(OLDEST) {
            true => may_greet_and_ends(resuming).await,
            false => no_such_session(resuming, CHOSEN).await,
        }
        in_use(stage.claude().session_id(CHOSEN), CHOSEN).await;
    }
    let verdict = match stage.cli.is(OLDEST) {
        true => NotInVersion("a resume may answer the greeting before it fails".into()),
        false => Pass,
    };
    Verdicts::new().say("sessions/transcript without a message", verdict)
}

/// The end comes before or behind the reply to the greeting, with the reason on stderr.
async fn may_greet_and_ends(claude: Claude) {
    let session = match soon("the greeting", claude.connect()).await {
        Ok(session) => session,
        Err(Error::NoSuchSession { id }) => return assert_eq!(id, CHOSEN),
        Err(other) => panic!("{other:?}"),
    };
    let closed = soon("the end", session.closed()).await;
    let reason = format!("No conversation found with session ID: {CHOSEN}");
    assert_eq!(
        (closed.code, closed.last_words()),
        (Some(1), Some(&*reason))
    );
}
