//! Agents of the real CLIs, in a sandbox with a scripted model.
//!
//! Owns what a host relies on and only they can show: that what is asked for is in force, after a resume as well; that a
//! hook of the person lets no call pass unseen; that what is ours is closed to the CLI itself.

use std::future::IntoFuture;
use std::time::Duration;

use countersign_client::options::Version;
use countersign_client::{Event, Question, Session};
use countersign_host::control::Mode;
use countersign_host::control::session::Setup;
use countersign_host::desk::{
    Conversation, Desk, Grounds, HOOKS_CANNOT_PASS, HostSettings, Starting, in_force, start,
    told_by_init,
};
use countersign_rehearsal::model::{Options, Script, Server};
use countersign_testkit::fetch::Installed;
use countersign_testkit::sandbox::{Launch, RunAs, Sandbox};
use serde_json::{Value, json};

use crate::ground::NOW;

/// For whatever must happen soon. Long, since a loaded machine is slow; no test waits for it to pass.
const PATIENCE: Duration = Duration::from_secs(90);

struct Stage {
    sandbox: Sandbox,
    model: Server,
    host: HostSettings,
    setup: Setup,
}

const DONE: &str = "reply\n  say \"Done.\"\n";

fn call(tool: &str, input: &Value) -> String {
    format!("reply\n  tool {tool} {input}\n{DONE}")
}

impl Stage {
    async fn new(cli: &Installed, script: &str) -> Self {
        let sandbox = Sandbox::create(RunAs::Caller).unwrap();
        let data = sandbox.root().join("data");
        std::fs::create_dir_all(data.join("sessions")).unwrap();
        std::fs::create_dir_all(sandbox.root().join("lib")).unwrap();
        let mut options = Options::default();
        let folder = sandbox.root().to_string_lossy().into_owned();
        options.vars.insert("root".into(), folder);
        let script = Script::parse(script).unwrap_or_else(|error| panic!("{error}"));
        let model = Server::start(script, options).await.unwrap();
        let launch = Launch {
            base_url: model.base_url(),
            ..Launch::default()
        };
        let spec = sandbox.spec(cli, &launch).unwrap();
        let words = spec
            .command
            .into_iter()
            .map(|word| word.into_string().unwrap());
        let host = HostSettings {
            claude: words.collect(),
            env: spec.env,
            inherits: false,
            ..HostSettings::new(data)
        };
        let setup = Setup {
            model: Some("sonnet".to_owned()),
            add_dirs: vec![sandbox.root().join("lib")],
            ..Setup::default()
        };
        Self {
            sandbox,
            model,
            host,
            setup,
        }
    }

    async fn begin(&self, mode: Mode, conversation: Conversation) -> (Starting, Session) {
        let grounds = Grounds::of(&self.setup, &self.sandbox.project(), None, &self.host).unwrap();
        let desk = Desk::open(grounds, Vec::new(), mode, NOW);
        let starting = start(&desk, &self.setup, &conversation, &self.host, NOW).await;
        let mut starting = starting.unwrap();
        let claude = starting.claude.clone().max_retries(1);
        let session = soon("the greeting", claude.connect()).await.unwrap();
        starting.watching.settle(&session.handle).await.unwrap();
        (starting, session)
    }
}

async fn soon<F: IntoFuture>(what: &str, future: F) -> F::Output {
    let waited = tokio::time::timeout(PATIENCE, future).await;
    waited.unwrap_or_else(|_| panic!("waited {PATIENCE:?} for {what}"))
}

fn new() -> (String, Conversation) {
    let id = uuid::Uuid::new_v4().to_string();
    (id.clone(), Conversation::New { id })
}

/// What a turn showed: its questions (tools), the lines of its tool results, and the line it began with.
#[derive(Debug, Default)]
struct Played {
    asked: Vec<String>,
    results: Vec<Value>,
    init: Vec<u8>,
}

/// Plays a turn; every question is answered the same way.
async fn play(session: &mut Session, allows: bool) -> Played {
    let mut played = Played::default();
    let turn = soon("the message", session.handle.send("go"))
        .await
        .unwrap();
    let mut turn = std::pin::pin!(turn.into_future());
    loop {
        tokio::select! {
            question = session.questions.next() => {
                let Some(Question::Permission(question)) = question else {
                    panic!("{question:?}");
                };
                played.asked.push(question.request().tool_name.clone());
                match allows {
                    true => question.allow().unwrap(),
                    false => question.deny("Not now.").unwrap(),
                }
            }
            result = tokio::time::timeout(PATIENCE, &mut turn) => {
                let result = result.expect("the result").unwrap();
                assert!(result.clone().ok().is_ok(), "{result:?}");
                break;
            }
        }
    }
    while let Some(event) = session.events.try_next() {
        let Event::Message(frame) = event else {
            continue;
        };
        let line: Value = serde_json::from_slice(frame.line()).unwrap();
        if line["subtype"] == "init" {
            played.init = frame.line().to_vec();
        }
        let blocks = line["message"]["content"].as_array().into_iter().flatten();
        let results = blocks.filter(|block| block["type"] == "tool_result");
        played.results.extend(results.cloned());
    }
    played
}

