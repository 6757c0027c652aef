//! A host whose agents plan: on the scripted CLI or on a real one, with the same model script.
//!
//! Owns [`Stage`], which is the host's stage with a model, and what can be read of an agent in its journal. Invariant:
//! everything said here of a CLI is what it said itself.

use std::ffi::OsString;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use countersign_host::control::approval::{Kind, PlanDecision, Way};
use countersign_host::control::session::Setup;
use countersign_host::control::{
    ApprovalView, Command, Control as _, ControlError, Decide, Message, Mode, PlanVersion, Receipt,
    SessionId, SessionView,
};
use countersign_journal::{Reader, Step};
use countersign_rehearsal::model::{Kept, Options, Script as ModelScript, Server, Vars};
use countersign_rehearsal::real::{Places, environment, scripted, search_path};
use countersign_testkit::fetch::Installed;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::common::{self, DEADLINE};
use crate::script::Script;

/// Which CLI is played on.
#[derive(Debug, Clone)]
pub(crate) enum Cli {
    Scripted,
    Real(Installed),
}

impl Cli {
    /// Its version.
    pub(crate) fn version(&self) -> &'static str {
        match self {
            Self::Scripted => countersign_testkit::fetch::newest().version,
            Self::Real(installed) => installed.pinned.version,
        }
    }

    /// It takes a changed plan together with the approval.
    pub(crate) fn takes_changed_plans(&self) -> bool {
        match self {
            Self::Scripted => true,
            Self::Real(installed) => installed.pinned.is_at_least("2.1.325"),
        }
    }

    /// A message that joins a running turn keeps its images.
    pub(crate) fn keeps_images(&self) -> bool {
        self.version() != "2.0.75"
    }
}

/// A record of a journal.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) generation: u32,
    pub(crate) kind: char,
    pub(crate) value: Value,
}

/// A host, its agents and their model.
pub(crate) struct Stage {
    host: common::Stage,
    /// Of a real CLI. The scripted one reads the script itself.
    model: Option<Server>,
    pub(crate) cli: Cli,
    /// How long each plan was asked about before it was shown, in microseconds.
    waits: Mutex<Vec<u64>>,
}

impl Deref for Stage {
    type Target = common::Stage;

    fn deref(&self) -> &common::Stage {
        &self.host
    }
}

impl Stage {
    pub(crate) async fn new(cli: Cli, script: &Script) -> Self {
        let root = tempfile::Builder::new()
            .prefix("countersign-plans-")
            .tempdir()
            .unwrap();
        let places = Places::below(root.path());
        for folder in places.all() {
            std::fs::create_dir_all(folder).unwrap();
        }
        let mut vars = Vars::new();
        vars.insert("cwd".to_owned(), text(&places.project()));
        vars.insert("home".to_owned(), text(&places.home()));
        let parsed = ModelScript::parse(script.text());
        let parsed = parsed.unwrap_or_else(|error| panic!("{error}\n{}", script.text()));
        let mut more = Vec::new();
        let (command, model) = match &cli {
            Cli::Scripted => {
                let file = root.path().join("model");
                std::fs::write(&file, script.text()).unwrap();
                more.extend(scripted(&file, &vars));
                let state = text(&root.path().join("model-state"));
                more.push(("COUNTERSIGN_MODEL_STATE".to_owned(), state));
                let program = common::program("hosted_agent");
                (vec![program.into_os_string()], None)
            }
            Cli::Real(installed) => {
                let options = Options {
                    vars,
                    ..Options::default()
                };
                let model = Server::start(parsed, options).await.unwrap();
                (installed.command.clone(), Some(model))
            }
        };
        let base = model.as_ref().map(Server::base_url);
        let base = base.unwrap_or_else(|| "http://127.0.0.1:9".to_owned());
        let env = environment(&places, search_path(&command, &[]), &base, &more).unwrap();
        let mut settings = common::usual(root.path(), env);
        let word = |word: OsString| word.into_string().unwrap();
        settings.agents.claude = command.into_iter().map(word).collect();
        Self {
            host: common::Stage::at(root, settings).await,
            model,
            cli,
            waits: Mutex::default(),
        }
    }

    /// The host ends, and another one begins.
    pub(crate) async fn restart(&mut self) {
        self.host.restart().await;
    }

    /// What the real CLI asked the model, as text.
    pub(crate) fn model_heard(&self, words: &str) -> Option<bool> {
        let requests = self.model.as_ref()?.requests();
        let has =
            |body: &Kept| matches!(body, Kept::Json(body) if body.to_string().contains(words));
        Some(requests.iter().any(|request| has(&request.body)))
    }

    /// A session that plans.
    pub(crate) async fn planning(&self, prompt: &str) -> SessionId {
        let setup = Setup {
            mode: Mode::Plan,
            ..Setup::default()
        };
        self.start_with(prompt, setup).await
    }

    pub(crate) async fn send(&self, session: SessionId, message: &str) {
        let message = Message::text(message);
        self.execute(Command::Send { session, message }).await;
    }

