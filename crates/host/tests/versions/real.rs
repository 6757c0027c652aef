//! A host whose agents are a real CLI on a scripted model.
//!
//! Owns [`Real`]: the host's stage, the model, and what the model was told. Invariant: the CLI sees nothing of the caller.

use std::ops::Deref;

use countersign_host::Settings;
use countersign_host::control::{Command, Message, SessionId, SessionView, State};
use countersign_rehearsal::model::{Kept, Options, Script, Server};
use countersign_rehearsal::real::{Places, environment, search_path};
use countersign_testkit::fetch::Installed;

use crate::stage::{self, Stage};

/// A host, its agents and their model.
pub(crate) struct Real {
    stage: Stage,
    model: Server,
}

impl Deref for Real {
    type Target = Stage;

    fn deref(&self) -> &Stage {
        &self.stage
    }
}

impl Real {
    pub(crate) async fn new(
        cli: &Installed,
        script: &str,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        let root = tempfile::Builder::new()
            .prefix("countersign-versions-")
            .tempdir()
            .unwrap();
        let places = Places::below(root.path());
        for folder in places.all() {
            std::fs::create_dir_all(folder).unwrap();
        }
        let script = Script::parse(script).unwrap_or_else(|error| panic!("{error}"));
        let model = Server::start(script, Options::default()).await.unwrap();
        let path = search_path(&cli.command, &[]);
        let env = environment(&places, path, &model.base_url(), &[]).unwrap();
        let mut settings = stage::usual(root.path(), env);
        let words = cli
            .command
            .iter()
            .map(|word| word.to_str().unwrap().to_owned());
        settings.agents.claude = words.collect();
        change(&mut settings);
        Self {
            stage: Stage::at(root, settings).await,
            model,
        }
    }

    pub(crate) async fn send(&self, session: SessionId, text: &str) {
        let message = Message::text(text);
        self.execute(Command::Send { session, message }).await;
    }

    /// Waits until an agent of this generation sleeps.
    pub(crate) async fn sleeps(&self, id: SessionId, generation: u32) -> SessionView {
        let is_asleep = |view: &SessionView| {
            matches!(view.state, State::Idle { asleep: true, .. }) && view.generation == generation
        };
        self.until_seen(id, "asleep", is_asleep).await
    }

    /// Whether the model was told this together with the words of a message.
    pub(crate) fn was_told(&self, message: &str, words: &str) -> bool {
        let says = |body: &Kept| match body {
            Kept::Json(body) => {
                let text = body.to_string();
                text.contains(message) && text.contains(words)
            }
            _ => false,
        };
        self.model
            .requests()
            .iter()
            .any(|request| says(&request.body))
    }
}

impl Drop for Real {
    fn drop(&mut self) {
        Places::below(self.root()).clear_strays();
    }
}
