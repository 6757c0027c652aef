//! A session on an agent that another process keeps: what comes back, what is said once, and that letting go says nothing.
//!
//! Owns the client's half of attaching; the other half is a road that notes what it was given.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use countersign_client::kept::{
    Attached, Freight, Greeted, KeptAgent, KeptExit, PastLine, Road, RoadError, Unanswered,
};
use countersign_client::{Claude, Decision, Error, Graces, Question};
use futures_util::future::BoxFuture;
use tokio::io::{AsyncWriteExt as _, DuplexStream};

const ASKED: &str = r#"{"type":"control_request","request_id":"q1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"t1"}}"#;
const INIT: &str = r#"{"type":"system","subtype":"init","session_id":"s-1","model":"m","permissionMode":"plan","claude_code_version":"2.1.325"}"#;
const GREETED: &str = r#"{"type":"control_response","response":{"subtype":"success","request_id":"cs-0-1","response":{"commands":[],"output_style":"default","available_output_styles":[],"models":[],"account":{}}}}"#;

/// What a road was given.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Given {
    Line(String),
    Answer {
        id: String,
        line: String,
        note: Option<String>,
        refuses: bool,
    },
    End,
}

#[derive(Default)]
struct Noting {
    given: Mutex<Vec<Given>>,
    exit: Mutex<Option<KeptExit>>,
}

impl Noting {
    fn given(&self) -> Vec<Given> {
        self.given.lock().unwrap().clone()
    }

    async fn until(&self, holds: impl Fn(&[Given]) -> bool) -> Vec<Given> {
        let looking = async {
            loop {
                let given = self.given();
                if holds(&given) {
                    return given;
                }
                tokio::task::yield_now().await;
            }
        };
        let found = tokio::time::timeout(Duration::from_secs(20), looking).await;
        found.unwrap_or_else(|_| panic!("never came: {:?}", self.given()))
    }
}

impl Road for Noting {
    fn put(&self, line: Vec<u8>, freight: Freight<'_>) -> Result<(), RoadError> {
        let line = String::from_utf8(line).unwrap();
        let given = match freight {
            Freight::Answer {
                request_id,
                note,
                refuses,
            } => Given::Answer {
                id: request_id.to_owned(),
                line,
                note: note.map(ToString::to_string),
                refuses,
            },
            _ => Given::Line(line),
        };
        self.given.lock().unwrap().push(given);
        Ok(())
    }

