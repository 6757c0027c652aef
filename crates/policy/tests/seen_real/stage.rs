//! One CLI in its sandbox with a scripted model, and a turn played to its end.
//!
//! Owns the waits: each has a deadline. Knows nothing of policy.

use std::collections::BTreeMap;
use std::future::IntoFuture;
use std::path::PathBuf;
use std::time::Duration;

use countersign_client::mcp::{Server as Tools, Tool};
use countersign_client::{Claude, Event, Session};
use countersign_rehearsal::model::{Options, Script, Server};
use countersign_testkit::fetch::Installed;
use countersign_testkit::sandbox::{Launch, RunAs, Sandbox};
use serde_json::Value;

/// For whatever must happen soon. Long, since a loaded machine is slow; no test waits for it to pass.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Stage {
    pub(crate) cli: Installed,
    pub(crate) sandbox: Sandbox,
    model: Server,
}

/// A call of the model in a script: `tool Name {…}`.
pub(crate) fn reply(tool: &str, input: &Value) -> String {
    format!("reply\n  tool {tool} {input}\n")
}

/// A model that makes these calls one after the other, then says that it is done.
pub(crate) fn calls<'a>(calls: impl IntoIterator<Item = &'a (&'static str, Value)>) -> String {
    let replies = calls.into_iter().map(|(tool, input)| reply(tool, input));
    replies.chain([DONE.to_owned()]).collect()
}

pub(crate) const DONE: &str = "reply\n  say \"Done.\"\n";

impl Stage {
    /// `${cwd}` and `${home}` in the script are the project and the home of the CLI.
    pub(crate) async fn new(cli: &Installed, script: &str) -> Self {
        let sandbox = Sandbox::create(RunAs::Caller).unwrap();
        let script = Script::parse(script).unwrap_or_else(|error| panic!("{error}\n{script}"));
        let mut options = Options::default();
        for (name, folder) in [("cwd", sandbox.project()), ("home", sandbox.home())] {
            let folder = folder.to_string_lossy().into_owned();
            options.vars.insert(name.into(), folder);
        }
        let model = Server::start(script, options).await.unwrap();
        Self {
            cli: cli.clone(),
            sandbox,
            model,
        }
    }

    pub(crate) fn version(&self) -> &'static str {
        self.cli.pinned.version
    }

    /// A client whose CLI runs in here, with one MCP server of this process.
    pub(crate) fn claude(&self) -> Claude {
        let launch = Launch {
            base_url: self.model.base_url(),
            env: vec![("IS_SANDBOX".into(), "1".into())],
            ..Launch::default()
        };
        let spec = self.sandbox.spec(&self.cli, &launch).unwrap();
        let claude = Claude::new()
            .cli(spec.command)
            .cwd(spec.cwd)
            .max_retries(1)
            .env_clear();
        let claude = spec
            .env
            .into_iter()
            .fold(claude, |claude, (name, value)| claude.env(name, value));
        let echo = Tool::new("echo", "Says it again", |text: String| async move { text });
        claude.mcp(Tools::new("talk").with(echo.always_load()))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.sandbox.project().join(name)
    }

    /// A file of the project.
    pub(crate) fn file(&self, name: &str, content: &str) {
        self.sandbox.write(name, content).unwrap();
    }

    /// The settings of the person or of the project.
    pub(crate) fn settings(&self, whose: PathBuf, settings: &Value) {
        let folder = whose.join(".claude");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
    }

    /// Whether the model was ever told this.
    pub(crate) fn model_knows(&self, text: &str) -> bool {
        let requests = self.model.requests();
        assert!(!requests.is_empty(), "the model was asked something");
        requests
            .iter()
            .any(|request| format!("{:?}", request.body).contains(text))
    }
}

/// What became of the calls of a turn.
#[derive(Debug, Default)]
pub(crate) struct Played {
    /// Every call that stands in the stream, those of sub-agents too: its tool by its id.
    pub(crate) calls: BTreeMap<String, String>,
    /// Their ids in the order of the stream.
    pub(crate) order: Vec<String>,
    /// What came of each that ended: its text, if it is an error.
    pub(crate) results: BTreeMap<String, Option<String>>,
    /// The tools that the agent said it has.
    pub(crate) tools: Vec<String>,
}

/// Sends a prompt and plays its turn to the end.
pub(crate) async fn play(session: &mut Session, prompt: &str) -> Played {
    let turn = soon("the message", session.handle.send(prompt))
        .await
        .unwrap();
    let result = soon("the result", turn).await.unwrap();
    assert!(result.clone().ok().is_ok(), "{result:?}");
    let mut played = Played::default();
    while let Some(event) = session.events.try_next() {
        if let Event::Message(frame) = event {
            let line: Value = serde_json::from_slice(frame.line()).unwrap();
            played.take(&line);
        }
    }
    played
}

impl Played {
    fn take(&mut self, line: &Value) {
        if line["subtype"] == "init" {
            let tools = line["tools"].as_array().into_iter().flatten();
            self.tools = tools
                .filter_map(|tool| Some(tool.as_str()?.to_owned()))
                .collect();
        }
        for block in line["message"]["content"].as_array().into_iter().flatten() {
            let text = |name: &str| block[name].as_str().unwrap_or_default().to_owned();
            match block["type"].as_str() {
                Some("tool_use") => {
                    self.order.push(text("id"));
                    self.calls.insert(text("id"), text("name"));
                }
                Some("tool_result") => {
                    let failure = (block["is_error"] == true).then(|| block["content"].to_string());
                    self.results.insert(text("tool_use_id"), failure);
                }
                _ => {}
            }
        }
    }
}

/// Waits for `future`, with a deadline.
pub(crate) async fn soon<F: IntoFuture>(what: &str, future: F) -> F::Output {
    let waited = tokio::time::timeout(PATIENCE, future).await;
    waited.unwrap_or_else(|_| panic!("waited {PATIENCE:?} for {what}"))
}