    /// The modes that the transcript says were entered, one after the other.
    pub(crate) async fn dividers(&self, session: SessionId) -> Vec<String> {
        let page = self.host().transcript(session, None, 500).await.unwrap();
        let modes = page.items.into_iter().filter_map(|entry| match entry.body {
            countersign_transcript::Body::Mode(mode) => Some(mode.to),
            _ => None,
        });
        modes.collect()
    }

    /// The one question that is open.
    pub(crate) async fn asked(&self, session: SessionId, tool: &str) -> ApprovalView {
        let one = self.open_approvals(session, 1).await.remove(0);
        assert_eq!(one.tool, tool, "{one:#?}\n{}", self.story(session));
        one
    }

    /// The plan that waits, with this text.
    pub(crate) async fn presented(&self, session: SessionId, plan: &str) -> ApprovalView {
        let one = self.asked(session, "ExitPlanMode").await;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let wait = (now.as_micros() as u64).saturating_sub(one.asked);
        self.waits.lock().unwrap().push(wait);
        assert_eq!(one.kind, Kind::Plan);
        assert_eq!(one.input["plan"], plan, "{one:#?}");
        one
    }

    /// The shortest time between a plan that was asked about and its being shown.
    pub(crate) fn shortest_wait(&self) -> Duration {
        let waits = self.waits.lock().unwrap();
        Duration::from_micros(waits.iter().copied().min().unwrap())
    }

    /// Decides a plan.
    pub(crate) async fn go(&self, plan: &ApprovalView, decision: PlanDecision) -> Receipt {
        self.decide(plan, Decide::Plan(decision)).await
    }

