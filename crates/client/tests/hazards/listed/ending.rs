//! Ends that nobody asked for, and ends that leave nothing.

use std::time::Duration;

use countersign_client::{AllowAll, Decision, Event, PermissionRequest, Question, Session};
use serde_json::Value;

use crate::stage::{Stage, alone, own_status, until, within};

#[tokio::test]
pub(crate) async fn a_death_in_the_middle_of_a_line_is_told_with_what_there_was() {
    let stage =
        Stage::new("turn\n say \"So far.\"\n stderr \"Segmentation fault\"\n crash mid-line");
    let mut session = within(stage.claude().connect()).await.unwrap();
    let error = within(session.send("go").await.unwrap()).await.unwrap_err();
    let closed = error.closed().unwrap();
    assert_eq!((closed.code, closed.signal), (None, Some(9)));
    assert_eq!(closed.ended_by, None, "nobody here sent that signal");
    assert!(!closed.is_clean());
    let text = error.to_string();
    assert!(
        text.contains("SIGKILL") && text.contains("Segmentation fault"),
        "{text}"
    );
    let mut last = None;
    loop {
        match within(session.events.next()).await {
            Some(Event::Message(frame)) => last = Some(frame),
            Some(Event::Closed(_)) => break,
            Some(_) => {}
            None => panic!("the end is an event"),
        }
    }
    let last = last.unwrap();
    assert!(
        last.message().is_err() && !last.line().is_empty(),
        "half a line is there as well: {last:?}"
    );
    stage.until_nothing_runs().await;
}

#[tokio::test]
pub(crate) async fn an_agent_let_go_with_approvals_open_runs_none_of_them() {
    let scenario = r#"turn
        ask Bash {"command":"rm -rf one"} gives "done" nowait
        ask Bash {"command":"rm -rf two"} gives "done" nowait
        wait answers
        say "Answered."
        wait forever"#;
    // As values: one is held by somebody, one waits to be taken.
    let stage = Stage::new(scenario);
    let Session {
        handle,
        events,
        mut questions,
        ..
    } = within(stage.claude().questions().connect()).await.unwrap();
    drop(handle.send("go").await.unwrap());
    let Some(Question::Permission(card)) = within(questions.next()).await else {
        panic!("no question came");
    };
    until("both are open", || handle.open_questions() == 2).await;
    let interest = card.interest().clone();
    drop((handle, events));
    within(interest.withdrawn()).await;
    stage.until_nothing_runs().await;
    assert!(card.allow().is_err(), "too late");
    drop(questions);
    assert_none_allowed(&stage);

    // In a handler that never decides.
    let stage = Stage::new(scenario);
    let handler = |_: PermissionRequest| std::future::pending::<Decision>();
    let session = within(stage.claude().permissions(handler).connect())
        .await
        .unwrap();
    drop(session.send("go").await.unwrap());
    until("both are open", || session.open_questions() == 2).await;
    drop(session);
    stage.until_nothing_runs().await;
    assert_none_allowed(&stage);
}

fn assert_none_allowed(stage: &Stage) {
    let allowed = |answer: &Value| answer["response"]["behavior"] == "allow";
    assert!(
        !stage.answers().iter().any(allowed),
        "{:?}",
        stage.answers()
    );
}

#[tokio::test]
pub(crate) async fn a_grandchild_that_holds_the_pipes_open_delays_no_end() {
    let stage = Stage::new(
        r#"turn
             spawn "echo $$ > near; exec sleep 600"
             spawn detached "echo $$ > far; exec sleep 600"
             wait control mcp_status
             stderr "gone before my children"
             exit 7"#,
    );
    let session = within(stage.claude().connect()).await.unwrap();
    let turn = session.send("go").await.unwrap();
    stage.pid_in("near").await;
    stage.pid_in("far").await;
    let _ = within(session.mcp_status()).await;
    // stdout and stderr are open for ten more minutes, but the end comes now.
    let error = within(turn).await.unwrap_err();
    assert_eq!(error.exit_code(), Some(7));
    assert_eq!(error.stderr(), Some("gone before my children\n"));
    assert_eq!(error.closed().unwrap().swept, 2);
    stage.assert_nothing_runs();
}

#[tokio::test]
pub(crate) async fn a_closed_stdout_is_the_end_of_the_agent() {
    let stage = Stage::new("turn\n say \"Last words.\"\n close stdout\n wait forever");
    let claude = stage
        .claude()
        .graces(|graces| graces.close = Duration::from_millis(200));
    let session = within(claude.connect()).await.unwrap();
    let error = within(session.send("go").await.unwrap()).await.unwrap_err();
    assert!(error.is_closed(), "{error}");
    stage.until_nothing_runs().await;
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

const SESSIONS: usize = 100;

async fn open(stage: &Stage) -> Session {
    stage
        .claude()
        .permissions(AllowAll)
        .connect()
        .await
        .unwrap()
}

#[test]
pub(crate) fn a_hundred_sessions_in_one_process() {
    alone(
        "listed::ending::a_hundred_sessions_in_one_process",
        &[],
        async {
            let stage = Stage::new(
                r#"turn always
                 ask Bash {"command":"ls"} gives "ok"
                 say "${prompt}""#,
            );
            // The first one starts what all of them share.
            let first = within(open(&stage)).await;
            within(first.send("warm up").await.unwrap()).await.unwrap();
            let (threads, files) = (own_status("Threads"), open_files());
            let sessions = within(futures_util::future::join_all(
                (0..SESSIONS).map(|_| open(&stage)),
            ))
            .await;
            let turns = sessions.iter().enumerate().map(|(n, session)| async move {
                let turn = session.send(format!("prompt {n}")).await.unwrap();
                turn.await.unwrap().text().to_owned()
            });
            let texts = within(futures_util::future::join_all(turns)).await;
            for (n, text) in texts.iter().enumerate() {
                assert_eq!(*text, format!("prompt {n}"), "each has its own answer");
            }
            assert_eq!(stage.running().len(), SESSIONS + 1);
            let more_threads = own_status("Threads").saturating_sub(threads);
            assert!(more_threads <= 2, "{more_threads} threads more");
            let more_files = open_files() - files;
            assert!(more_files <= 4 * SESSIONS, "{more_files} files more");

            drop(sessions);
            let only_first = [first.pid().unwrap()];
            until("all are gone but the first", || {
                stage.running() == only_first
            })
            .await;
            until("their files are closed", || open_files() <= files + 1).await;
            let again = within(first.send("still here").await.unwrap())
                .await
                .unwrap();
            assert_eq!(again.text(), "still here");
            within(first.close()).await;
            stage.assert_nothing_runs();
        },
    );
}
