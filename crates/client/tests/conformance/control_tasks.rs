//! Control requests about work: interrupt, queued messages, background tasks.

use std::path::Path;

use countersign_client::{AllowAll, Error, Session, Turn};
use serde_json::{Value, json};

use crate::absent::{Lacking, absent, impatient, lacking, show};
use crate::harness::{Cli, NotInVersion, OLDEST, Verdicts};
use crate::stage::{Stage, answer, line, lines, soon, turn, until};

cases! {
    interrupt {
        "control/interrupt" => "the running turn ends at once as interrupted and the next one runs; idle, nothing happens",
        "control/interrupt of queued messages" => "a queued message never reaches the model, its turn ends as taken back",
        "control/cancel_async_message" => "a queued message is taken back: it never reaches the model; one that ran is not",
    }
    background {
        "control/background_tasks" => "the turn ends while the command it waited for goes on",
        "control/get_task_output" => "what the task has printed",
        "control/stop_task" => "its process is gone and the session is idle; 2.1.325 tells of it",
    }
}

/// Every second answer is slow.
const SLOW: &str = r#"
reply
  say "It begins."
  wait 60s
  say "Too late."
reply
  say "Well."
reply
  say "It begins again."
  wait 60s
  say "Too late."
reply always
  say "Well."
"#;

/// Sends a message and waits until its answer has begun.
async fn begun(session: &mut Session, prompt: &str) -> Turn {
    lines(&mut session.events);
    let turn = session.send(prompt).await.unwrap();
    let is_text = |line: &Value| line["event"]["delta"]["type"] == "text_delta";
    line(&mut session.events, "the slow answer", is_text).await;
    turn
}

async fn interrupt(cli: Cli) -> Verdicts {
    let stage = cli.stage(SLOW).await;
    let claude = impatient(&cli, stage.claude()).include_partial_messages(true);
    let mut session = claude.connect().await.unwrap();
    session.interrupt().await.unwrap();
    let slow = begun(&mut session, "Be slow").await;
    session.interrupt().await.unwrap();
    let result = soon("the interrupted turn", slow).await.unwrap();
    assert!(
        result.is_interrupted() && !result.is_success(),
        "{result:?}"
    );
    turn(&mut session, "Go on").await.1.ok().unwrap();
    let verdicts = Verdicts::new().pass("control/interrupt");
    if !cli.is_newest() {
        return queued_on_older(&cli, &mut session, verdicts).await;
    }
    let slow = begun(&mut session, "Be slow again").await;
    let queued = session.send("Number one in the queue").await.unwrap();
    assert!(session.cancel_message(queued.uuid()).await.unwrap());
    let taken_back = soon("its end", queued).await;
    assert!(
        matches!(taken_back, Err(Error::Cancelled { .. })),
        "{taken_back:?}"
    );
    let queued = session.send("Number two in the queue").await.unwrap();
    line(&mut session.events, "queued", |line| {
        line["state"] == "queued" && line["command_uuid"] == queued.uuid()
    })
    .await;
    let receipt = session.interrupt_all().await.unwrap();
    assert_eq!(receipt.cancelled, [queued.uuid()]);
    let dropped = soon("its end", queued).await;
    assert!(
        matches!(dropped, Err(Error::Cancelled { .. })),
        "{dropped:?}"
    );
    let slow = soon("the interrupted turn", slow).await.unwrap();
    assert!(slow.is_interrupted());
    turn(&mut session, "Go on").await.1.ok().unwrap();
    assert!(
        !session
            .cancel_message("5e551011-0000-4000-8000-00000000000b")
            .await
            .unwrap()
    );
    let all: String = stage.asked().iter().map(Value::to_string).collect();
    assert!(!all.contains("in the queue"), "{all}");
    verdicts
        .pass("control/interrupt of queued messages")
        .pass("control/cancel_async_message")
}