fn is_new(session: &Session) -> bool {
    session
        .handle
        .version()
        .is_some_and(|version| version >= HOOKS_CANNOT_PASS)
}

/// Everything that this version can say holds; the rest by the line its turn begins with.
async fn stands(starting: &Starting, session: &mut Session, mode: &str) {
    let found = in_force(&session.handle, &starting.wanted).await.unwrap();
    assert!(found.holds(), "{:?}", found.unmet);
    if is_new(session) {
        assert!(found.unproved.is_empty(), "{:?}", found.unproved);
        assert_eq!(session.handle.permission_mode().as_deref(), Some(mode));
    }
    let played = play(session, false).await;
    let greeting = session.handle.initialize_reply();
    let amiss = told_by_init(&starting.wanted, &played.init, greeting);
    assert!(amiss.is_empty(), "{amiss:?}");
    assert_eq!(session.handle.permission_mode().as_deref(), Some(mode));
}

pub(crate) async fn a_started_agent_stands_as_it_was_asked_for(cli: Installed) {
    let stage = Stage::new(&cli, &DONE.repeat(2)).await;
    for (mode, of_cli) in [(Mode::Plan, "plan"), (Mode::Edits, "default")] {
        let (_, conversation) = new();
        let (starting, mut session) = stage.begin(mode, conversation).await;
        let version: Version = cli.pinned.version.parse().unwrap();
        assert_eq!(starting.version, Some(version));
        assert_eq!(starting.watching.has_hook(), version < HOOKS_CANNOT_PASS);
        stands(&starting, &mut session, of_cli).await;
        soon("the end", session.handle.close()).await;
    }
}

pub(crate) async fn an_agent_that_is_resumed_stands_as_before(cli: Installed) {
    let stage = Stage::new(&cli, &DONE.repeat(3)).await;
    let (id, conversation) = new();
    let (_, mut session) = stage.begin(Mode::Ask, conversation).await;
    play(&mut session, false).await;
    soon("the end", session.handle.close()).await;
    let resume = Conversation::Resume { id: id.clone() };
    let (starting, mut session) = stage.begin(Mode::Plan, resume).await;
    stands(&starting, &mut session, "plan").await;
    assert_eq!(session.handle.session_id().as_ref(), Some(&id));
    soon("the end", session.handle.close()).await;
    let (other, _) = new();
    let fork = Conversation::Fork {
        from: id,
        id: other.clone(),
    };
    let (starting, mut session) = stage.begin(Mode::Ask, fork).await;
    stands(&starting, &mut session, "default").await;
    assert_eq!(session.handle.session_id(), Some(other));
}

pub(crate) async fn no_call_passes_unseen_by_a_hook_of_the_person(cli: Installed) {
    let script = call(
        "Bash",
        &json!({"command": "touch ${root}/ran", "description": "Try"}),
    );
    let stage = Stage::new(&cli, &script).await;
    let says = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}});
    let hook = json!({"type": "command", "command": format!("echo '{says}'")});
    let settings = json!({"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [hook]}]}});
    let folder = stage.sandbox.home().join(".claude");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
    let (_, conversation) = new();
    let (_, mut session) = stage.begin(Mode::Ask, conversation).await;
    let played = play(&mut session, false).await;
    assert_eq!(played.asked, ["Bash"]);
    assert_eq!(played.results[0]["is_error"], true);
    assert!(!stage.sandbox.root().join("ran").exists());
}

/// As if policy were not there: whoever answers says yes to everything.
pub(crate) async fn what_is_ours_is_closed_to_the_cli_itself(cli: Installed) {
    let read = json!({"file_path": "${root}/data/sessions/journal"});
    let write = json!({"file_path": "${root}/data/sessions/new", "content": "x"});
    let open = json!({"file_path": "${root}/lib/open"});
    let script = call("Read", &read) + &call("Write", &write) + &call("Read", &open);
    let stage = Stage::new(&cli, &script).await;
    let data = stage.sandbox.root().join("data/sessions");
    std::fs::write(data.join("journal"), "closed-to-agents").unwrap();
    std::fs::write(stage.sandbox.root().join("lib/open"), "open-to-agents").unwrap();
    let (_, conversation) = new();
    let (_, mut session) = stage.begin(Mode::Ask, conversation).await;
    for _ in 0..2 {
        let played = play(&mut session, true).await;
        assert_eq!(played.results[0]["is_error"], true, "{played:?}");
    }
    play(&mut session, true).await;
    assert!(!data.join("new").exists());
    let heard = format!("{:?}", stage.model.requests().last().unwrap().body);
    assert!(heard.contains("open-to-agents") && !heard.contains("closed-to-agents"));
}
