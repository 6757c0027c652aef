//! A host that comes back to an agent: hooks that waited for it are answered, and it is greeted as it would have been.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use countersign_client::kept::{Freight, Greeted, KeptAgent, KeptExit, Road, RoadError};
use countersign_client::options::Version;
use countersign_client::{Graces, Question};
use countersign_host::control::Mode;
use countersign_host::desk::attach;
use futures_core::future::BoxFuture;

use crate::ground::{Ground, NOW};

const HOOK: &str = r#"{"type":"control_request","request_id":"h1","request":{"subtype":"hook_callback","callback_id":"hook-0","tool_use_id":"t1","input":{"session_id":"s-1","transcript_path":"/t","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t1"}}}"#;
const ASKED: &str = r#"{"type":"control_request","request_id":"q1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"t1"}}"#;
const GREETED: &str = r#"{"type":"control_response","response":{"subtype":"success","request_id":"cs-0-1","response":{"commands":[],"output_style":"default","available_output_styles":[],"models":[],"account":{}}}}"#;

/// A road that notes what goes to the agent.
#[derive(Default)]
struct Noting(Mutex<Vec<String>>);

impl Noting {
    async fn first(&self) -> String {
        let looking = async {
            loop {
                if let Some(line) = self.0.lock().unwrap().first() {
                    return line.clone();
                }
                tokio::task::yield_now().await;
            }
        };
        let found = tokio::time::timeout(Duration::from_secs(20), looking).await;
        found.expect("something goes to the agent")
    }
}

impl Road for Noting {
    fn put(&self, line: Vec<u8>, _: Freight<'_>) -> Result<(), RoadError> {
        self.0
            .lock()
            .unwrap()
            .push(String::from_utf8(line).unwrap());
        Ok(())
    }

    fn flushed(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    fn end(&self, _: Graces) {}

    fn exit(&self) -> Option<KeptExit> {
        None
    }
}

/// An agent with open questions, what goes to it, and what keeps its output open.
fn agent(open: &[&str], greeted: Greeted) -> (KeptAgent, Arc<Noting>, tokio::io::DuplexStream) {
    let road = Arc::new(Noting::default());
    let (near, far) = tokio::io::duplex(1 << 16);
    let agent = KeptAgent {
        past: Box::new(std::iter::empty()),
        open: open.iter().map(|line| line.as_bytes().to_vec()).collect(),
        unanswered: Vec::new(),
        greeted,
        live: Box::new(near),
        road: Arc::clone(&road) as Arc<dyn Road>,
        pid: None,
        id_prefix: "cs-1-".to_owned(),
        may_bypass: false,
    };
    (agent, road, far)
}

fn greeted() -> Greeted {
    Greeted::Replied(GREETED.into())
}

#[tokio::test]
async fn a_hook_that_waited_while_nobody_was_there_says_ask() {
    let ground = Ground::new();
    let desk = ground.desk(Mode::Ask);
    for version in [None, Some(Version::new(2, 1, 62))] {
        let starting = attach(&desk, &ground.setup, &ground.host, version, NOW);
        let (agent, road, _far) = agent(&[HOOK], greeted());
        let _attached = starting.claude.attach_kept(agent, None).await.unwrap();
        let answer = road.first().await;
        assert!(answer.contains(r#""permissionDecision":"ask""#), "{answer}");
        assert!(answer.contains(r#""request_id":"h1""#), "{answer}");
    }
}

#[tokio::test]
async fn a_hook_that_turns_out_to_be_needless_has_no_opinion() {
    let ground = Ground::new();
    let desk = ground.desk(Mode::Ask);
    let starting = attach(&desk, &ground.setup, &ground.host, None, NOW);
    starting
        .watching
        .learn_version(Some(Version::new(2, 1, 325)));
    let (agent, road, _far) = agent(&[HOOK], greeted());
    let _attached = starting.claude.attach_kept(agent, None).await.unwrap();
    let answer = road.first().await;
    assert!(!answer.contains("permissionDecision"), "{answer}");
}

#[tokio::test]
async fn open_questions_come_as_values() {
    let ground = Ground::new();
    let desk = ground.desk(Mode::Ask);
    let starting = attach(&desk, &ground.setup, &ground.host, None, NOW);
    let (agent, road, _far) = agent(&[ASKED], greeted());
    let mut attached = starting.claude.attach_kept(agent, None).await.unwrap();
    let question = attached.session.questions.next().await;
    let Some(Question::Permission(question)) = question else {
        panic!("the question: {question:?}");
    };
    assert_eq!(question.request().tool_name, "Bash");
    assert!(road.0.lock().unwrap().is_empty(), "nothing was answered");
}

#[tokio::test]
async fn an_agent_that_nobody_greeted_is_greeted_with_the_hook_if_it_needs_it() {
    let ground = Ground::new();
    let desk = ground.desk(Mode::Ask);
    for (version, has_hook) in [
        (Version::new(2, 1, 62), true),
        (Version::new(2, 1, 325), false),
    ] {
        let starting = attach(&desk, &ground.setup, &ground.host, Some(version), NOW);
        let (agent, road, far) = agent(&[], Greeted::Never);
        let attaching = tokio::spawn(starting.claude.attach_kept(agent, None));
        let greeting = road.first().await;
        assert_eq!(
            greeting.contains(r#""timeout":86400"#),
            has_hook,
            "{greeting}"
        );
        assert!(
            greeting.contains(r#""supportedDialogKinds":["refusal_fallback_prompt"]"#),
            "{greeting}"
        );
        drop(far);
        attaching.await.unwrap().unwrap_err();
    }
}
