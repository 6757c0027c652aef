//! What goes in: text, blocks, ids and timing of messages, each seen in what the model was sent.

use countersign_client::wire::vocab::Priority;
use countersign_client::{Error, Prompt, Question, Session, TurnResult};
use serde_json::{Value, json};

use crate::harness::{Cli, NotInVersion, Pass, Verdict, Verdicts};
use crate::stage::{Stage, line, lines, soon, turn};

cases! {
    content {
        "input/text" => "the model was sent it",
        "input/several blocks" => "the model was sent each, in order",
        "input/image" => "the model was sent its bytes",
        "input/document" => "the model was sent it with its title",
        "input/300 KB of non-ASCII text" => "the model was sent every character",
        "input/uuid" => "the CLI named it when it took the message up",
        "input/uuid used before" => "told as an error; the model was not asked again, and the session goes on",
    }
    special {
        "input/slash command" => "/cost ran, the model was not asked, and the turn ended",
        "input/verbatim" => "the model was sent the text of a command as it is",
        "input/without a turn" => "no turn ran and the session is idle; the next request to the model has it",
    }
    timing {
        "input/back to back" => "two turns, in order, each with its own result",
        "input/while text streams" => "a turn of its own after the running one",
        "input/priority" => "the urgent one overtook the other",
        "input/while a question is open" => "taken into the running turn: one result ended both",
    }
}

const TALK: &str = "reply always\n  say \"Well.\"\n";
const DOT: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const UUID: &str = "3f1c2a9e-8a52-4c9b-9a57-2a8f0c1d3e4b";

/// The blocks of the newest message of the user. What the CLI adds of its own is among them.
fn newest(request: &Value) -> Vec<Value> {
    let messages = request["messages"].as_array().unwrap();
    let newest = messages.iter().rfind(|message| message["role"] == "user");
    match &newest.unwrap()["content"] {
        Value::Array(blocks) => blocks.clone(),
        text => vec![json!({"type": "text", "text": text})],
    }
}

/// Where in the newest message of the user a text stands as a block of its own. Some versions end a block with a newline.
fn place(request: &Value, text: &str) -> Option<usize> {
    let mut blocks = newest(request).into_iter();
    blocks.position(|block| block["text"].as_str().map(str::trim_end) == Some(text))
}

/// A turn that must succeed.
async fn well(session: &Session, prompt: impl Into<Prompt>) -> TurnResult {
    let turn = session.send(prompt).await.unwrap();
    soon("the result", turn).await.unwrap().ok().unwrap()
}

async fn content(cli: Cli) -> Verdicts {
    let stage = cli.stage(TALK).await;
    let mut session = stage.claude().connect().await.unwrap();
    well(&session, "A heron, then.").await;
    assert!(place(&stage.last_asked(), "A heron, then.").is_some());
    blocks(&stage, &session).await;

    let long = "aж→😀".repeat(30_000);
    assert_eq!(long.len(), 300_000);
    well(&session, long.as_str()).await;
    assert!(place(&stage.last_asked(), &long).is_some());
    assert!(!stage.last_asked().to_string().contains('\u{fffd}'));
    named(&stage, &mut session).await;
    Verdicts::new()
        .pass("input/text")
        .pass("input/several blocks")
        .pass("input/image")
        .pass("input/document")
        .pass("input/300 KB of non-ASCII text")
        .pass("input/uuid")
        .pass("input/uuid used before")
}

async fn blocks(stage: &Stage, session: &Session) {
    let prompt = Prompt::new()
        .text("First this.")
        .image_base64("image/png", DOT)
        .document_text("A list of birds", "plover, gannet")
        .text("Then that.");
    well(session, prompt).await;
    let request = stage.last_asked();
    let blocks = newest(&request);
    let find = |kind: &str| blocks.iter().position(|block| block["type"] == kind);
    let (image, document) = (find("image").unwrap(), find("document").unwrap());
    let expected = json!({"type": "base64", "media_type": "image/png", "data": DOT});
    assert_eq!(blocks[image]["source"], expected);
    assert_eq!(blocks[document]["title"], "A list of birds");
    assert_eq!(blocks[document]["source"]["data"], "plover, gannet");
    let order = [
        place(&request, "First this."),
        Some(image),
        Some(document),
        place(&request, "Then that."),
    ];
    assert!(order.is_sorted() && !order.contains(&None), "{order:?}");
}