    /// The host refuses this decision.
    pub(crate) async fn refused(&self, plan: &ApprovalView, decision: PlanDecision) -> String {
        let command = Command::Decide {
            approval: plan.id,
            saw: plan.digest.clone(),
            decide: Decide::Plan(decision),
        };
        let refused = self.host().execute(common::Stage::cmd(), command).await;
        match refused {
            Err(ControlError::Invalid { why }) => why,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn versions(&self, session: SessionId) -> Vec<PlanVersion> {
        self.host().plans(session).await.unwrap()
    }

    /// What the journal of a session holds.
    pub(crate) fn journal(&self, session: SessionId) -> Vec<Line> {
        let dir = self.settings.agents.data.join("sessions");
        let Ok(mut reader) = Reader::open(&dir.join(session.to_string())) else {
            return Vec::new();
        };
        let mut lines = Vec::new();
        loop {
            match reader.next_of().unwrap() {
                (generation, Step::Record(record)) => lines.push(Line {
                    generation,
                    kind: char::from(record.kind.letter()),
                    value: serde_json::from_slice(record.payload).unwrap_or_default(),
                }),
                (_, Step::End) => return lines,
                (_, other) => panic!("{other:?}"),
            }
        }
    }

    /// The modes that the CLI said it is in, each with its generation: at the beginning of a turn, and where it says that
    /// one changed.
    pub(crate) fn modes(&self, session: SessionId) -> Vec<(u32, String)> {
        let said = |line: &Line| {
            let is_told = line.kind == 'a'
                && line.value["type"] == "system"
                && (line.value["subtype"] == "init" || line.value["subtype"] == "status");
            let mode = line.value["permissionMode"].as_str().filter(|_| is_told)?;
            Some((line.generation, mode.to_owned()))
        };
        self.journal(session).iter().filter_map(said).collect()
    }

    /// The mode that the CLI last said it is in.
    pub(crate) fn mode_of_cli(&self, session: SessionId) -> String {
        let (_, mode) = self.modes(session).pop().unwrap();
        mode
    }

    /// How many turns have ended.
    pub(crate) fn turns(&self, session: SessionId) -> usize {
        let lines = self.journal(session);
        let ended = |line: &&Line| line.kind == 'a' && line.value["type"] == "result";
        lines.iter().filter(ended).count()
    }

    /// Waits until so many turns have ended and nothing goes on.
    pub(crate) async fn rests(&self, session: SessionId, turns: usize) -> SessionView {
        let what = format!("idle after {turns} turns");
        self.until_seen(session, &what, |view| {
            view.state.name() == "idle" && view.queued == 0 && self.turns(session) >= turns
        })
        .await
    }

    /// One more turn, without a tool; the mode that it begins in.
    pub(crate) async fn mode_of_next_turn(&self, session: SessionId) -> String {
        let turns = self.turns(session);
        self.send(session, "And now?").await;
        self.rests(session, turns + 1).await;
        self.mode_of_cli(session)
    }

    /// What was answered to a question, as it stands in the journal.
    pub(crate) fn answer(&self, one: &ApprovalView) -> Value {
        let lines = self.journal(one.session);
        let answers = lines.iter().filter(|line| {
            let response = &line.value["response"];
            line.kind == 'h' && response["request_id"] == one.request_id.as_str()
        });
        let answers: Vec<&Value> = answers
            .map(|line| &line.value["response"]["response"])
            .collect();
        let [answer] = answers[..] else {
            panic!("not one answer: {answers:?}\n{}", self.story(one.session));
        };
        answer.clone()
    }

    /// What the model was told of a call.
    pub(crate) fn told(&self, one: &ApprovalView) -> Value {
        let lines = self.journal(one.session);
        let blocks = lines
            .iter()
            .filter(|line| line.kind == 'a' && line.value["type"] == "user");
        let blocks = blocks.filter_map(|line| line.value["message"]["content"].as_array());
        let call = one.tool_use_id.as_deref().unwrap();
        let mut blocks = blocks
            .flatten()
            .filter(|block| block["tool_use_id"] == call);
        blocks.next().cloned().unwrap_or_default()
    }

    /// The messages that the host wrote to the agent.
    pub(crate) fn messages(&self, session: SessionId) -> Vec<Value> {
        let lines = self.journal(session).into_iter();
        let messages = lines.filter(|line| line.kind == 'h' && line.value["type"] == "user");
        messages
            .map(|line| line.value["message"]["content"].clone())
            .collect()
    }

    /// Waits until the CLI has stored the conversation up to the plan: it asks first, and an agent that dies in between
    /// leaves nothing to be resumed.
    async fn until_stored(&self, plan: &ApprovalView) {
        let call = plan.tool_use_id.as_deref().unwrap();
        let projects = self.root().join("home/.claude/projects");
        let start = Instant::now();
        while !is_said_below(&projects, call) {
            assert!(
                start.elapsed() < DEADLINE,
                "{call} is not in {}\n{}",
                projects.display(),
                self.story(plan.session)
            );
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// The agent dies, and the plan waits on the table.
    pub(crate) async fn kill(&self, plan: &ApprovalView) -> ApprovalView {
        assert!(!plan.needs_restart);
        self.until_stored(plan).await;
        kill_process(self.agent(plan.session), Signal::KILL).unwrap();
        let start = Instant::now();
        loop {
            let view = self.host().approval(plan.id).await.unwrap();
            if view.needs_restart {
                assert_eq!(view.life.name(), "open");
                return view;
            }
            assert!(
                start.elapsed() < DEADLINE,
                "{view:#?}\n{}",
                self.story(plan.session)
            );
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// The agent that was started last.
    fn agent(&self, session: SessionId) -> Pid {
        let lines = self.journal(session);
        let mut spawned = lines.iter().rev();
        let spawned = spawned.find(|line| line.value["event"] == "spawned");
        pid(&spawned.unwrap().value["pid"])
    }

    /// The keeper of whoever presents the plan stands still: what is said to it is not heard.
    pub(crate) async fn deafen(&self, plan: &ApprovalView) -> Deaf {
        self.until_stored(plan).await;
        let session = plan.session;
        let dir = self.settings.agents.data.join("sessions");
        let file = dir.join(session.to_string()).join("keeper.json");
        let said: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let deaf = Deaf {
            keeper: pid(&said["keeper"]),
            agent: self.agent(session),
        };
        kill_process(deaf.keeper, Signal::STOP).unwrap();
        deaf
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.project().join(name)
    }

    /// The files in the folder of plans.
    pub(crate) fn plan_files(&self) -> Vec<PathBuf> {
        let folder = self.root().join("home/.claude/plans");
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = files.map(|file| file.path()).collect();
        files.sort();
        files
    }
}

/// A keeper that stands still, and its agent.
pub(crate) struct Deaf {
    keeper: Pid,
    agent: Pid,
}

impl Deaf {
    /// Both die.
    pub(crate) fn kill(self) {
        kill_process(self.keeper, Signal::KILL).unwrap();
        // It may have gone with its keeper.
        let _ = kill_process(self.agent, Signal::KILL);
    }
}

fn pid(value: &Value) -> Pid {
    let pid = value.as_i64().unwrap_or_else(|| panic!("{value}"));
    Pid::from_raw(i32::try_from(pid).unwrap()).unwrap()
}

impl Drop for Stage {
    fn drop(&mut self) {
        Places::below(self.root()).clear_strays();
    }
}

/// Whether a conversation in a folder of this one has these words.
fn is_said_below(projects: &Path, words: &str) -> bool {
    let files_in = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files = files_in(projects).flat_map(|project| files_in(&project.path()));
    files.any(|file| {
        let said = std::fs::read(file.path()).unwrap_or_default();
        memchr::memmem::find(&said, words.as_bytes()).is_some()
    })
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// A decision that says nothing but the way.
pub(crate) fn way(choice: Way) -> PlanDecision {
    PlanDecision {
        choice,
        mode: None,
        plan: None,
        rules: Vec::new(),
        allowed_prompts: Vec::new(),
        feedback: None,
        images: Vec::new(),
        comments: Vec::new(),
        compact: false,
    }
}

/// Not yet, because of this.
pub(crate) fn not_yet(feedback: &str) -> PlanDecision {
    PlanDecision {
        feedback: Some(feedback.to_owned()),
        ..way(Way::KeepPlanning)
    }
}