    fn flushed(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    fn end(&self, _: Graces) {
        self.given.lock().unwrap().push(Given::End);
    }

    fn exit(&self) -> Option<KeptExit> {
        self.exit.lock().unwrap().clone()
    }
}

struct Stage {
    road: Arc<Noting>,
    far: DuplexStream,
    agent: KeptAgent,
}

fn stage() -> Stage {
    let road = Arc::new(Noting::default());
    let (near, far) = tokio::io::duplex(1 << 16);
    let agent = KeptAgent {
        past: Box::new(std::iter::empty()),
        open: Vec::new(),
        unanswered: Vec::new(),
        greeted: Greeted::Replied(GREETED.into()),
        live: Box::new(near),
        road: Arc::clone(&road) as Arc<dyn Road>,
        pid: Some(7),
        id_prefix: "cs-1-".to_owned(),
        may_bypass: false,
    };
    Stage { road, far, agent }
}

async fn attach(claude: Claude, agent: KeptAgent) -> Attached {
    claude.attach_kept(agent, None).await.unwrap()
}

fn said(line: &str) -> io::Result<PastLine> {
    Ok(PastLine::FromAgent(line.into()))
}

#[tokio::test]
async fn an_open_question_comes_back_and_its_answer_names_it() {
    let mut stage = stage();
    stage.agent.open = vec![ASKED.into()];
    let mut attached = attach(Claude::new().questions(), stage.agent).await;
    let Some(Question::Permission(mut question)) = attached.session.questions.next().await else {
        panic!("the question");
    };
    assert_eq!(question.request().tool_name, "Bash");
    question.note(r#"{"by":"somebody"}"#.parse().unwrap());
    question.allow().unwrap();
    let given = stage.road.given();
    let [
        Given::Answer {
            id,
            line,
            note,
            refuses,
        },
    ] = given.as_slice()
    else {
        panic!("{given:?}");
    };
    assert!(line.contains(r#""behavior":"allow""#), "{line}");
    assert_eq!(
        (id.as_str(), note.as_deref(), *refuses),
        ("q1", Some(r#"{"by":"somebody"}"#), false)
    );
}

#[tokio::test]
async fn a_denial_is_known_as_one() {
    let mut stage = stage();
    stage.agent.open = vec![ASKED.into()];
    let deny = |_| async { Decision::deny("no") };
    let _attached = attach(Claude::new().permissions(deny), stage.agent).await;
    let given = stage.road.until(|given| !given.is_empty()).await;
    assert!(
        matches!(&given[0], Given::Answer { refuses: true, .. }),
        "{given:?}"
    );
}

#[tokio::test]
async fn letting_go_writes_nothing_and_ends_nothing() {
    let mut stage = stage();
    stage.agent.open = vec![ASKED.into()];
    let mut attached = attach(Claude::new().questions(), stage.agent).await;
    let question = attached.session.questions.next().await.unwrap();
    let handle = attached.session.handle.clone();
    // A request of ours that waits is not taken back, either.
    let asking = tokio::spawn({
        let handle = handle.clone();
        async move { handle.mcp_status().await.is_ok() }
    });
    stage.road.until(|given| given.len() == 1).await;
    asking.abort();
    let _ = asking.await;
    drop(question);
    assert_eq!(handle.open_questions(), 1);
    drop((handle, attached));
    // The reader is let go of with the session.
    tokio::time::timeout(Duration::from_secs(20), async {
        while stage.far.write_all(b"\n").await.is_ok() {
            tokio::task::yield_now().await;
        }
    })
    .await
    .unwrap();
    let given = stage.road.given();
    assert!(matches!(given.as_slice(), [Given::Line(line)] if line.contains("mcp_status")));
}

#[tokio::test]
async fn the_end_of_a_runtime_writes_nothing() {
    let road = std::thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let road = runtime.block_on(async {
            let mut stage = stage();
            stage.agent.open = vec![ASKED.into()];
            let waits = |_| std::future::pending::<Decision>();
            let attached = attach(Claude::new().permissions(waits), stage.agent).await;
            std::mem::forget(attached);
            std::mem::forget(stage.far);
            stage.road
        });
        drop(runtime);
        road
    })
    .join()
    .unwrap();
    assert_eq!(road.given(), []);
}

#[tokio::test]
async fn what_was_said_before_is_known_and_not_acted_on() {
    let mut stage = stage();
    let past = [said(INIT), said(ASKED), said(r#"{"type":"weather"}"#)];
    stage.agent.past = Box::new(past.into_iter());
    let mut attached = attach(Claude::new().questions(), stage.agent).await;
    let session = &mut attached.session;
    assert_eq!(session.session_id().as_deref(), Some("s-1"));
    assert_eq!(session.permission_mode().as_deref(), Some("plan"));
    assert!(!session.is_idle(), "its turn has no result yet");
    assert!(session.questions.try_next().is_none());
    assert_eq!(stage.road.given(), []);
    let result = r#"{"type":"result","subtype":"success","is_error":false,"session_id":"s-1"}"#;
    stage.far.write_all(result.as_bytes()).await.unwrap();
    stage.far.write_all(b"\n").await.unwrap();
    session.idle().await.unwrap();
}

#[tokio::test]
async fn a_message_that_no_turn_has_taken_up_keeps_it_busy() {
    let mut stage = stage();
    let sent = r#"{"type":"user","message":{"role":"user","content":"go"},"uuid":"u"}"#;
    stage.agent.past = Box::new([Ok(PastLine::ToAgent(sent.into()))].into_iter());
    let attached = attach(Claude::new(), stage.agent).await;
    assert!(!attached.session.is_idle());
}

#[tokio::test]
async fn an_agent_is_greeted_once() {
    // By us, if nobody has.
    let mut stage = stage();
    stage.agent.greeted = Greeted::Never;
    let (road, mut far) = (Arc::clone(&stage.road), stage.far);
    let replying = async {
        let given = road.until(|given| !given.is_empty()).await;
        let Given::Line(line) = &given[0] else {
            panic!("{given:?}");
        };
        assert!(line.contains(r#""request_id":"cs-1-1""#) && line.contains("initialize"));
        let reply = GREETED.replace("cs-0-1", "cs-1-1") + "\n";
        far.write_all(reply.as_bytes()).await.unwrap();
    };
    let (attached, ()) = tokio::join!(attach(Claude::new(), stage.agent), replying);
    assert!(attached.session.initialize_reply().is_some());

    // By the host before, whose reply came only now.
    let mut stage = self::stage();
    stage.agent.greeted = Greeted::Asked("cs-0-1".to_owned());
    stage.agent.unanswered = vec![unanswered("cs-0-1", "initialize")];
    let mut far = stage.far;
    far.write_all(format!("{GREETED}\n").as_bytes())
        .await
        .unwrap();
    let attached = attach(Claude::new(), stage.agent).await;
    assert!(attached.session.initialize_reply().is_some());
    assert!(attached.earlier.is_empty());
    assert_eq!(stage.road.given(), []);
}

#[tokio::test]
async fn an_agent_that_ends_before_it_answers_a_greeting_is_told_as_what_it_means_whoever_greeted()
{
    let asked = Greeted::Asked("cs-0-1".to_owned());
    for greeted in [Greeted::Never, asked] {
        let mut stage = stage();
        if greeted != Greeted::Never {
            stage.agent.unanswered = vec![unanswered("cs-0-1", "initialize")];
        }
        stage.agent.greeted = greeted;
        *stage.road.exit.lock().unwrap() = Some(KeptExit {
            code: Some(1),
            stderr: "Error: Session ID s-1 is already in use.\n".to_owned(),
            ..KeptExit::default()
        });
        drop(stage.far);
        match Claude::new().attach_kept(stage.agent, None).await {
            Err(Error::SessionIdInUse { id }) => assert_eq!(id, "s-1"),
            other => panic!("{other:?}"),
        }
    }
}

fn unanswered(request_id: &str, subtype: &str) -> Unanswered {
    Unanswered {
        request_id: request_id.to_owned(),
        subtype: subtype.to_owned(),
    }
}

#[tokio::test]
async fn the_reply_to_a_request_of_the_host_before_is_matched_or_given_up_by_name() {
    let mut stage = stage();
    stage.agent.unanswered = vec![
        unanswered("cs-0-2", "mcp_status"),
        unanswered("cs-0-3", "set_model"),
    ];
    let attached = attach(Claude::new(), stage.agent).await;
    let reply = GREETED.replace("cs-0-1", "cs-0-2") + "\n";
    stage.far.write_all(reply.as_bytes()).await.unwrap();
    let mut earlier = attached.earlier.into_iter();
    let matched = earlier.next().unwrap();
    assert_eq!(matched.subtype(), "mcp_status");
    matched.reply(Duration::from_secs(20)).await.unwrap();
    let given_up = earlier.next().unwrap().reply(Duration::from_millis(1));
    match given_up.await {
        Err(Error::TimedOut { what, .. }) => assert_eq!(what, "set_model"),
        other => panic!("{other:?}"),
    }
    assert_eq!(stage.road.given(), []);
}

#[tokio::test]
async fn closing_has_its_keeper_end_it_and_tells_how_it_ended() {
    let stage = stage();
    let attached = attach(Claude::new(), stage.agent).await;
    let closing = attached.session.handle.close();
    let ending = async {
        stage.road.until(|given| given == [Given::End]).await;
        *stage.road.exit.lock().unwrap() = Some(KeptExit {
            code: Some(3),
            stderr: "last words".to_owned(),
            ..KeptExit::default()
        });
        drop(stage.far);
    };
    let (closed, ()) = tokio::join!(closing, ending);
    assert_eq!(closed.code, Some(3));
    assert_eq!(closed.last_words(), Some("last words"));
    assert_eq!(closed.transport, None);
}

#[tokio::test]
async fn a_keeper_that_goes_away_without_a_word_is_told_as_that() {
    let stage = stage();
    let attached = attach(Claude::new(), stage.agent).await;
    drop(stage.far);
    let closed = attached.session.handle.closed().await;
    assert!(closed.transport.as_ref().unwrap().contains("may still run"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_callback_that_panics_refuses_though_dropping_would_not() {
    let mut stage = stage();
    stage.agent.open = vec![ASKED.into()];
    let panics = |_| async { panic!("no decision") };
    let _attached = attach(Claude::new().permissions(panics), stage.agent).await;
    let given = stage.road.until(|given| !given.is_empty()).await;
    assert!(
        matches!(&given[0], Given::Answer { line, refuses: true, .. } if line.contains("deny")),
        "{given:?}"
    );
}

#[tokio::test]
async fn a_hook_that_this_host_does_not_know_gets_an_error_and_is_not_left() {
    let mut stage = stage();
    let hook = r#"{"type":"control_request","request_id":"h1","request":{"subtype":"hook_callback","callback_id":"hook_9","input":{"hook_event_name":"Stop","session_id":"s","transcript_path":"/t","cwd":"/"}}}"#;
    stage.agent.open = vec![hook.into()];
    let _attached = attach(Claude::new(), stage.agent).await;
    let given = stage.road.until(|given| !given.is_empty()).await;
    assert!(
        matches!(&given[0], Given::Answer { id, line, .. } if id == "h1" && line.contains("error")),
        "{given:?}"
    );
}