/// A uuid of one's own, and the same again.
async fn named(stage: &Stage, session: &mut Session) {
    lines(&mut session.events);
    let sent = session
        .send(Prompt::from("Once.").uuid(UUID))
        .await
        .unwrap();
    assert_eq!(sent.uuid(), UUID);
    soon("the result", sent).await.unwrap().ok().unwrap();
    let seen = lines(&mut session.events);
    let is_echo = |line: &Value| line["isReplay"] == true && line["uuid"] == UUID;
    assert!(seen.iter().any(is_echo), "{seen:?}");
    let is_told = |line: &Value| {
        line["type"] == "command_lifecycle"
            && line["command_uuid"] == UUID
            && line["state"] == "started"
    };
    assert_eq!(seen.iter().any(is_told), stage.cli.is_newest());

    let asked = stage.asked().len();
    let again = session
        .send(Prompt::from("Twice.").uuid(UUID))
        .await
        .unwrap();
    match soon("the end", again).await {
        Err(Error::Duplicate { uuid }) => assert_eq!(uuid, UUID),
        other => panic!("{other:?}"),
    }
    soon("rest", session.idle()).await.unwrap();
    well(session, "Go on.").await;
    assert_eq!(stage.asked().len(), asked + 1);
    assert!(!stage.last_asked().to_string().contains("Twice."));
}

async fn special(cli: Cli) -> Verdicts {
    let stage = cli.stage(TALK).await;
    let mut session = stage.claude().connect().await.unwrap();
    turn(&mut session, "Hello.").await.1.ok().unwrap();
    lines(&mut session.events);

    let asked = stage.asked().len();
    let cost = well(&session, "/cost").await;
    let seen = lines(&mut session.events);
    // "Estimated cost" since 2.1.327.
    let is_told = |line: &Value| {
        let line = line.to_string();
        ["Total cost", "Estimated cost"]
            .iter()
            .any(|words| line.contains(words))
    };
    assert!(seen.iter().any(is_told), "{cost:?} {seen:?}");
    assert_eq!(stage.asked().len(), asked);
    soon("rest", session.idle()).await.unwrap();

    well(&session, Prompt::from("/cost").verbatim()).await;
    let verbatim = match cli.is_newest() {
        true => {
            assert_eq!(stage.asked().len(), asked + 1);
            assert!(place(&stage.last_asked(), "/cost").is_some());
            Pass
        }
        false => {
            assert_eq!(stage.asked().len(), asked);
            NotInVersion("the command ran all the same".into())
        }
    };
    let quiet = without_turn(&stage, &session).await;
    Verdicts::new()
        .pass("input/slash command")
        .say("input/verbatim", verbatim)
        .say("input/without a turn", quiet)
}

async fn without_turn(stage: &Stage, session: &Session) -> Verdict {
    let asked = stage.asked().len();
    let prompt = Prompt::from("A plover was seen.").without_turn();
    let quiet = session.send(prompt).await.unwrap();
    let ended = soon("the end", quiet).await;
    soon("rest", session.idle()).await.unwrap();
    let ended = ended.unwrap().ok().unwrap();
    if !stage.cli.is_newest() {
        assert_eq!(stage.asked().len(), asked + 1);
        return NotInVersion("a turn ran all the same".into());
    }
    assert_eq!((ended.text(), ended.model_calls()), ("", Some(0)));
    assert_eq!(stage.asked().len(), asked);
    well(session, "What was seen?").await;
    assert_eq!(stage.asked().len(), asked + 1);
    let messages = stage.last_asked()["messages"].to_string();
    assert!(messages.contains("A plover was seen."), "{messages}");
    Pass
}

const BUSY: &str = r#"
reply 2 times when "slowly"
  say "Begun."
  wait 1s
  say "Ended."
reply when "Which file?"
  tool Write {"file_path":"${cwd}/note.txt","content":"noted"}
reply when "Alpha"
  say "To alpha."
reply when "Beta"
  say "To beta."
reply when "Gamma"
  say "To gamma."
reply when "Delta"
  say "To delta."
