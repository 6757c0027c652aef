//! Interrupts: in every state a turn can be in, and the turn after.

use countersign_client::{Error, InterruptReceipt, Session, Turn, Withdrawn};

use crate::harness::{Cli, NotInVersion, Pass, Verdicts};
use crate::look::{close, connect, ended, gone, pid_in, question, run, staying};
use crate::stage::{line, lines, soon};

cases! {
    while_it_works {
        "interrupts/while text streams" => "the turn ended as interrupted, before the text was whole",
        "interrupts/partial text" => "the model was sent the part it had said, in the turn after",
        "interrupts/while Bash runs" => "the turn ended as interrupted, and the process is gone",
        "interrupts/while a question is open" => "the question was withdrawn, and the turn ended as interrupted",
        "interrupts/while idle" => "no result followed, and the next turn ran",
        "interrupts/the turn after" => "it ran to its end after each of these",
    }
    with_a_queue {
        "interrupts/with a queued message" => "the running turn ended, the queued message ran",
        "interrupts/all" => "the queued message was dropped with it, and its turn says so",
    }
    two_subagents {
        "interrupts/two sub-agents ask" => "both questions were withdrawn, and the turn ended as interrupted",
    }
}

const SLOW: &str = "reply\n  pace 40ms\n  chunk 6\n  say repeat 500 \"Slowly on. \"\n";
const AFTER: &str = "reply\n  say \"After.\"\n";

/// Sends a prompt that is answered slowly, and waits until the answer streams.
async fn streaming(session: &mut Session) -> Turn {
    let turn = session.send("Talk.").await.unwrap();
    line(&mut session.events, "text", |line| {
        line["event"]["type"] == "content_block_delta"
    })
    .await;
    turn
}

async fn works(session: &Session) {
    assert_eq!(run(session, "And now?").await.text(), "After.");
}

async fn while_it_works(cli: Cli) -> Verdicts {
    let write = r#"Write {"file_path":"${cwd}/no.txt","content":"x"}"#;
    let stay = staying("pid");
    let script =
        format!("{SLOW}{AFTER}reply\n  tool {stay}\n{AFTER}reply\n  tool {write}\n{AFTER}{AFTER}");
    let stage = cli.stage(&script).await;
    let claude = stage.claude().questions().include_partial_messages(true);
    let mut session = connect(claude).await;

    let turn = streaming(&mut session).await;
    session.interrupt().await.unwrap();
    let result = ended(turn).await;
    assert!(
        result.is_interrupted() && !result.is_success(),
        "{result:?}"
    );
    works(&session).await;
    let keeps = stage.last_asked()["messages"]
        .to_string()
        .contains("Slowly");
    assert_eq!(keeps, cli.is_newest());
    let partial = match keeps {
        true => Pass,
        false => NotInVersion("what the model had said is not in the next request".into()),
    };

    let turn = session.send("Stay.").await.unwrap();
    question(&mut session.questions).await.allow().unwrap();
    let pid = pid_in(&stage.path("pid")).await;
    session.interrupt().await.unwrap();
    assert!(ended(turn).await.is_interrupted());
    gone("the end of the command", pid).await;
    works(&session).await;

    let turn = session.send("Write.").await.unwrap();
    let open = question(&mut session.questions).await;
    session.interrupt().await.unwrap();
    soon("the withdrawal", open.interest().withdrawn()).await;
    assert_eq!(open.allow(), Err(Withdrawn));
    assert!(ended(turn).await.is_interrupted());
    works(&session).await;
    assert_eq!(stage.read("no.txt"), None);

    while_idle(&mut session).await;
    close(session).await;
    Verdicts::new()
        .pass("interrupts/while text streams")
        .say("interrupts/partial text", partial)
        .pass("interrupts/while Bash runs")
        .pass("interrupts/while a question is open")
        .pass("interrupts/while idle")
        .pass("interrupts/the turn after")
}

async fn while_idle(session: &mut Session) {
    lines(&mut session.events);
    assert_eq!(
        session.interrupt().await.unwrap(),
        InterruptReceipt::default()
    );
    works(session).await;
    let results = lines(&mut session.events);
    let results = results.iter().filter(|line| line["type"] == "result");
    assert_eq!(results.count(), 1, "that of the turn after");
}

async fn with_a_queue(cli: Cli) -> Verdicts {
    let queued = "reply when \"Queued one\"\n  say \"The first.\"\nreply when \"Queued two\"\n  say \"The second.\"\n";
    let stage = cli.stage(&format!("{queued}{SLOW}{SLOW}")).await;
    let mut session = connect(stage.claude().include_partial_messages(true)).await;

    let turn = streaming(&mut session).await;
    let next = session.send("Queued one").await.unwrap();
    let receipt = session.interrupt().await.unwrap();
    assert_eq!(
        receipt.still_queued.contains(&next.uuid().to_owned()),
        cli.is_newest()
    );
    assert!(ended(turn).await.is_interrupted());
    assert_eq!(ended(next).await.text(), "The first.");

    lines(&mut session.events);
    let turn = streaming(&mut session).await;
    let next = session.send("Queued two").await.unwrap();
    let uuid = next.uuid().to_owned();
    let all = match session.interrupt_all().await {
        Ok(receipt) if cli.is_newest() => {
            assert_eq!(receipt.cancelled, [uuid]);
            let cancelled = soon("the end of the queued message", next).await;
            assert!(
                matches!(cancelled, Err(Error::Cancelled { .. })),
                "{cancelled:?}"
            );
            let asked = stage.last_asked()["messages"].to_string();
            assert!(!asked.contains("Queued two"));
            Pass
        }
        Err(Error::Unsupported { .. }) if !cli.is_newest() => {
            session.interrupt().await.unwrap();
            assert_eq!(ended(next).await.text(), "The second.");
            NotInVersion("a queued message runs whatever the interrupt says".into())
        }
        other => panic!("{other:?}"),
    };
    assert!(ended(turn).await.is_interrupted());
    close(session).await;
    Verdicts::new()
        .pass("interrupts/with a queued message")
        .say("interrupts/all", all)
}

/// A turn in which two sub-agents want to write a file each.
const TWO_SUBAGENTS: &str = r#"
reply
  tool Task {"description":"One","subagent_type":"general-purpose","prompt":"You are helper one.","run_in_background":false}
  tool Task {"description":"Two","subagent_type":"general-purpose","prompt":"You are helper two.","run_in_background":false}
reply in "You are helper one."
  tool Write {"file_path":"${cwd}/one.txt","content":"x"}
reply in "You are helper two."
  tool Write {"file_path":"${cwd}/two.txt","content":"x"}
"#;

async fn two_subagents(cli: Cli) -> Verdicts {
    let stage = cli.stage(&format!("{TWO_SUBAGENTS}{AFTER}")).await;
    let mut session = stage.asking().await;
    let turn = session.send("Ask both.").await.unwrap();
    let first = question(&mut session.questions).await;
    let second = question(&mut session.questions).await;
    assert_ne!(first.agent_id, second.agent_id);
    assert_eq!(session.open_questions(), 2);
    session.interrupt().await.unwrap();
    soon("the withdrawal", first.interest().withdrawn()).await;
    soon("the withdrawal", second.interest().withdrawn()).await;
    assert!(ended(turn).await.is_interrupted());
    works(&session).await;
    assert!(stage.read("one.txt").is_none() && stage.read("two.txt").is_none());
    close(session).await;
    Pass.into()
}
