//! Shows that an older CLI does not have a control request: the CLI itself is asked, and the client is.
//!
//! Both must agree. Asked by its bare name the CLI refuses it (2.1.62) or says nothing while it answers another request
//! that was sent later (2.0.75); asked by its typed call the client says so at once, without asking the CLI.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use countersign_client::wire::Json;
use countersign_client::wire::control::McpStatus;
use countersign_client::{Claude, Error, Result, Session};
use futures_util::future::join_all;

use crate::harness::{Cli, NotInVersion, OLDEST, Verdict, Verdicts};
use crate::stage::{PATIENCE, Stage, soon};

/// So long a silent CLI is waited for. What tells silence from slowness is the other request that it answers.
const SILENCE: Duration = Duration::from_secs(2);

/// A script for the one turn that tells the version.
const ONE_TURN: &str = "reply\n  say \"Hello.\"\n";

/// A typed call, whatever it gives.
pub(crate) type Call<'a> = Pin<Box<dyn Future<Output = Result<()>> + Send + 'a>>;

/// A request that a version lacks, as the feature `control/<request>`.
pub(crate) struct Lacking<'a> {
    feature: &'static str,
    call: Call<'a>,
}

impl Lacking<'_> {
    fn subtype(&self) -> &'static str {
        let subtype = self.feature.strip_prefix("control/");
        subtype.expect("the feature is named for the request")
    }
}

/// `call` is the typed call of the request that `feature` is named for.
pub(crate) fn lacking<'a, T>(
    feature: &'static str,
    call: impl Future<Output = Result<T>> + Send + 'a,
) -> Lacking<'a> {
    let call = Box::pin(async move { call.await.map(drop) });
    Lacking { feature, call }
}

/// A client that does not wait long for a CLI that may say nothing.
pub(crate) fn impatient(cli: &Cli, claude: Claude) -> Claude {
    match cli.is(OLDEST) {
        true => claude.bounds(|bounds| bounds.control_timeout = SILENCE),
        false => claude,
    }
}

/// An older CLI that has had a turn, so that the client knows its version. It must not have to wait long for silence.
pub(crate) async fn older(cli: &Cli) -> (Stage, Session) {
    let stage = cli.stage(ONE_TURN).await;
    let session = impatient(cli, stage.claude()).connect().await.unwrap();
    let turn = session.send("Hi").await.unwrap();
    soon("the first turn", turn).await.unwrap();
    (stage, session)
}

/// Shows that each of these is not there.
pub(crate) async fn show(cli: &Cli, session: &Session, requests: Vec<Lacking<'_>>) -> Verdicts {
    let asked = requests
        .iter()
        .map(|request| raw(cli, session, request.subtype()));
    let answered_meanwhile = async {
        let status = session.call_within(McpStatus::default(), PATIENCE).await;
        assert!(status.is_ok(), "{status:?}");
    };
    let (reasons, ()) = tokio::join!(join_all(asked), answered_meanwhile);
    let mut verdicts = Verdicts::new();
    for (request, reason) in requests.into_iter().zip(reasons) {
        let subtype = request.subtype();
        refused_by_client(cli, subtype, request.call.await);
        verdicts = verdicts.say(request.feature, reason);
    }
    verdicts
}

/// The same for one request, in a session of one's own. On 2.0.75 it takes the time of a request without an answer.
pub(crate) async fn absent<T>(
    cli: &Cli,
    session: &Session,
    subtype: &'static str,
    call: impl Future<Output = Result<T>> + Send,
) -> Verdict {
    let verdict = raw(cli, session, subtype).await;
    refused_by_client(cli, subtype, call.await);
    verdict
}

fn refused_by_client<T>(cli: &Cli, subtype: &str, answer: Result<T>) {
    match answer.map(drop) {
        Err(Error::Unsupported { what, version }) => {
            assert_eq!((what.as_str(), version.as_str()), (subtype, cli.version()));
        }
        other => panic!("{subtype} on {}: {other:?}", cli.version()),
    }
}

/// What the CLI itself says to the request by its bare name.
pub(crate) async fn raw(cli: &Cli, session: &Session, subtype: &str) -> Verdict {
    let answer = session
        .control(subtype, &Json::from(serde_json::json!({})))
        .await;
    match answer {
        Err(Error::Refused { message, .. }) if !cli.is(OLDEST) => {
            assert_eq!(
                message,
                format!("Unsupported control request subtype: {subtype}")
            );
            NotInVersion("refused: unsupported control request".into())
        }
        Err(Error::TimedOut { .. }) if cli.is(OLDEST) => {
            NotInVersion("no answer to an unknown control request".into())
        }
        other => panic!("{subtype} on {}: {other:?}", cli.version()),
    }
}
