//! One CLI in its sandbox with a scripted model, and what cases look at: the model's requests, the events, the files.
//!
//! Owns [`Stage`] and the waits. Invariants: the client starts the CLI with the sandbox's environment and nothing of the
//! caller's; every wait has a deadline and says what it waited for.

use std::future::{Future, IntoFuture};
use std::path::PathBuf;
use std::time::Duration;

use std::sync::{Arc, Mutex};

use countersign_client::history::{ListOptions, Transcripts};
use countersign_client::{
    Claude, Decision, Event, Events, Graces, Notice, PermissionHandler, PermissionRequest, Prompt,
    Session, TurnResult,
};
use countersign_rehearsal::model::{Kept, Kind, Options, Script, Server};
use countersign_testkit::sandbox::{Launch, RunAs, Sandbox};
use serde_json::Value;

use crate::harness::Cli;

/// For whatever must happen soon. Long, since a loaded machine is slow; no test waits for it to pass.
pub(crate) const PATIENCE: Duration = Duration::from_secs(40);

/// A CLI ends by itself when it is asked to, however slow the machine is. Whoever shows a later step asks for it.
fn patient(graces: &mut Graces) {
    graces.interrupt = Duration::from_secs(30);
    graces.close = Duration::from_secs(30);
    graces.term = Duration::from_secs(30);
}

/// A sandbox, a scripted model, and the CLI to run in them.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) cli: Cli,
    pub(crate) sandbox: Sandbox,
    pub(crate) model: Server,
}

impl Cli {
    /// A stage with a model that follows `script`. `${cwd}` in it is the project folder.
    pub(crate) async fn stage(&self, script: &str) -> Stage {
        let sandbox = Sandbox::create(RunAs::Caller).unwrap();
        let script = Script::parse(script).unwrap_or_else(|error| panic!("{error}"));
        let mut options = Options::default();
        let cwd = sandbox.project().to_string_lossy().into_owned();
        options.vars.insert("cwd".into(), cwd);
        let model = Server::start(script, options).await.unwrap();
        Stage {
            cli: self.clone(),
            sandbox,
            model,
        }
    }
}

impl Stage {
    /// A client whose CLI runs in here.
    pub(crate) fn claude(&self) -> Claude {
        let launch = Launch {
            base_url: self.model.base_url(),
            ..Launch::default()
        };
        let spec = self.sandbox.spec(&self.cli.installed, &launch).unwrap();
        let claude = Claude::new()
            .cli(spec.command)
            .cwd(spec.cwd)
            .max_retries(1)
            .graces(patient)
            .env_clear();
        spec.env
            .into_iter()
            .fold(claude, |claude, (name, value)| claude.env(name, value))
    }

    /// A path in the project folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.sandbox.project().join(name)
    }

    /// A file of the project; `None` if it is not there.
    pub(crate) fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.path(name)).ok()
    }

    /// A file of the CLI's home; `None` if it is not there.
    pub(crate) fn read_home(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.sandbox.home().join(name)).ok()
    }

    /// The title of the newest session that is stored; `None` if there is none.
    pub(crate) fn title(&self) -> Option<String> {
        let transcripts = Transcripts::at(self.sandbox.home().join(".claude"));
        let project = transcripts.project(&self.sandbox.project());
        let listed = project.list(&ListOptions::default()).unwrap();
        listed.first().map(|session| session.title().to_owned())
    }

    /// What the model was asked: the bodies of all main requests.
    pub(crate) fn asked(&self) -> Vec<Value> {
        let requests = self.model.requests().into_iter();
        let turns = requests.filter(|request| request.kind == Kind::Main);
        turns
            .map(|request| match request.body {
                Kept::Json(body) => body,
                other => panic!("a request without a body: {other:?}"),
            })
            .collect()
    }

    /// The last of them.
    pub(crate) fn last_asked(&self) -> Value {
        self.asked().pop().expect("the model was asked")
    }
}

/// Notes which tools were asked about.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asked(Arc<Mutex<Vec<String>>>);

impl Asked {
    /// Answers each question the same way.
    pub(crate) fn always(&self, decision: Decision) -> impl PermissionHandler + use<> {
        let asked = self.clone();
        move |request: PermissionRequest| {
            asked.0.lock().unwrap().push(request.tool_name.clone());
            std::future::ready(decision.clone())
        }
    }

    /// The names since the last look.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// Sends a prompt and gives the init and the result of its turn.
pub(crate) async fn turn(session: &mut Session, prompt: impl Into<Prompt>) -> (Value, TurnResult) {
    let turn = session.send(prompt).await.unwrap();
    let init = init(&mut session.events).await;
    (init, soon("the result", turn).await.unwrap())
}

/// The names of the tools that a request to the model offers.
pub(crate) fn tool_names(request: &Value) -> Vec<&str> {
    let tools = request["tools"].as_array().into_iter().flatten();
    tools.filter_map(|tool| tool["name"].as_str()).collect()
}

/// The system prompt of a request to the model, in one piece.
pub(crate) fn system_prompt(request: &Value) -> String {
    match &request["system"] {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// Waits for `future`, at most [`PATIENCE`].
pub(crate) async fn soon<F: IntoFuture>(what: &str, future: F) -> F::Output {
    let waited = tokio::time::timeout(PATIENCE, future).await;
    waited.unwrap_or_else(|_| panic!("waited {PATIENCE:?} for {what}"))
}

/// Waits until `holds` does. For what no event tells: files and processes.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let polled = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    soon(what, polled).await;
}

/// Asks again and again until the answer is there. For what no event tells.
pub(crate) async fn answer<T, F>(what: &str, mut ask: impl FnMut() -> F) -> T
where
    F: Future<Output = Option<T>>,
{
    let polled = async {
        loop {
            if let Some(answer) = ask().await {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    soon(what, polled).await
}

/// Waits for a line of the CLI that `fits`, as JSON.
pub(crate) async fn line(events: &mut Events, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
    let looking = async {
        loop {
            match events.next().await {
                Some(Event::Message(frame)) => {
                    let line: Value = serde_json::from_slice(frame.line()).unwrap();
                    if fits(&line) {
                        return line;
                    }
                }
                Some(Event::Closed(closed)) => panic!("{closed} before {what}"),
                Some(_) => {}
                None => panic!("the events ended before {what}"),
            }
        }
    };
    soon(what, looking).await
}

/// Waits for the `init` of the next turn.
pub(crate) async fn init(events: &mut Events) -> Value {
    line(events, "init", |line| line["subtype"] == "init").await
}

/// Waits for a notice that `fits`.
pub(crate) async fn notice(events: &mut Events, what: &str, fits: impl Fn(&Notice) -> bool) {
    let looking = async {
        while let Some(event) = events.next().await {
            if matches!(&event, Event::Notice(notice) if fits(notice)) {
                return;
            }
        }
        panic!("the events ended before {what}");
    };
    soon(what, looking).await;
}

/// All that is there to be read already, as JSON; notices are left out.
pub(crate) fn lines(events: &mut Events) -> Vec<Value> {
    let mut lines = Vec::new();
    while let Some(event) = events.try_next() {
        if let Event::Message(frame) = event {
            lines.push(serde_json::from_slice(frame.line()).unwrap());
        }
    }
    lines
}

/// All notices that are there to be read already.
pub(crate) fn notices(events: &mut Events) -> Vec<Notice> {
    let mut notices = Vec::new();
    while let Some(event) = events.try_next() {
        if let Event::Notice(notice) = event {
            notices.push(notice);
        }
    }
    notices
}
