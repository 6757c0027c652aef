//! Runs one take: starts the CLI, says what is to be said, answers what is asked, and keeps every line.
//!
//! The thin shell around `seen`. Invariant: a take ends within its deadline, and no process of it is left.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use countersign_client::{Claude, Error, PermissionQuestion, Question, Questions};
use countersign_wire::recording::Direction;

use super::probe;
use super::seen::{Refusal, Seen};
use super::stage::{Agent, Stage, StageError};
use super::takes::{Answers, BROKEN, DENIAL, SERVER, Step, Take, TakeName, form};

/// No take lasts so long, even on a slow machine.
const DEADLINE: Duration = Duration::from_secs(90);

/// Why a take could not be run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PerformError {
    #[error(transparent)]
    Stage(#[from] StageError),
    #[error("{0}; try `--claude` with another version of the CLI")]
    Client(#[from] Error),
    #[error("cannot read what the CLI left in its folder: {0}")]
    Files(std::io::Error),
    #[error(
        "no end within {} s: try again on a machine with less to do, or with `--claude` another version",
        DEADLINE.as_secs()
    )]
    TooLong,
    #[error("the CLI started as root with permissions bypassed, which every known version refuses")]
    NotRefused,
}

/// A take that was run.
#[derive(Debug)]
pub(crate) struct Performed {
    pub(crate) name: TakeName,
    pub(crate) lines: Vec<Line>,
    pub(crate) seen: Seen,
}

/// One line of the wire.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) at: Duration,
    pub(crate) direction: Direction,
    pub(crate) bytes: Vec<u8>,
}

/// Runs it.
pub(crate) async fn perform(agent: &Agent, take: &Take) -> Result<Performed, PerformError> {
    let stage = Stage::set(take.script, &[BROKEN]).await?;
    let lines = Arc::new(Mutex::new(Vec::new()));
    let claude = claude(&stage, agent, take, Arc::clone(&lines))?;
    let played = tokio::time::timeout(DEADLINE, play(claude, take));
    let played = played.await.map_err(|_| PerformError::TooLong)?;
    let refusal = match (played, take.name) {
        (Ok(()), TakeName::Root) => return Err(PerformError::NotRefused),
        (Ok(()), _) => None,
        (Err(Error::Handshake(closed)), TakeName::Root) => Some(Refusal {
            code: closed.code,
            words: closed.last_words().unwrap_or_default().to_owned(),
        }),
        (Err(error), _) => return Err(error.into()),
    };
    let lines = std::mem::take(&mut *lines.lock().unwrap_or_else(PoisonError::into_inner));
    let wire: Vec<(Direction, Vec<u8>)> = lines
        .iter()
        .map(|line: &Line| (line.direction, stage.without_paths(&line.bytes)))
        .collect();
    let seen = Seen {
        files: stage.files().map_err(PerformError::Files)?,
        refusal,
        ..Seen::of(wire.iter().map(|(way, line)| (*way, line.as_slice())))
    };
    Ok(Performed {
        name: take.name,
        lines,
        seen,
    })
}

fn claude(
    stage: &Stage,
    agent: &Agent,
    take: &Take,
    lines: Arc<Mutex<Vec<Line>>>,
) -> Result<Claude, StageError> {
    let more: &[(&str, &str)] = match take.is_sandbox {
        true => &[("IS_SANDBOX", "1")],
        false => &[],
    };
    let started = Instant::now();
    let mut claude = stage
        .claude(agent, more)?
        .include_partial_messages(take.partial)
        .tap(move |direction, bytes| {
            let line = Line {
                at: started.elapsed(),
                direction,
                bytes: bytes.to_vec(),
            };
            lines
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(line);
        });
    if let Some(mode) = take.mode.clone() {
        claude = claude.permission_mode(mode);
    }
    if take.answers.is_some() {
        claude = claude.questions();
    }
    if take.server {
        claude = claude.mcp_messages(SERVER.0, probe::answer);
    }
    Ok(claude)
}

/// The steps of the take, one after the other, then the end.
async fn play(claude: Claude, take: &Take) -> Result<(), Error> {
    let session = claude.connect().await?;
    let answering = take
        .answers
        .map(|how| tokio::spawn(answer(session.questions, how)));
    let handle = session.handle;
    let mut played = Ok(());
    for step in &take.steps {
        played = match step {
            Step::Say(text) => say(&handle, text).await,
            Step::Mode(mode) => handle.set_permission_mode(mode.clone()).await.map(drop),
        };
        if played.is_err() {
            break;
        }
    }
    // Whatever came of it: a second answer to a request is there once the CLI has ended.
    handle.close().await;
    if let Some(answering) = answering {
        answering.abort();
    }
    played
}

async fn say(handle: &countersign_client::Handle, text: &str) -> Result<(), Error> {
    handle.send(text).await?.await?.ok().map(drop)
}

/// Answers what is asked until the session ends.
async fn answer(mut questions: Questions, how: Answers) {
    let mut count = 0;
    while let Some(question) = questions.next().await {
        if let Question::Permission(question) = question {
            count += 1;
            // A question that was withdrawn needs no answer.
            let _ = match how {
                Answers::Allow => question.allow(),
                Answers::Deny => question.deny(DENIAL),
                Answers::DenyFirst if count == 1 => question.deny(DENIAL),
                Answers::DenyFirst => question.allow(),
                Answers::Forms => answer_in_form(question),
            };
        }
    }
}

fn answer_in_form(question: PermissionQuestion) -> Result<(), countersign_client::Withdrawn> {
    let input = question.input.to_value().unwrap_or_default();
    let file = input["file_path"].as_str().unwrap_or_default();
    let name = std::path::Path::new(file).file_name().unwrap_or_default();
    let reply = form(&name.to_string_lossy(), input.clone());
    question.into_responder().reply(&reply)
}
