//! Control requests that change what the model is sent, and those about requests as such: refusals, silence, repeats.

use std::pin::pin;

use countersign_client::wire::Json;
use countersign_client::wire::control::ControlErrorCode;
use countersign_client::wire::vocab::PermissionMode;
use countersign_client::{Error, Notice, Result, Session};
use countersign_rehearsal::model::{Outcome, Server};
use futures_util::poll;
use serde_json::json;

use crate::absent::{impatient, raw};
use crate::harness::{Cli, MIDDLE, NotInVersion, OLDEST, Pass, Verdict, Verdicts};
use crate::stage::{PATIENCE, Stage, notice, notices, turn};

cases! {
    model_and_thinking {
        "control/set_model" => "the next request to the model and the next init name it; reset, the first one is back; a model that is not listed is told as a notice",
        "control/set_max_thinking_tokens" => "the next request to the model has the budget; reset, the request is as before",
    }
    requests_as_such {
        "control/raw request" => "a request by its bare name is answered as the typed one is",
        "control/unknown request" => "refused by the CLI; on 2.0.75, which says nothing, ended by the client's timer",
        "control/set_color" => "the colour is taken",
        "control/one reply counts" => "the first reply counts; the second one of 2.0.75 is told as a notice, others send none",
        "control/taking a request back" => "a dropped request is cancelled: the model's connection is let go, the late answer is told as a notice",
    }
}

const TALK: &str = "reply always\n  say \"Well.\"\n";
const FULL_NAME: &str = "claude-sonnet-4-5-20250929";

async fn model_and_thinking(cli: Cli) -> Verdicts {
    let stage = cli.stage(TALK).await;
    let mut session = stage.claude().connect().await.unwrap();
    turn(&mut session, "One").await;
    let first = stage.last_asked();
    let listed = session.initialize_reply().unwrap().models[1].value.clone();
    session.set_model(Some(&listed)).await.unwrap();
    assert_eq!(notices(&mut session.events), []);
    session.set_model(Some(FULL_NAME)).await.unwrap();
    notice(
        &mut session.events,
        "a notice",
        |notice| matches!(notice, Notice::UnlistedModel { model } if model == FULL_NAME),
    )
    .await;
    let (init, _) = turn(&mut session, "Two").await;
    assert_eq!(
        (&stage.last_asked()["model"], &init["model"]),
        (&json!(FULL_NAME), &json!(FULL_NAME))
    );
    assert_eq!(session.model().as_deref(), Some(FULL_NAME));
    let plain = stage.last_asked()["thinking"].clone();
    session.set_max_thinking_tokens(Some(5000)).await.unwrap();
    turn(&mut session, "Three").await;
    let thinking = stage.last_asked()["thinking"].clone();
    session.set_max_thinking_tokens(None).await.unwrap();
    turn(&mut session, "Four").await;
    assert_eq!(
        (&thinking["type"], &thinking["budget_tokens"]),
        (&json!("enabled"), &json!(5000))
    );
    assert_eq!(stage.last_asked()["thinking"], plain);
    session.set_model(None).await.unwrap();
    turn(&mut session, "Five").await;
    assert_eq!(stage.last_asked()["model"], first["model"]);
    Verdicts::new()
        .pass("control/set_model")
        .pass("control/set_max_thinking_tokens")
}

async fn requests_as_such(cli: Cli) -> Verdicts {
    let stage = cli.stage(SLOW).await;
    let mut session = impatient(&cli, stage.claude()).connect().await.unwrap();
    turn(&mut session, "Hello").await;
    let empty = Json::from(json!({}));
    let status = session.control("mcp_status", &empty).await.unwrap();
    assert_eq!(status.to_value().unwrap(), json!({"mcpServers": []}));
    let (unknown, typed, color) = tokio::join!(
        session.control("no_such_request", &empty),
        session.set_color("red"),
        raw(&cli, &session, "set_color"),
    );
    refused(&cli, unknown, "no_such_request");
    refused(&cli, typed, "set_color");
    notices(&mut session.events);
    session
        .set_permission_mode(PermissionMode::Plan)
        .await
        .unwrap();
    session.mcp_status().await.unwrap();
    let repeated = notices(&mut session.events);
    match cli.is(OLDEST) {
        true => assert!(
            matches!(repeated[..], [Notice::RepeatedReply { .. }]),
            "{repeated:?}"
        ),
        false => assert_eq!(repeated, []),
    }
    Verdicts::new()
        .pass("control/raw request")
        .pass("control/unknown request")
        .say("control/set_color", color)
        .pass("control/one reply counts")
        .say(
            "control/taking a request back",
            taking_back(&cli, &stage, &mut session).await,
        )
}

/// Refused with a word for programs (2.1.325), with words (2.1.62), or not answered (2.0.75).
fn refused<T: std::fmt::Debug>(cli: &Cli, answer: Result<T>, subtype: &str) {
    match answer {
        Err(Error::TimedOut { what, .. }) => assert!(cli.is(OLDEST) && what == subtype),
        Err(Error::Refused { message, code, .. }) => {
            assert!(!cli.is(OLDEST));
            assert_eq!(
                message,
                format!("Unsupported control request subtype: {subtype}")
            );
            let word = ControlErrorCode::UnsupportedRequest;
            assert_eq!(code, cli.is_newest().then_some(word));
        }
        other => panic!("{other:?}"),
    }
}

const SLOW: &str = r#"
reply when "aside"
  wait 60s
  say "Too late."
reply side when "aside"
  wait 60s
  say "Too late."
reply always
  say "Well."
"#;

async fn taking_back(cli: &Cli, stage: &Stage, session: &mut Session) -> Verdict {
    let question = Json::from(json!({"question": "Something aside?"}));
    let is = |outcome| {
        move |model: &Server| {
            model
                .requests()
                .iter()
                .any(|request| request.outcome == outcome)
        }
    };
    if cli.is_newest() {
        let asker = session.handle.clone();
        let asking = tokio::spawn(async move { asker.control("side_question", &question).await });
        assert!(stage.model.wait_until(PATIENCE, is(Outcome::Open)).await);
        asking.abort();
        assert!(
            stage
                .model
                .wait_until(PATIENCE, is(Outcome::ClientLeft))
                .await
        );
    } else {
        let mut asking = pin!(session.control("side_question", &question));
        assert!(poll!(asking.as_mut()).is_pending());
    }
    if !cli.is(OLDEST) {
        let is_late = |notice: &Notice| matches!(notice, Notice::LateReply { .. });
        notice(&mut session.events, "the late answer", is_late).await;
    }
    turn(session, "Still there?").await.1.ok().unwrap();
    match cli.version() {
        MIDDLE => NotInVersion("a cancel is ignored: the request is answered all the same".into()),
        OLDEST => NotInVersion("a cancel would end the CLI: none is sent, and it lives on".into()),
        _ => Pass,
    }
}
