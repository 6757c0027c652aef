//! One session of a test: its folders, its CLI behind the witness, its hosts, and what lies on the disk afterwards.
//!
//! Owns [`Stage`]. Every process of a stage carries the folder of the stage in its environment or its command line, so
//! that what is left of it can be looked up. Invariants: the CLI sees nothing of the caller; when a stage is dropped
//! none of its processes runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use countersign_rehearsal::cli::Scenario;
use countersign_rehearsal::model::{Options, Script, Server};
use countersign_rehearsal::real::{Places, environment};
use countersign_testkit::demand;
use countersign_testkit::sandbox::{Launch, RunAs, Sandbox};
use serde_json::Value;

use crate::checks::{Case, Extent, Heard, Violation};
use crate::conversation::Begin;
use crate::evidence::{self, Journal, Witness};
use crate::host::Host;
use crate::orders::{Decide, Leave, Orders};
use crate::procs::{self, Process};
use crate::scenes;
use crate::task::{Message, Task};
use crate::wait::{self, Dice};

/// How long what the agent wrote last may take to the journal.
const QUIET: Duration = Duration::from_secs(10);

const FLAGS: [&str; 7] = [
    "--input-format",
    "stream-json",
    "--output-format",
    "stream-json",
    "--verbose",
    "--permission-prompt-tool",
    "stdio",
];

/// Which CLI is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cli {
    /// The scripted one, playing a scenario.
    Scripted(&'static str),
    /// The real one, on a model that calls a tool for each of so many messages.
    Real(usize),
    /// The real one, on a model that starts five sub-agents, which all ask.
    RealWithFive,
}

impl Cli {
    /// What its model does, if it has one.
    fn script(self) -> String {
        match self {
            Self::Scripted(_) => String::new(),
            Self::Real(messages) => scenes::model(messages),
            Self::RealWithFive => scenes::five_sub_agents(),
        }
    }
}

/// A program that is built beside the tests.
pub(crate) fn program(name: &str) -> String {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().unwrap().parent().unwrap();
    let program = profile.join("examples").join(name);
    assert!(
        program.exists(),
        "{} is missing; `cargo build -p countersign-keeper --examples` builds it",
        program.display()
    );
    program.to_str().unwrap().to_owned()
}

/// A session and everything around it.
pub(crate) struct Stage {
    sandbox: Sandbox,
    /// What the CLI is started with, before the flags of the session.
    command: Vec<String>,
    env: Vec<(String, String)>,
    id: String,
    token: String,
    marker: String,
    habits: Value,
    cli: Cli,
    /// Serves the model as long as the stage is there.
    _model: Option<Model>,
}

struct Model {
    runtime: tokio::runtime::Runtime,
    server: Option<Server>,
}

impl Model {
    fn of(script: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let script = Script::parse(script).unwrap_or_else(|error| panic!("{error}"));
        let server = Server::start(script, Options::default());
        let server = runtime.block_on(server).unwrap();
        Self {
            runtime,
            server: Some(server),
        }
    }

    fn base_url(&self) -> String {
        self.server.as_ref().unwrap().base_url()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        let _guard = self.runtime.enter();
        self.server.take();
    }
}

impl Stage {
    /// A session that has not begun. `None` if the real CLI is not there and need not be.
    pub(crate) fn new(cli: Cli, dice: &mut Dice) -> Option<Self> {
        let sandbox = Sandbox::create(RunAs::Caller).unwrap();
        let mut model = None;
        let (command, env) = match cli {
            Cli::Scripted(scenario) => {
                // A mistake shows here, with its line, and not as a CLI that does not come up.
                if let Err(error) = Scenario::parse(scenario, "scenario") {
                    panic!("{error}");
                }
                std::fs::write(sandbox.root().join("scenario"), scenario).unwrap();
                scripted(&sandbox)
            }
            Cli::Real(_) | Cli::RealWithFive => {
                let installed = demand::cli("newest")?;
                let served = Model::of(&cli.script());
                let launch = Launch {
                    base_url: served.base_url(),
                    ..Launch::default()
                };
                model = Some(served);
                let spec = sandbox.spec(&installed, &launch).unwrap();
                let command = spec.command.into_iter().map(text).collect();
                let env = spec.env.into_iter();
                (
                    command,
                    env.map(|(name, value)| (text(name), text(value))).collect(),
                )
            }
        };
        Some(Self {
            sandbox,
            command,
            env,
            id: dice.uuid(),
            token: format!("{:016x}{:016x}", dice.next(), dice.next()),
            // Not drawn: two runs of one seed on one machine would end each other's processes.
            marker: uuid::Uuid::new_v4().simple().to_string(),
            habits: serde_json::json!({}),
            cli,
            _model: model,
        })
    }

