//! Endings: by wish, by letting go, by a signal. In each the agent and all it started must be gone.

use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign_client::hook::PreToolUse;
use countersign_client::wire::vocab::PermissionMode;
use countersign_client::{
    AllowAll, Closed, EndedBy, Error, Event, Hook, Kind, Session, Turn, Withdrawn,
};
use rustix::process::{Pid, Signal, kill_process};

use crate::harness::{Cli, OLDEST, Pass, Verdicts};
use crate::look::{connect, ended, gone, is_alive, pid_in, question, run, staying, turns};
use crate::stage::{Stage, line, soon, until};

cases! {
    close_idle {
        "ending/close, idle" => "exit code 0 after stdin was closed, and the process is gone",
    }
    close_in_a_turn {
        "ending/close, in a turn" => "the turn got its result as interrupted, and agent and command are gone",
        "ending/close, a question open" => "it was withdrawn, the turn ended, the file is not there",
    }
    close_with_background_work {
        "ending/close, background command" => "it is gone with the agent, after the grace for it",
    }
    drop_of_the_handle {
        "ending/drop" => "the agent and its command, in a session of its own, are gone",
        "ending/drop of a query" => "the agent is gone",
    }
    signals {
        "ending/SIGKILL from outside" => "the turn failed with the signal, and the command is gone",
        "ending/SIGTERM from outside" => "the turn failed with the exit code, and the command is gone",
    }
    a_start_that_fails {
        "ending/start that fails" => "an error with exit code and what the CLI said of it",
    }
    hooks_do_not_fail_open {
        "ending/close, a hook has not answered" => "the file that the hook did not allow is not there",
    }
}

/// A session in a turn whose command runs; both processes.
async fn at_work(stage: &Stage) -> (Session, Turn, [u32; 2]) {
    let session = connect(stage.claude().permissions(AllowAll)).await;
    let turn = session.send("Stay.").await.unwrap();
    let command = pid_in(&stage.path("pid")).await;
    let agent = session.pid().unwrap();
    assert!(is_alive(agent));
    (session, turn, [agent, command])
}

async fn all_gone(pids: [u32; 2]) {
    gone("the end of the agent", pids[0]).await;
    gone("the end of the command", pids[1]).await;
}

async fn close_idle(cli: Cli) -> Verdicts {
    let stage = cli.stage("reply\n  say \"Hello.\"\n").await;
    let mut session = connect(stage.claude()).await;
    run(&session, "Hi").await;
    let pid = session.pid().unwrap();
    let closed = soon("the end", session.close()).await;
    assert_eq!(
        (closed.code, closed.ended_by),
        (Some(0), Some(EndedBy::Eof)),
        "{closed}"
    );
    assert!(closed.is_clean() && !is_alive(pid));
    let refused = session.send("More?").await;
    assert!(refused.is_err_and(|error| error.is_closed()));
    let last = async {
        let mut last = None;
        while let Some(event) = session.events.next().await {
            last = Some(event);
        }
        last
    };
    assert!(matches!(
        soon("the last event", last).await,
        Some(Event::Closed(_))
    ));
    Pass.into()
}

async fn close_in_a_turn(cli: Cli) -> Verdicts {
    let stage = cli.stage(&turns([staying("pid").as_str()])).await;
    let (session, turn, pids) = at_work(&stage).await;
    let closed = soon("the end", session.close()).await;
    assert_eq!(closed.ended_by, Some(EndedBy::Eof), "{closed}");
    assert!(ended(turn).await.is_interrupted());
    all_gone(pids).await;

    let stage = cli
        .stage(&turns([
            r#"Write {"file_path":"${cwd}/no.txt","content":"x"}"#,
        ]))
        .await;
    let mut session = stage.asking().await;
    let turn = session.send("Write.").await.unwrap();
    let open = question(&mut session.questions).await;
    let closed = soon("the end", session.close()).await;
    assert_eq!(closed.ended_by, Some(EndedBy::Eof), "{closed}");
    assert!(open.interest().is_withdrawn());
    assert_eq!(open.allow(), Err(Withdrawn));
    assert!(ended(turn).await.is_interrupted());
    assert_eq!(stage.read("no.txt"), None);
    Verdicts::new()
        .pass("ending/close, in a turn")
        .pass("ending/close, a question open")
}

async fn close_with_background_work(cli: Cli) -> Verdicts {
    let call = r#"Bash {"command":"echo $$ > pid; exec sleep 1000","description":"stay","run_in_background":true}"#;
    let stage = cli.stage(&turns([call])).await;
    let claude = stage.claude().permissions(AllowAll);
    let grace = Duration::from_secs(1);
    let session = connect(claude.graces(|graces| graces.background = grace)).await;
    assert!(run(&session, "Stay.").await.is_success());
    let command = pid_in(&stage.path("pid")).await;
    let agent = session.pid().unwrap();
    let begun = Instant::now();
    let closed = soon("the end", session.close()).await;
    // From 2.1.62 on the CLI waits for its background work, and is given a second for it.
    match cli.is(OLDEST) {
        true => assert_eq!(closed.ended_by, Some(EndedBy::Eof), "{closed}"),
        false => {
            assert_eq!(closed.ended_by, Some(EndedBy::Term), "{closed}");
            assert!(begun.elapsed() >= grace);
        }
    }
    all_gone([agent, command]).await;
    Pass.into()
}

