//! Questions about calls: what they say, and what becomes of each kind of answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use countersign_client::mcp::Server;
use countersign_client::wire::Json;
use countersign_client::wire::permission::PermissionUpdate;
use countersign_client::wire::tools::ToolInput;
use countersign_client::wire::vocab::PermissionMode;
use countersign_client::{
    AllowAll, AllowTools, Claude, Decision, DenyAll, PermissionQuestion, PermissionRequest,
    Session, Withdrawn,
};
use serde_json::json;
use tokio::sync::Barrier;

use crate::harness::{Cli, MIDDLE, OLDEST, Pass, Verdicts};
use crate::look::{answering, close, connect, ended, question, run, tool_results, turns};
use crate::stage::{Stage, soon, tool_names};

cases! {
    kinds_of_calls {
        "questions/Bash" => "asked with the command and suggestions; allowed, the file is there",
        "questions/Write" => "asked with a typed input and the mode as a suggestion; allowed, the file is there",
        "questions/Edit" => "asked; allowed, the file is changed",
        "questions/Read outside the folder" => "asked with reason and rule; allowed, the model was sent the content",
        "questions/WebFetch" => "asked with the address; denied, the model was sent the denial",
        "questions/tool of an MCP server" => "asked with the name of the server; allowed, the tool ran",
    }
    kinds_of_answers {
        "questions/allow with another input" => "the other file was written, the first was not",
        "questions/deny" => "the model was sent the message as an error and went on",
        "questions/deny and stop" => "the turn ended, the file is not there, the next turn runs",
    }
    a_large_input {
        "questions/100 KB of non-ASCII text" => "a Write that was allowed landed on disk intact",
    }
    three_at_once {
        "questions/several at once" => "three were open, answered in reverse order, each by its own answer",
        "questions/dropped" => "denied with a message, and the turn goes on",
        "questions/answer after the withdrawal" => "an interrupt withdrew it, and a late answer says so",
    }
    a_callback {
        "questions/async closure" => "three calls of it ran at once, and their files were read",
        "questions/closure that panics" => "the call was denied and the turn went on",
    }
    nobody {
        "questions/nobody to answer" => "the CLI itself denied: no question, the file is not there",
    }
    ready_handlers {
        "questions/AllowAll" => "the file is there",
        "questions/DenyAll" => "the file is not there, and the model was sent the text",
        "questions/AllowTools" => "the tool of the list ran, the other one did not",
    }
}

async fn kinds_of_calls(cli: Cli) -> Verdicts {
    let script = turns([
        r#"Bash {"command":"touch made.txt","description":"make it"}"#,
        r#"Write {"file_path":"${cwd}/note.txt","content":"one two"}"#,
        r#"Edit {"file_path":"${cwd}/note.txt","old_string":"two","new_string":"three"}"#,
        r#"Read {"file_path":"${cwd}/../outside/a.txt"}"#,
        r#"WebFetch {"url":"https://example.invalid/page","prompt":"What is there?"}"#,
        r#"mcp__calc__double {"value":21}"#,
    ]);
    let stage = cli.stage(&script).await;
    outside(&stage, &["a"]);
    let server = Server::new("calc").tool("double", "Doubles", |n: i64| async move { n * 2 });
    let mut session = connect(stage.claude().questions().mcp(server)).await;

    built_in_calls(&stage, &mut session).await;
    web_fetch(&stage, &mut session).await;
    mcp_tool(&stage, &mut session).await;
    close(session).await;
    Verdicts::new()
        .pass("questions/Bash")
        .pass("questions/Write")
        .pass("questions/Edit")
        .pass("questions/Read outside the folder")
        .pass("questions/WebFetch")
        .pass("questions/tool of an MCP server")
}

/// Files beside the project folder: `../outside/a.txt` with `content of a`.
fn outside(stage: &Stage, names: &[&str]) {
    let dir = stage.sandbox.root().join("outside");
    std::fs::create_dir_all(&dir).unwrap();
    for name in names {
        std::fs::write(
            dir.join(format!("{name}.txt")),
            format!("content of {name}\n"),
        )
        .unwrap();
    }
}

fn suggests_mode(request: &PermissionRequest) -> bool {
    let is_mode = |update: &PermissionUpdate| matches!(update, PermissionUpdate::SetMode(change) if change.mode == PermissionMode::AcceptEdits);
    request.suggestions().iter().any(is_mode)
}