reply when "Epsilon"
  say "To epsilon."
reply always
  say "To both."
"#;

async fn timing(cli: Cli) -> Verdicts {
    let stage = cli.stage(BUSY).await;
    let claude = stage.claude().questions().include_partial_messages(true);
    let mut session = claude.connect().await.unwrap();
    let alpha = session.send("Alpha").await.unwrap();
    let beta = session.send("Beta").await.unwrap();
    let alpha = soon("alpha", alpha).await.unwrap();
    let beta = soon("beta", beta).await.unwrap();
    assert_eq!((alpha.text(), beta.text()), ("To alpha.", "To beta."));
    assert_eq!(asked(&stage), ["Alpha", "Beta"]);

    while_streaming(&stage, &mut session).await;
    let priority = priority(&stage, &mut session).await;
    folded(&stage, &mut session).await;
    Verdicts::new()
        .pass("input/back to back")
        .pass("input/while text streams")
        .say("input/priority", priority)
        .pass("input/while a question is open")
}

/// Which of these words came new with each request to the model.
fn asked(stage: &Stage) -> Vec<&'static str> {
    const WORDS: [&str; 7] = [
        "Alpha", "Beta", "slowly", "Gamma", "Delta", "Epsilon", "Which",
    ];
    let requests = stage.asked();
    let words = requests.iter().flat_map(|request| {
        let newest = json!(newest(request)).to_string();
        let named = WORDS.into_iter().filter(move |word| newest.contains(word));
        named.collect::<Vec<_>>()
    });
    words.collect()
}

/// A turn whose text has begun to stream and goes on for a while.
async fn streaming(session: &mut Session) -> countersign_client::Turn {
    let turn = session.send("Speak slowly.").await.unwrap();
    line(&mut session.events, "the text", |line| {
        line["event"]["delta"]["type"] == "text_delta"
    })
    .await;
    turn
}

async fn while_streaming(stage: &Stage, session: &mut Session) {
    let slow = streaming(session).await;
    let gamma = session.send("Gamma").await.unwrap();
    let slow = soon("the slow one", slow).await.unwrap().ok().unwrap();
    let gamma = soon("gamma", gamma).await.unwrap().ok().unwrap();
    assert!(slow.text().ends_with("Ended."), "{}", slow.text());
    assert_eq!(gamma.text(), "To gamma.");
    assert_eq!(asked(stage)[2..], ["slowly", "Gamma"]);
}

async fn priority(stage: &Stage, session: &mut Session) -> Verdict {
    let slow = streaming(session).await;
    let later = Prompt::from("Delta").priority(Priority::Later);
    let delta = session.send(later).await.unwrap();
    let next = Prompt::from("Epsilon").priority(Priority::Next);
    let epsilon = session.send(next).await.unwrap();
    for (turn, text) in [(delta, "To delta."), (epsilon, "To epsilon.")] {
        let result = soon(text, turn).await.unwrap().ok().unwrap();
        assert_eq!(result.text(), text);
    }
    soon("the slow one", slow).await.unwrap().ok().unwrap();
    match stage.cli.is_newest() {
        true => {
            assert_eq!(asked(stage)[4..], ["slowly", "Epsilon", "Delta"]);
            Pass
        }
        false => {
            assert_eq!(asked(stage)[4..], ["slowly", "Delta", "Epsilon"]);
            NotInVersion("they ran in the order they were sent in".into())
        }
    }
}

async fn folded(stage: &Stage, session: &mut Session) {
    let first = session.send("Which file?").await.unwrap();
    let question = soon("the question", session.questions.next()).await;
    let Some(Question::Permission(question)) = question else {
        panic!("{question:?}")
    };
    let second = session.send("And a heron.").await.unwrap();
    session.flushed().await;
    question.allow().unwrap();
    let first = soon("the first", first).await.unwrap().ok().unwrap();
    let second = soon("the second", second).await.unwrap().ok().unwrap();
    assert_eq!(first.line(), second.line());
    assert_eq!(stage.read("note.txt").as_deref(), Some("noted"));
    let messages = stage.last_asked()["messages"].to_string();
    assert!(messages.contains("And a heron."));
    soon("rest", session.idle()).await.unwrap();
}