async fn drop_of_the_handle(cli: Cli) -> Verdicts {
    let stage = cli.stage(&turns([staying("pid").as_str()])).await;
    let (session, turn, pids) = at_work(&stage).await;
    drop((session, turn));
    all_gone(pids).await;

    let stage = cli
        .stage("reply\n  pace 40ms\n  say repeat 500 \"Slowly on. \"\n")
        .await;
    let query = stage.claude().include_partial_messages(true).query("Talk.");
    let mut run = soon("the start", query.start()).await.unwrap();
    let pid = run.handle().pid().unwrap();
    let streams = async {
        while let Some(event) = run.next().await {
            let event = event.unwrap();
            if event
                .frame()
                .is_some_and(|frame| frame.kind() == Kind::StreamEvent)
            {
                return;
            }
        }
        panic!("the run ended before text came");
    };
    soon("text", streams).await;
    assert!(is_alive(pid));
    drop(run);
    gone("the end of the agent", pid).await;
    Verdicts::new()
        .pass("ending/drop")
        .pass("ending/drop of a query")
}

/// How a turn fails when its agent is ended by a signal from outside.
async fn killed(cli: &Cli, signal: Signal) -> Arc<Closed> {
    let stage = cli.stage(&turns([staying("pid").as_str()])).await;
    let (session, turn, pids) = at_work(&stage).await;
    kill_process(Pid::from_raw(pids[0] as i32).unwrap(), signal).unwrap();
    let closed = match soon("the end of the turn", turn).await {
        Err(Error::Closed(closed)) => closed,
        other => panic!("{other:?}"),
    };
    all_gone(pids).await;
    assert!(
        session.is_closed() && !closed.is_clean() && closed.ended_by.is_none(),
        "{closed}"
    );
    let refused = soon("a refusal", session.interrupt()).await;
    assert!(refused.is_err_and(|error| error.is_closed()));
    closed
}

async fn signals(cli: Cli) -> Verdicts {
    let closed = killed(&cli, Signal::KILL).await;
    assert_eq!((closed.code, closed.signal), (None, Some(9)), "{closed}");
    assert!(closed.swept >= 1, "the command was left behind");
    let closed = killed(&cli, Signal::TERM).await;
    assert_eq!((closed.code, closed.signal), (Some(143), None), "{closed}");
    Verdicts::new()
        .pass("ending/SIGKILL from outside")
        .pass("ending/SIGTERM from outside")
}

async fn a_start_that_fails(cli: Cli) -> Verdicts {
    let stage = cli.stage("reply\n  say \"Hello.\"\n").await;
    let failed = soon(
        "an error",
        stage.claude().extra_flag("no-such-flag").connect(),
    )
    .await;
    let Err(error) = failed else {
        panic!("it came up")
    };
    assert!(matches!(error, Error::Handshake(_)), "{error:?}");
    assert_eq!(error.exit_code(), Some(1));
    assert!(
        error
            .stderr()
            .is_some_and(|said| said.contains("unknown option '--no-such-flag'"))
    );
    assert!(error.to_string().contains("unknown option"), "{error}");
    Pass.into()
}

async fn hooks_do_not_fail_open(cli: Cli) -> Verdicts {
    let write = r#"Write {"file_path":"${cwd}/no.txt","content":"x"}"#;
    let stage = cli.stage(&format!("reply 2 times\n  tool {write}\n")).await;
    let (told, mut asked) = tokio::sync::mpsc::unbounded_channel();
    let hook = Hook::of(PreToolUse, move |_, _| {
        let _ = told.send(());
        std::future::pending::<()>()
    });
    let claude = stage.claude().permissions(AllowAll).hook(hook);
    let claude = claude.permission_mode(PermissionMode::AcceptEdits);
    let mut session = connect(claude.clone()).await;
    let turn = session.send("Write.").await.unwrap();
    soon("the hook", asked.recv()).await.unwrap();
    soon("the end", session.close()).await;
    assert!(
        soon("the end of the turn", turn)
            .await
            .is_ok_and(|result| result.is_interrupted())
    );
    assert_eq!(stage.read("no.txt"), None);
    line(&mut session.events, "the call", |line| {
        line.to_string().contains("no.txt")
    })
    .await;

    // The same without time for an interrupt: the agent is killed rather than its stdin closed.
    let session = connect(claude.graces(|graces| graces.interrupt = Duration::ZERO)).await;
    let turn = session.send("Write.").await.unwrap();
    soon("the hook", asked.recv()).await.unwrap();
    let pid = session.pid().unwrap();
    soon("the end", session.close()).await;
    drop(turn);
    until("the end of the agent", || !is_alive(pid)).await;
    assert_eq!(stage.read("no.txt"), None);
    Pass.into()
}
