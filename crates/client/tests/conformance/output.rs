//! What comes out: answers, failures and limits, figures, and turns nobody asked for.

use countersign_client::{AllowAll, Error, Event, Session, TurnResult};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::harness::{Cli, NotInVersion, OLDEST, Pass, Verdict, Verdicts};
use crate::stage::{Stage, line, lines, soon, turn, until};

cases! {
    one_run {
        "output/query, text" => "the model's words",
        "output/query, value" => "the model was held to the schema of the type, and the value has it",
    }
    figures {
        "output/schema" => "the model was offered the schema, and the result has the value",
        "output/usage and cost" => "two turns: the usage is that of each, the cost that of both",
    }
    failures {
        "output/API error" => "no success though the CLI calls it one; with the status where it is told; the session goes on",
        "output/model calls of a turn" => "the turn ended at the limit, not as a success; the next one runs",
        "output/budget" => "the turn that used it up is no success",
    }
    turns_of_its_own {
        "output/pieces of text" => "put together they are the text of the message",
        "output/turn that started by itself" => "its result answered nobody: the message that waited got its own",
    }
    run_with_background_work {
        "output/query with background work" => "the run ended after the work in the background and the turn that followed",
    }
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Sighting {
    bird: String,
    count: u32,
    #[schemars(extend("format" = "date"))]
    day: String,
}

const SIGHTING: &str = r#"
reply when "Plainly"
  say "A heron."
reply when "What was seen?"
  tool StructuredOutput {"bird":"plover","count":3,"day":"2026-05-01"}
reply always
  say "Done."
"#;

async fn one_run(cli: Cli) -> Verdicts {
    let stage = cli.stage(SIGHTING).await;
    let text = stage.claude().query("Plainly.").text();
    let value = stage.claude().query("What was seen?").json::<Sighting>();
    let (text, value) = soon("both answers", async { tokio::join!(text, value) }).await;
    assert_eq!(text.unwrap(), "A heron.");
    let expected = Sighting {
        bird: "plover".into(),
        count: 3,
        day: "2026-05-01".into(),
    };
    assert_eq!(value.unwrap(), expected);
    let offered = stage.asked().iter().filter_map(schema).collect::<Vec<_>>();
    let required = offered.first().map(|schema| &schema["required"]);
    assert_eq!(required, Some(&json!(["bird", "count", "day"])));
    Verdicts::new()
        .pass("output/query, text")
        .pass("output/query, value")
}

/// The schema that a request holds the model to.
fn schema(request: &Value) -> Option<Value> {
    let mut tools = request["tools"].as_array()?.iter();
    let tool = tools.find(|tool| tool["name"] == "StructuredOutput")?;
    Some(tool["input_schema"].clone())
}

const COSTLY: &str = r#"
reply when "One"
  tool StructuredOutput {"count":1}
  usage input=1000 output=500
reply when "Two"
  tool StructuredOutput {"count":2}
  usage input=3000 output=700
reply always
  say "Done."
  usage input=10 output=5
"#;

async fn figures(cli: Cli) -> Verdicts {
    let stage = cli.stage(COSTLY).await;
    let wanted = json!({"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]});
    let claude = stage.claude().json_schema(wanted.clone());
    let mut session = claude.connect().await.unwrap();
    let mut costs = Vec::new();
    for (prompt, count, least) in [("One", 1, 1000), ("Two", 2, 3000)] {
        let (_, result) = turn(&mut session, prompt).await;
        let result = result.ok().unwrap();
        let output = result.structured_output().unwrap().to_value().unwrap();
        assert_eq!(output, json!({"count": count}));
        let line: Value = serde_json::from_slice(result.line()).unwrap();
        let input = line["usage"]["input_tokens"].as_u64().unwrap();
        assert!((least..=least + 20).contains(&input), "{input}");
        costs.push(result.total_cost_usd().unwrap());
    }
    let offered = schema(&stage.last_asked()).unwrap();
    assert_eq!(offered["properties"], wanted["properties"]);
    // The second turn alone costs more than the first; both together more than twice as much.
    assert!(costs[0] > 0.0 && costs[1] > 2.0 * costs[0], "{costs:?}");
    Verdicts::new()
        .pass("output/schema")
        .pass("output/usage and cost")
}

const TROUBLE: &str = r#"
reply always when "better"
  say "Well."
reply always when "busy"
  error 529 "Overloaded"
reply always when "refused"
  error 400 "No such thing"
reply when "dearly"
  say "That was dear."
  usage input=10 output=10000000
reply always
  tool Bash {"command":"echo on","description":"go on"}
"#;

async fn failures(cli: Cli) -> Verdicts {
    let stage = cli.stage(TROUBLE).await;
    let claude = stage.claude().max_retries(0).max_turns(2);
    let mut session = claude.max_budget_usd(5.0).connect().await.unwrap();
    for (prompt, status, text) in [
        ("To be refused.", 400, "No such thing"),
        ("Are you busy?", 529, "Overloaded"),
    ] {
        let (_, result) = turn(&mut session, prompt).await;
        assert_eq!(result.subtype(), "success");
        let expected = cli.is_newest().then_some(status);
        assert_eq!(result.api_error_status(), expected);
        let said = failed(result);
        assert!(said.contains("could not be reached"), "{said}");
        assert!(said.contains(text), "{said}");
    }
    let (_, well) = turn(&mut session, "Is it better?").await;
    assert_eq!(well.ok().unwrap().text(), "Well.");
    limits(&stage, &mut session).await;
    Verdicts::new()
        .pass("output/API error")
        .pass("output/model calls of a turn")
        .pass("output/budget")
}

/// What the error says that a result which is no success makes.
fn failed(result: TurnResult) -> String {
    assert!(!result.is_success() && !result.is_interrupted());
    match result.ok() {
        Err(error @ Error::Turn(_)) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

async fn limits(stage: &Stage, session: &mut Session) {
    let asked = stage.asked().len();
    let (_, endless) = turn(session, "Go on for ever.").await;
    assert_eq!(endless.subtype(), "error_max_turns");
    assert!(failed(endless).contains("max_turns"));
    // 2.0.75 stops one call earlier.
    let calls = if stage.cli.is(OLDEST) { 1 } else { 2 };
    assert_eq!(stage.asked().len(), asked + calls);
    let (_, well) = turn(session, "Is it better?").await;
    assert!(well.is_success());

    let (_, dear) = turn(session, "Answer dearly.").await;
    assert!(dear.total_cost_usd().unwrap() > 5.0);
    assert_eq!(dear.subtype(), "error_max_budget_usd");
    assert!(failed(dear).contains("max_budget_usd"));
}

const BACKGROUND: &str = r#"
reply when "Begin"
  tool Bash {"command":"sleep 0.5; touch over.txt","description":"wait","run_in_background":true}
reply
  say "It runs, and I do not wait for it."
reply always when "Are you there?"
  say "I am."
reply
  say "It is"
  wait 500ms
  say " over."
"#;

async fn turns_of_its_own(cli: Cli) -> Verdicts {
    let stage = cli.stage(BACKGROUND).await;
    let claude = stage.claude().permissions(AllowAll);
    let claude = claude.include_partial_messages(true);
    let mut session = claude.connect().await.unwrap();
    let sent = session.send("Begin.").await.unwrap();
    let begun = soon("the result", sent).await.unwrap().ok().unwrap();
    let seen = lines(&mut session.events);
    let pieces = seen.iter().map(|line| &line["event"]["delta"]);
    let pieces: Vec<&str> = pieces.filter_map(|delta| delta["text"].as_str()).collect();
    assert!(pieces.len() > 1, "{pieces:?}");
    assert_eq!(pieces.concat(), "It runs, and I do not wait for it.");
    assert_eq!(begun.text(), pieces.concat());
    let own = its_own(&stage, &mut session).await;
    Verdicts::new()
        .pass("output/pieces of text")
        .say("output/turn that started by itself", own)
}

async fn its_own(stage: &Stage, session: &mut Session) -> Verdict {
    if stage.cli.is(OLDEST) {
        return none_on_the_oldest(stage, session).await;
    }
    assert!(!session.is_idle());
    line(&mut session.events, "a turn that speaks", |line| {
        line["event"]["delta"]["text"].is_string()
    })
    .await;
    let asked = session.send("Are you there?").await.unwrap();
    let answer = soon("the answer", asked).await.unwrap().ok().unwrap();
    assert_eq!(answer.text(), "I am.");
    soon("rest", session.idle()).await.unwrap();
    let seen = lines(&mut session.events);
    let results: Vec<&str> = seen
        .iter()
        .filter_map(|line| line["result"].as_str())
        .collect();
    assert_eq!(results.len(), 2, "{results:?}");
    assert!(results[0].ends_with("over."), "{results:?}");
    Pass
}

/// 2.0.75 starts no turn, and cannot do with the news of the work's end: once they are in, the next message ends it.
async fn none_on_the_oldest(stage: &Stage, session: &mut Session) -> Verdict {
    until("the work's end", || stage.read("over.txt").is_some()).await;
    let mut answers = 0;
    for _ in 0..3 {
        let Ok(asked) = session.send("Are you there?").await else {
            break;
        };
        match soon("the answer", asked).await {
            Ok(answer) => assert_eq!(answer.text(), "I am."),
            Err(Error::Closed(closed)) => {
                let reason = "only prompt commands are supported in streaming mode";
                assert_eq!(closed.errors, [reason]);
                break;
            }
            other => panic!("{other:?}"),
        }
        answers += 1;
    }
    let seen = lines(&mut session.events);
    let results = seen.iter().filter(|line| line["result"].is_string());
    assert_eq!(results.count(), answers);
    NotInVersion("no turn starts, and the next message may end the CLI".into())
}

async fn run_with_background_work(cli: Cli) -> Verdicts {
    let stage = cli.stage(BACKGROUND).await;
    let query = stage.claude().permissions(AllowAll).query("Begin.");
    let mut run = soon("the start", query.start()).await.unwrap();
    let mut results = Vec::new();
    while let Some(event) = soon("the next event", run.next()).await {
        if let Event::Message(frame) = event.unwrap() {
            let line: Value = serde_json::from_slice(frame.line()).unwrap();
            results.extend(line["result"].as_str().map(str::to_owned));
        }
    }
    let outcome = soon("the outcome", run.finish()).await.unwrap();
    assert!(outcome.closed.is_clean(), "{:?}", outcome.closed);
    let result = outcome.result.ok().unwrap();
    assert_eq!(result.text(), "It runs, and I do not wait for it.");
    assert_eq!(results[0], result.text());
    if cli.is(OLDEST) {
        assert_eq!(results.len(), 1);
        return NotInVersion("nothing tells of background work, and no turn follows it".into())
            .into();
    }
    assert_eq!(results.len(), 2, "{results:?}");
    assert!(stage.read("over.txt").is_some());
    Pass.into()
}
