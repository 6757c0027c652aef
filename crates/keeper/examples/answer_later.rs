//! An agent that outlives this program: start it, come back another time, answer what it asked meanwhile.
//!
//! `cargo run --example answer_later -- FOLDER start "Tidy up." [path of claude]`, then `… -- FOLDER answer yes|no`. The
//! program is its own keeper: a host that is installed as one file needs no second one.
#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use countersign_client::{Claude, Question};
use countersign_keeper::attach::{
    Counting, Credentials, Kept, Launch, Outbox, attach, connect, launch,
};
use countersign_keeper::protocol::{Role, Standing};
use countersign_keeper::{Graces, KeeperCommand};

fn main() -> ExitCode {
    // Before the runtime and its threads: a keeper forks.
    if let Some(code) = countersign_keeper::main_if_asked() {
        return code;
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

#[tokio::main]
async fn run(arguments: &[&str]) -> Result<(), Box<dyn std::error::Error>> {
    match arguments {
        [folder, "start", prompt, claude @ ..] => start(Path::new(folder), prompt, claude).await,
        [folder, "answer", answer] => answer_all(Path::new(folder), *answer == "yes").await,
        _ => Err("usage: answer_later FOLDER start PROMPT [CLAUDE] | FOLDER answer yes|no".into()),
    }
}

async fn start(
    folder: &Path,
    prompt: &str,
    claude: &[&str],
) -> Result<(), Box<dyn std::error::Error>> {
    let mut options = Claude::new().questions();
    if let Some(claude) = claude.first() {
        options = options.cli(PathBuf::from(claude));
    }
    std::fs::create_dir_all(folder)?;
    let token = token(folder)?;
    let keeper = KeeperCommand::this_program()?;
    let order = Launch {
        session: "example".to_owned(),
        generation: 1,
        dir: folder.join("session"),
        run: folder.join("run"),
        token,
        epoch: next_epoch(&folder.join("session")),
        graces: Graces::default(),
        has_hooks: false,
    };
    let mut kept = launch(options, keeper, &order, count).await?;
    let turn = kept.session.send(prompt).await?;
    tokio::select! {
        result = turn => println!("{}", result?.text()),
        Some(question) = kept.session.questions.next() => {
            show(&question);
            println!("Left open; the agent waits.");
        }
    }
    // Nothing is said to the agent by this.
    Ok(())
}

async fn answer_all(folder: &Path, is_yes: bool) -> Result<(), Box<dyn std::error::Error>> {
    let dir = folder.join("session");
    let who = Credentials {
        epoch: next_epoch(&dir),
        token: token(folder)?,
        role: Role::Own,
    };
    let attachment = connect(&dir, &who, Duration::from_secs(10), count).await?;
    let Kept { mut session, .. } =
        attach(Claude::new().questions(), &dir, attachment, None).await?;
    let handle = session.handle.clone();
    loop {
        tokio::select! {
            idle = handle.idle() => break idle?,
            Some(question) = session.questions.next() => {
                show(&question);
                if let Question::Permission(mut question) = question {
                    question.note(r#"{"by":"the example"}"#.parse()?);
                    match is_yes {
                        true => question.allow()?,
                        false => question.deny("The user said no.")?,
                    }
                }
            }
        }
    }
    println!("Nothing is open any more.");
    handle.close().await;
    Ok(())
}

fn show(question: &Question) {
    match question {
        Question::Permission(question) => println!("{} {}", question.tool_name, question.input),
        other => println!("{}", other.responder().subtype()),
    }
}

/// Each host is one more than the last, which the journal tells.
fn next_epoch(dir: &Path) -> u64 {
    countersign_journal::survey(dir).map_or(1, |told| told.epoch + 1)
}

/// Whoever has the token may answer, so it is for this user alone, and made once. A real host keeps it where it keeps its
/// other secrets.
fn token(folder: &Path) -> std::io::Result<String> {
    let path = folder.join("token");
    let token = uuid::Uuid::new_v4().to_string();
    let made = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path);
    match made {
        Ok(mut file) => file.write_all(token.as_bytes()).map(|()| token),
        Err(_) => std::fs::read_to_string(&path),
    }
}

fn count(standing: &Standing) -> Box<dyn Outbox> {
    Box::new(Counting::after(standing.last_n))
}