async fn built_in_calls(stage: &Stage, session: &mut Session) {
    let cli = &stage.cli;
    let mut one = async |check: &mut dyn FnMut(&PermissionRequest)| {
        let (result, count) = answering(session, |question| {
            check(question.request());
            assert_eq!(question.agent_id, None);
            assert_eq!(question.display_name.is_some(), cli.is_newest());
            question.allow().unwrap();
        })
        .await;
        assert!(result.is_success() && count == 1, "{count} {result:?}");
    };
    one(&mut |asked| {
        let Ok(ToolInput::Bash(input)) = asked.tool_input() else {
            panic!("{asked:?}")
        };
        assert_eq!(input.command, "touch made.txt");
        assert_eq!(asked.blocked_path.is_some(), !cli.is(OLDEST));
        assert!(!asked.suggestions().is_empty());
        assert_eq!(asked.rule_suggestions().count() > 0, !cli.is(MIDDLE));
    })
    .await;
    assert!(stage.path("made.txt").exists());
    one(&mut |asked| {
        let Ok(ToolInput::Write(input)) = asked.tool_input() else {
            panic!("{asked:?}")
        };
        assert_eq!(input.content, "one two");
        assert!(suggests_mode(asked), "{:?}", asked.suggestions());
    })
    .await;
    assert_eq!(stage.read("note.txt").as_deref(), Some("one two"));
    one(&mut |asked| {
        let Ok(ToolInput::Edit(input)) = asked.tool_input() else {
            panic!("{asked:?}")
        };
        assert_eq!(input.new_string, "three");
    })
    .await;
    assert_eq!(stage.read("note.txt").as_deref(), Some("one three"));
    one(&mut |asked| {
        assert_eq!(asked.tool_name, "Read");
        assert!(asked.decision_reason.is_some(), "{asked:?}");
        assert_eq!(asked.decision_reason_type.is_some(), cli.is_newest());
        assert!(
            asked.rule_suggestions().count() > 0,
            "{:?}",
            asked.suggestions()
        );
    })
    .await;
    let result = stage.last_result();
    assert!(result.text.contains("content of a"), "{result:?}");
}

async fn web_fetch(stage: &Stage, session: &mut Session) {
    let (result, count) = answering(session, |question| {
        let Ok(ToolInput::WebFetch(input)) = question.tool_input() else {
            panic!("{question:?}")
        };
        assert_eq!(input.url, "https://example.invalid/page");
        question.deny("No network here.").unwrap();
    })
    .await;
    assert!(result.is_success() && count == 1);
    let told = stage.last_result();
    assert!(
        told.is_error && told.text.contains("No network here."),
        "{told:?}"
    );
}

async fn mcp_tool(stage: &Stage, session: &mut Session) {
    let cli = &stage.cli;
    let (_, count) = answering(session, |question| {
        assert_eq!(question.tool_name, "mcp__calc__double");
        let server = question
            .mcp_server
            .as_ref()
            .map(|server| server.name.as_str());
        assert_eq!(server, cli.is_newest().then_some("calc"));
        assert_eq!(question.rule_suggestions().count() > 0, !cli.is(OLDEST));
        question.allow().unwrap();
    })
    .await;
    assert_eq!(count, 1);
    assert!(
        stage.last_result().text.contains("42"),
        "{:?}",
        stage.last_result()
    );
}

