//! Sub-agents and background work: whose lines these are, who asks, and turns that nobody sent.

use std::path::Path;
use std::time::Duration;

use countersign_client::{AllowAll, Error, Session};
use serde_json::Value;

use crate::harness::{Cli, MIDDLE, NotInVersion, OLDEST, Pass, Verdict, Verdicts};
use crate::look::{close, connect, ended, gone, pid_in, question, run};
use crate::stage::{line, lines, soon, until};

cases! {
    in_the_foreground {
        "subagents/lines of a sub-agent" => "they carry the id of the call that started it",
        "subagents/question of a sub-agent" => "it carries the agent's id; allowed, the file is there",
        "subagents/report of a sub-agent" => "the model was sent it as the result of the call",
    }
    in_the_background {
        "subagents/question after the result" => "a background agent asked when the turn was over; allowed, the file is there",
    }
    background_bash {
        "subagents/turn that the CLI starts" => "the end of a background command started a turn that nobody sent",
        "subagents/idle" => "the session is not idle while the command runs, and is after that turn",
        "subagents/stop_task" => "the process of a background command is gone",
    }
}

const FOREGROUND: &str = r#"
reply
  tool Task {"description":"Help","subagent_type":"general-purpose","prompt":"You are the helper.","run_in_background":false}
reply in "You are the helper."
  tool Write {"file_path":"${cwd}/helped.txt","content":"x"}
reply in "You are the helper."
  say "The file is written."
reply
  say "The helper is done."
"#;

async fn in_the_foreground(cli: Cli) -> Verdicts {
    let stage = cli.stage(FOREGROUND).await;
    let mut session = stage.asking().await;
    let turn = session.send("Get help.").await.unwrap();
    let asked = question(&mut session.questions).await;
    let agent = asked.agent_id.clone().expect("the agent's id");
    asked.allow().unwrap();
    assert_eq!(ended(turn).await.text(), "The helper is done.");
    assert!(stage.path("helped.txt").exists());

    let lines = lines(&mut session.events);
    let is_call = |block: &Value| block["type"] == "tool_use" && block["name"] == "Task";
    let call = lines.iter().find_map(|line| {
        let blocks = line["message"]["content"].as_array()?;
        blocks.iter().find(|block| is_call(block))?["id"].as_str()
    });
    let call = call.expect("the call of Task");
    let parents = lines
        .iter()
        .filter_map(|line| line["parent_tool_use_id"].as_str());
    let parents: Vec<&str> = parents.collect();
    assert!(
        !parents.is_empty() && parents.iter().all(|parent| *parent == call),
        "{parents:?}"
    );
    let started = lines.iter().find(|line| line["subtype"] == "task_started");
    if let Some(started) = started {
        assert_eq!(started["task_id"], agent.as_str());
    }
    assert_eq!(started.is_some(), !cli.is(OLDEST));
    assert!(stage.last_result().text.contains("The file is written."));
    close(session).await;
    Verdicts::new()
        .pass("subagents/lines of a sub-agent")
        .pass("subagents/question of a sub-agent")
        .pass("subagents/report of a sub-agent")
}

const BACKGROUND: &str = r#"
reply
  tool Task {"description":"Help","subagent_type":"general-purpose","prompt":"You are the helper.","run_in_background":true}
reply in "You are the helper."
  wait 800ms
  tool Write {"file_path":"${cwd}/helped.txt","content":"x"}
reply in "You are the helper."
  say "The helper stops."
reply always
  say "I go on."
"#;

async fn in_the_background(cli: Cli) -> Verdicts {
    let stage = cli.stage(BACKGROUND).await;
    let mut session = stage.asking().await;
    let turn = session.send("Get help.").await.unwrap();
    if cli.is_newest() {
        assert!(ended(turn).await.is_success());
        assert!(!session.is_idle(), "the helper still works");
        let asked = question(&mut session.questions).await;
        assert!(asked.agent_id.is_some());
        asked.allow().unwrap();
        until("the file", || stage.path("helped.txt").exists()).await;
        soon("the session to be idle", session.idle())
            .await
            .unwrap();
        close(session).await;
        return Pass.into();
    }
    // The helper's second request shows that its call was decided, without the host.
    let decided = || {
        let asked = stage.asked();
        let is_helper = |request: &&Value| {
            request["messages"][0]
                .to_string()
                .contains("You are the helper.")
        };
        asked.iter().filter(is_helper).count() >= 2
    };
    until("the helper to go on", decided).await;
    assert!(ended(turn).await.is_success());
    assert!(session.questions.try_next().is_none() && !stage.path("helped.txt").exists());
    close(session).await;
    NotInVersion("the call of a background agent is refused, and the host is not asked".into())
        .into()
}

/// Two background commands: one that waits for a file, one that stays. Between them the turn that the CLI starts by
/// itself, where it does.
fn commands(noticed: &str) -> String {
    format!(
        r#"
reply
  tool Bash {{"command":"until test -e go; do sleep 0.05; done","description":"wait","run_in_background":true}}
reply
  say "It waits."
{noticed}
reply
  tool Bash {{"command":"echo $$ > pid; exec sleep 1000","description":"stay","run_in_background":true}}
reply always
  say "I go on."
"#
    )
}

async fn background_bash(cli: Cli) -> Verdicts {
    let script = match cli.is(OLDEST) {
        true => commands(""),
        false => commands("reply\n  say \"Noticed.\""),
    };
    let stage = cli.stage(&script).await;
    let claude = stage.claude().permissions(AllowAll);
    let mut session = connect(claude.graces(|graces| graces.background = Duration::ZERO)).await;
    assert_eq!(run(&session, "Wait.").await.text(), "It waits.");
    let is_idle = session.is_idle();
    lines(&mut session.events);
    std::fs::write(stage.path("go"), "").unwrap();
    let own = match cli.is(OLDEST) {
        true => {
            assert!(is_idle);
            NotInVersion("nothing tells of background work, and no turn starts by itself".into())
        }
        false => {
            assert!(!is_idle);
            let noticed = |line: &Value| line["type"] == "result" && line["result"] == "Noticed.";
            line(&mut session.events, "a turn that nobody sent", noticed).await;
            soon("the session to be idle", session.idle())
                .await
                .unwrap();
            Pass
        }
    };
    let stopped = stop_task(&cli, &stage.path("pid"), &mut session).await;
    soon("the end", session.close()).await;
    Verdicts::new()
        .say("subagents/turn that the CLI starts", own.clone())
        .say("subagents/idle", own)
        .say("subagents/stop_task", stopped)
}

async fn stop_task(cli: &Cli, pid: &Path, session: &mut Session) -> Verdict {
    assert!(run(session, "Stay.").await.is_success());
    let pid = pid_in(pid).await;
    if cli.is(OLDEST) {
        let refused = session.stop_task("any").await;
        assert!(
            matches!(refused, Err(Error::Unsupported { .. })),
            "{refused:?}"
        );
        return NotInVersion("it does not know the request".into());
    }
    let started = line(&mut session.events, "the task", |line| {
        line["subtype"] == "task_started"
    })
    .await;
    let task = started["task_id"].as_str().unwrap();
    session.stop_task(task).await.unwrap();
    gone("the end of the task", pid).await;
    let unknown = session.stop_task("no-such-task").await;
    assert_eq!(unknown.is_err(), cli.is(MIDDLE), "{unknown:?}");
    Pass
}