/// Older CLIs run what is queued whatever the interrupt says, and cannot be asked to take a message back.
async fn queued_on_older(cli: &Cli, session: &mut Session, verdicts: Verdicts) -> Verdicts {
    let drop_all = session.interrupt_all().await;
    assert!(
        matches!(drop_all, Err(Error::Unsupported { .. })),
        "{drop_all:?}"
    );
    let slow = begun(session, "Be slow again").await;
    let queued = session.send("Number one in the queue").await.unwrap();
    let body = json!({"cancel_queued": true}).into();
    session.control("interrupt", &body).await.unwrap();
    soon("the interrupted turn", slow).await.unwrap();
    soon("the queued turn", queued).await.unwrap().ok().unwrap();
    let call = session.cancel_message("x");
    let cancel = absent(cli, session, "cancel_async_message", call).await;
    verdicts
        .say(
            "control/interrupt of queued messages",
            NotInVersion("the queued message runs all the same; the client refuses".into()),
        )
        .say("control/cancel_async_message", cancel)
}

const WORK: &str = r#"
reply when "in front"
  tool Bash {"command":"echo $$ > pid; echo printed; exec sleep 600","description":"Work"}
reply when "in the back"
  tool Bash {"command":"echo $$ > pid; echo printed; exec sleep 600","description":"Work","run_in_background":true}
reply always
  say "It runs."
"#;

async fn background(cli: Cli) -> Verdicts {
    let stage = cli.stage(WORK).await;
    let claude = impatient(&cli, stage.claude()).permissions(AllowAll);
    let mut session = claude.connect().await.unwrap();
    if cli.is(OLDEST) {
        turn(&mut session, "Hello").await;
        let stop = lacking("control/stop_task", session.stop_task("x"));
        let requests = no_tasks(&session).into_iter().chain([stop]);
        return show(&cli, &session, requests.collect()).await;
    }
    let place = if cli.is_newest() {
        "in front"
    } else {
        "in the back"
    };
    let turn = session.send(format!("Work {place}")).await.unwrap();
    // What runs in front counts as a task after three seconds.
    let is_start = |line: &Value| line["subtype"] == "task_started";
    let task = line(&mut session.events, "the task", is_start).await;
    let task = task["task_id"].as_str().unwrap().to_owned();
    if cli.is_newest() {
        session.background_tasks(None).await.unwrap();
    }
    soon("the result", turn).await.unwrap().ok().unwrap();
    let pid = pid(&stage).await;
    assert!(is_alive(&pid) && !session.is_idle());
    let verdicts = match cli.is_newest() {
        true => printed(&session, &task).await,
        false => show(&cli, &session, no_tasks(&session).into()).await,
    };
    session.stop_task(&task).await.unwrap();
    if cli.is_newest() {
        let is_end = |line: &Value| line["subtype"] == "task_notification";
        let end = line(&mut session.events, "word of its end", is_end).await;
        assert_eq!(end["status"], "stopped");
    }
    until("the process to go", || !is_alive(&pid)).await;
    soon("idle", session.idle()).await.unwrap();
    verdicts.and_the_rest_of(features::background())
}

fn no_tasks(session: &Session) -> [Lacking<'_>; 2] {
    [
        lacking("control/background_tasks", session.background_tasks(None)),
        lacking("control/get_task_output", session.task_output("x")),
    ]
}

async fn printed(session: &Session, task: &str) -> Verdicts {
    let printed = || async {
        let reply = session.task_output(task).await.unwrap();
        (reply.output == "printed\n").then_some(())
    };
    answer("what it printed", printed).await;
    Verdicts::new()
}

/// The process that the command has told of.
async fn pid(stage: &Stage) -> String {
    let told = || stage.read("pid").is_some_and(|pid| pid.ends_with('\n'));
    until("the pid", told).await;
    stage.read("pid").unwrap().trim().to_owned()
}

fn is_alive(pid: &str) -> bool {
    Path::new("/proc").join(pid).exists()
}