async fn kinds_of_answers(cli: Cli) -> Verdicts {
    let write = |name: &str| format!(r#"Write {{"file_path":"${{cwd}}/{name}","content":"x"}}"#);
    let (first, denied, stopped) = (
        write("first.txt"),
        write("denied.txt"),
        write("stopped.txt"),
    );
    let mut script = turns([first.as_str(), &denied]);
    script += &format!("reply\n  tool {stopped}\nreply\n  say \"The turn after.\"\n");
    let stage = cli.stage(&script).await;
    let mut session = stage.asking().await;

    let other = json!({"file_path": stage.path("second.txt"), "content": "changed"});
    let (_, count) = answering(&mut session, |question| {
        let decision = Decision::allow().with_input(Json::of(&other).unwrap());
        question.answer(decision).unwrap();
    })
    .await;
    assert_eq!((count, stage.read("first.txt")), (1, None));
    assert_eq!(stage.read("second.txt").as_deref(), Some("changed"));

    let (result, _) = answering(&mut session, |question| {
        question.deny("Not today.").unwrap()
    })
    .await;
    let told = stage.last_result();
    assert!(
        told.is_error && told.text.contains("Not today."),
        "{told:?}"
    );
    assert!(result.is_success() && result.text() == "Done.");
    let denials = result.message().unwrap().permission_denials;
    assert_eq!(denials.len(), 1);
    assert_eq!(
        (denials[0].tool_name.as_str(), stage.read("denied.txt")),
        ("Write", None)
    );

    let asked_before = stage.asked().len();
    let stop = |question: PermissionQuestion| question.deny_and_stop("Stop it.").unwrap();
    let (result, _) = answering(&mut session, stop).await;
    assert!(!result.is_success() && result.subtype() == "error_during_execution");
    assert_eq!(
        stage.asked().len(),
        asked_before + 1,
        "the model is not asked again"
    );
    assert_eq!(stage.read("stopped.txt"), None);
    let next = run(&session, "And now?").await;
    assert_eq!(next.text(), "The turn after.");
    close(session).await;
    Verdicts::new()
        .pass("questions/allow with another input")
        .pass("questions/deny")
        .pass("questions/deny and stop")
}

async fn a_large_input(cli: Cli) -> Verdicts {
    // 12 bytes a piece in UTF-8, so that a block of 64 KiB ends within a character. It is put in by the answer: 2.0.75
    // damages such text already when the model says it.
    let whole = "äß€😀x".repeat(9000);
    let stage = cli
        .stage(&turns([
            r#"Write {"file_path":"${cwd}/large.txt","content":"small"}"#,
        ]))
        .await;
    let mut session = stage.asking().await;
    let large = json!({"file_path": stage.path("large.txt"), "content": whole});
    let (_, count) = answering(&mut session, |question| {
        let decision = Decision::allow().with_input_of(&large).unwrap();
        question.answer(decision).unwrap();
    })
    .await;
    let written = stage.read("large.txt").unwrap();
    assert!(
        written == whole && count == 1,
        "wrote {} bytes, damaged",
        written.len()
    );
    close(session).await;
    Pass.into()
}

/// A reply with a Read of each of these files.
fn reading(names: &[&str]) -> String {
    let call =
        |name: &&str| format!("  tool Read {{\"file_path\":\"${{cwd}}/../outside/{name}.txt\"}}\n");
    let calls: String = names.iter().map(call).collect();
    format!("reply\n{calls}reply\n  say \"Done.\"\n")
}

async fn three_at_once(cli: Cli) -> Verdicts {
    let mut script = reading(&["a", "b", "c"]);
    script += &reading(&["a"]);
    script += &reading(&["b"]);
    let stage = cli.stage(&script).await;
    outside(&stage, &["a", "b", "c"]);
    let mut session = stage.asking().await;

    let turn = session.send("Read.").await.unwrap();
    let mut open = Vec::new();
    for _ in 0..3 {
        open.push(question(&mut session.questions).await);
    }
    assert_eq!(session.open_questions(), 3);
    for question in open.into_iter().rev() {
        match question.input.as_str().contains("b.txt") {
            true => question.deny("Not the second.").unwrap(),
            false => question.allow().unwrap(),
        }
    }
    assert!(ended(turn).await.is_success());
    let told = tool_results(&stage.last_asked());
    let mut texts: Vec<&str> = told.iter().map(|result| result.text.as_str()).collect();
    texts.sort_unstable_by_key(|text| text.contains("Not the second."));
    assert!(
        texts.len() == 3 && texts[2].contains("Not the second."),
        "{texts:?}"
    );
    assert!(
        texts[..2].iter().any(|text| text.contains("content of a")),
        "{texts:?}"
    );
    assert!(
        texts[..2].iter().any(|text| text.contains("content of c")),
        "{texts:?}"
    );

    let (result, _) = answering(&mut session, drop).await;
    let told = stage.last_result();
    assert!(
        told.is_error && told.text.contains("given up without an answer"),
        "{told:?}"
    );
    assert!(result.is_success() && result.text() == "Done.");

    let turn = session.send("Read on.").await.unwrap();
    let late = question(&mut session.questions).await;
    session.interrupt().await.unwrap();
    soon("the withdrawal", late.interest().withdrawn()).await;
    assert_eq!(late.allow(), Err(Withdrawn));
    assert!(ended(turn).await.is_interrupted());
    assert_eq!(session.open_questions(), 0);
    close(session).await;
    Verdicts::new()
        .pass("questions/several at once")
        .pass("questions/dropped")
        .pass("questions/answer after the withdrawal")
}

async fn a_callback(cli: Cli) -> Verdicts {
    let mut script = reading(&["a", "b", "c"]);
    script += &turns([r#"Write {"file_path":"${cwd}/panic.txt","content":"x"}"#]);
    let stage = cli.stage(&script).await;
    outside(&stage, &["a", "b", "c"]);
    let (all, calls) = (Arc::new(Barrier::new(3)), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&calls);
    let claude = stage
        .claude()
        .permissions(move |request: PermissionRequest| {
            let (all, calls) = (Arc::clone(&all), Arc::clone(&counted));
            async move {
                calls.fetch_add(1, Ordering::SeqCst);
                if request.tool_name == "Write" {
                    panic!("a handler that panics, as the test wants");
                }
                // Each waits for the other two: asked one after another, none would be answered.
                all.wait().await;
                Decision::allow()
            }
        });
    let session = connect(claude).await;
    assert!(run(&session, "Read.").await.is_success());
    let told = tool_results(&stage.last_asked());
    assert!(
        told.iter()
            .all(|result| result.text.contains("content of ")),
        "{told:?}"
    );
    assert_eq!((told.len(), calls.load(Ordering::SeqCst)), (3, 3));

    let result = run(&session, "Write.").await;
    assert!(result.is_success() && calls.load(Ordering::SeqCst) == 4);
    assert!(stage.last_result().is_error && stage.read("panic.txt").is_none());
    close(session).await;
    Verdicts::new()
        .pass("questions/async closure")
        .pass("questions/closure that panics")
}

async fn nobody(cli: Cli) -> Verdicts {
    let stage = cli
        .stage(&turns([
            r#"Write {"file_path":"${cwd}/no.txt","content":"x"}"#,
        ]))
        .await;
    let mut session = connect(stage.claude()).await;
    let result = run(&session, "Write.").await;
    let told = stage.last_result();
    assert!(told.is_error && stage.read("no.txt").is_none(), "{told:?}");
    assert_eq!(result.message().unwrap().permission_denials.len(), 1);
    let lines = crate::stage::lines(&mut session.events);
    assert!(
        !lines.iter().any(|line| line["type"] == "control_request"),
        "nothing was asked"
    );
    // 2.1.325 offers no tool that needs a person when nobody is there.
    let offers = tool_names(&stage.last_asked()).contains(&"AskUserQuestion");
    assert_eq!(offers, !cli.is_newest());
    close(session).await;
    Pass.into()
}

async fn ready_handlers(cli: Cli) -> Verdicts {
    let script = turns([
        r#"Write {"file_path":"${cwd}/all.txt","content":"x"}"#,
        r#"Write {"file_path":"${cwd}/none.txt","content":"x"}"#,
        r#"Bash {"command":"touch listed.txt","description":"make it"}"#,
        r#"Write {"file_path":"${cwd}/unlisted.txt","content":"x"}"#,
    ]);
    let stage = cli.stage(&script).await;
    let query = async |claude: Claude| {
        let outcome = soon("the run", claude.query("Do it.").finish())
            .await
            .unwrap();
        assert!(
            outcome.result.is_success() && outcome.closed.is_clean(),
            "{outcome:?}"
        );
    };
    query(stage.claude().permissions(AllowAll)).await;
    assert_eq!(stage.read("all.txt").as_deref(), Some("x"));

    query(
        stage
            .claude()
            .permissions(DenyAll("Nothing runs here.".into())),
    )
    .await;
    assert!(stage.last_result().text.contains("Nothing runs here."));
    assert_eq!(stage.read("none.txt"), None);

    let session = connect(stage.claude().permissions(AllowTools::new(["Bash"]))).await;
    assert!(run(&session, "Bash.").await.is_success() && stage.path("listed.txt").exists());
    assert!(run(&session, "Write.").await.is_success() && stage.read("unlisted.txt").is_none());
    assert!(stage.last_result().is_error);
    close(session).await;
    Verdicts::new()
        .pass("questions/AllowAll")
        .pass("questions/DenyAll")
        .pass("questions/AllowTools")
}