    /// A session on the scripted CLI.
    pub(crate) fn scripted(scenario: &'static str, dice: &mut Dice) -> Self {
        Self::new(Cli::Scripted(scenario), dice).unwrap()
    }

    /// Its keepers have these habits.
    pub(crate) fn with_habits(mut self, habits: Value) -> Self {
        self.habits = habits;
        self
    }

    /// Its secret is this one.
    pub(crate) fn with_token(mut self, token: &str) -> Self {
        self.token = token.to_owned();
        self
    }

    /// So many messages for its agent, the same ones each time with the same dice.
    pub(crate) fn messages(&self, count: usize, dice: &mut Dice) -> Vec<Message> {
        let is_real = !matches!(self.cli, Cli::Scripted(_));
        let one = |index| Message {
            uuid: dice.uuid(),
            text: scenes::text_of(index, is_real),
        };
        (0..count).map(one).collect()
    }

    pub(crate) fn root(&self) -> &Path {
        self.sandbox.root()
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.sandbox.project()
    }

    /// The session's folder.
    pub(crate) fn dir(&self) -> PathBuf {
        self.root().join("session")
    }

    /// Its id, which is also that of the first conversation.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// The folder of its hosts.
    fn state(&self) -> PathBuf {
        self.root().join("host")
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// What its keepers are given: their habits, and the folder for whoever looks for them.
    pub(crate) fn keeper_env(&self) -> Vec<(String, String)> {
        vec![
            ("COUNTERSIGN_HABITS".into(), self.habits.to_string()),
            ("COUNTERSIGN_STAGE".into(), path_text(self.root())),
        ]
    }

    /// What a host is told of this session.
    pub(crate) fn task(&self, messages: &[Message]) -> Task {
        let log = self.root().join("witness/g{generation}");
        let mut command = vec![program("witness"), "--log".into(), path_text(&log)];
        command.push("--".into());
        command.extend(self.command.iter().cloned());
        command.extend(FLAGS.map(str::to_owned));
        Task {
            dir: self.dir(),
            run: self.root().join("run"),
            id: self.id.clone(),
            command,
            cwd: self.project(),
            env: self.env.clone(),
            token: self.token.clone(),
            marker: self.marker.clone(),
            messages: messages.to_vec(),
        }
    }

    /// Orders that say these messages, allow everything and leave when all is done.
    pub(crate) fn orders(&self, messages: &[Message]) -> Orders {
        Orders {
            state: self.state(),
            keeper: program("kept").into(),
            keeper_env: self.keeper_env(),
            sessions: vec![self.task(messages)],
            decide: Decide::Allow,
            die: None,
            leave: Leave::WhenDone,
            past_the_lock: false,
        }
    }

    /// The command that runs its keepers.
    pub(crate) fn keeper(&self) -> countersign_keeper::KeeperCommand {
        self.orders(&[]).keeper_command()
    }

    /// The order for its first agent.
    pub(crate) fn first_order(&self) -> countersign_keeper::Order {
        let begin = Begin::new(&self.id);
        self.task(&[]).order(1, &begin).unwrap()
    }

    /// Where the CLI keeps the conversation of that id.
    pub(crate) fn transcript(&self, id: &str) -> PathBuf {
        let project = path_text(&self.project());
        let folder = project.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
        let projects = self.sandbox.home().join(".claude/projects");
        projects.join(folder).join(format!("{id}.jsonl"))
    }

    /// Starts a host.
    pub(crate) fn host(&self, orders: &Orders) -> Host {
        Host::start("test_host", self.root(), orders)
    }

    /// Says one message more than `messages` and lets a host bring it to its end.
    pub(crate) fn finish(&self, messages: &[Message]) {
        let mut host = self.host(&self.orders(messages));
        host.until_left();
    }

    /// What a keeper says of itself, if one ever did.
    pub(crate) fn keeper_json(&self) -> Option<Value> {
        let text = std::fs::read(self.dir().join("keeper.json")).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// The pids that it names.
    pub(crate) fn pid_of(&self, who: &str) -> Option<u32> {
        u32::try_from(self.keeper_json()?[who].as_u64()?).ok()
    }

    /// Where its keeper listens.
    pub(crate) fn socket(&self) -> PathBuf {
        let json = self.keeper_json().expect("a keeper.json");
        json["socket"].as_str().expect("a socket").into()
    }

    /// The agent, as the journal names it, if it runs.
    pub(crate) fn agent(&self) -> Option<Process> {
        let spawned = self.journal().events("spawned").pop()?;
        let pid = u32::try_from(spawned["pid"].as_u64()?).ok()?;
        Process::of(pid).filter(|process| spawned["started"] == process.started)
    }

    pub(crate) fn journal(&self) -> Journal {
        Journal::read(&self.dir())
    }

    /// What the witness of a generation saw so far.
    pub(crate) fn witness(&self, generation: u32) -> Witness {
        Witness::read(&self.root().join("witness"), generation)
    }

    /// Everything that lies on the disk. The journal is read first: what the witness has, it may lack, never the
    /// other way round. What hosts were given is read before that.
    pub(crate) fn case(&self) -> Case {
        let hosts = self.heard_by_hosts();
        let journal = self.journal();
        let witnesses: BTreeMap<u32, Witness> = (self.witnessed().into_iter())
            .map(|generation| (generation, self.witness(generation)))
            .collect();
        Case {
            journal,
            witnesses,
            ran: self.ran(),
            hosts,
        }
    }

    /// The files in which hosts wrote down what their sessions gave them.
    fn heard_by_hosts(&self) -> Vec<Heard> {
        let Ok(files) = std::fs::read_dir(self.state()) else {
            return Vec::new();
        };
        let read = |path: PathBuf| {
            let name = path.file_name()?.to_str()?;
            let words: Vec<&str> = name.split('.').collect();
            let [session, generation, after, _, "heard"] = words.as_slice() else {
                return None;
            };
            (*session == self.id).then(|| Heard {
                generation: generation.parse().unwrap(),
                after: after.parse().unwrap(),
                lines: std::fs::read(&path).unwrap(),
            })
        };
        let files = files.flatten().map(|entry| entry.path());
        files.filter_map(read).collect()
    }

    /// The generations of which the witness knows, whatever the journal says.
    fn witnessed(&self) -> Vec<u32> {
        let Ok(folders) = std::fs::read_dir(self.root().join("witness")) else {
            return Vec::new();
        };
        let names = folders.flatten().map(|entry| entry.file_name());
        let numbers = names.filter_map(|name| name.to_str()?.strip_prefix('g')?.parse().ok());
        numbers.collect()
    }

    /// The marks that tools left.
    pub(crate) fn ran(&self) -> Vec<String> {
        let ran = std::fs::read_to_string(self.project().join("ran.log")).unwrap_or_default();
        ran.lines().map(str::to_owned).collect()
    }

    /// What is wrong once everything has come to rest.
    pub(crate) fn violations(&self, extent: Extent) -> Vec<Violation> {
        let mut last = Vec::new();
        let quiet = wait::within(QUIET, || {
            last = self.case().violations(extent);
            last.is_empty().then_some(())
        });
        match quiet {
            Some(()) => Vec::new(),
            None => last,
        }
    }

    /// # Panics
    /// When something is wrong.
    pub(crate) fn assert_kept(&self, extent: Extent, when: &str) {
        let wrong = self.violations(extent);
        assert!(
            wrong.is_empty(),
            "{when}:\n{}\n{}",
            lines(&wrong),
            self.story()
        );
    }

    /// Every process of it that runs, but for hosts.
    pub(crate) fn processes(&self) -> Vec<Process> {
        let mut all = procs::of_folder(self.root());
        all.retain(|process| !process.command.starts_with("test_host"));
        all
    }

    /// What lies on the disk of it, for a test that failed.
    pub(crate) fn story(&self) -> String {
        evidence::story(&self.dir())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        for process in procs::of_folder(self.root()) {
            procs::kill(process.pid);
        }
        if std::thread::panicking() && std::env::var_os("FAULTS_KEEP").is_some() {
            let kept = std::env::temp_dir().join(format!("faults-{}", self.id));
            let _ = std::fs::rename(self.root(), &kept);
            eprintln!("what lay there is kept in {}", kept.display());
        }
    }
}

/// One violation a line.
pub(crate) fn lines(wrong: &[Violation]) -> String {
    let lines: Vec<String> = wrong.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

type Launched = (Vec<String>, Vec<(String, String)>);

fn scripted(sandbox: &Sandbox) -> Launched {
    let places = Places::below(sandbox.root());
    let scenario = path_text(&sandbox.root().join("scenario"));
    let more = [("COUNTERSIGN_SCENARIO".to_owned(), scenario)];
    // No model is asked; the address is one that nobody listens on.
    let env = environment(&places, "/usr/bin:/bin".into(), "http://127.0.0.1:9", &more).unwrap();
    let env = env.into_iter();
    (
        vec![program("scripted_agent")],
        env.map(|(name, value)| (text(name), text(value))).collect(),
    )
}

fn text(value: std::ffi::OsString) -> String {
    value.into_string().unwrap()
}

fn path_text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}
