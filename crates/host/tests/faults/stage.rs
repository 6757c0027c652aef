//! One session of a test: its folders, its CLI behind the witness, its hosts, and what lies on the disk afterwards.
//!
//! Owns [`Stage`]. Every process of a stage carries the folder of the stage in its environment or its command line, so
//! that what is left of it can be looked up. Invariants: the CLI sees nothing of the caller; when a stage is dropped
//! none of its processes runs.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use countersign_host::control::{Command, Message, MessageId, NewSession, SessionId};
use countersign_rehearsal::cli::Scenario;
use countersign_rehearsal::model::{Options, Script, Server};
use countersign_rehearsal::real::{Places, environment};
use countersign_testkit::demand;
use countersign_testkit::sandbox::{Launch, RunAs, Sandbox};
use serde_json::{Value, json};

use crate::accounts::{self, Account, Died, Wrong};
use crate::checks::{Case, Extent};
use crate::evidence::{self, Journal, Witness};
use crate::hosted::{Hosted, program};
use crate::orders::{Leave, Ordered, Orders, Person};
use crate::procs::{self, Process};
use crate::scenes;
use crate::wait::{self, Dice};

/// How long what the agent wrote last may take to the journal.
const QUIET: Duration = Duration::from_secs(10);

/// Which CLI is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cli {
    /// The scripted one, playing a scenario.
    Scripted(&'static str),
    /// The real one, on a model that calls tools for each of so many messages.
    Real(usize),
}

/// A session and everything around it.
pub(crate) struct Stage {
    sandbox: Sandbox,
    claude: Vec<String>,
    env: Vec<(String, String)>,
    session: SessionId,
    habits: Value,
    cli: Cli,
    /// Every receipt that any host told of, by its key.
    receipts: RefCell<Vec<(String, Value)>>,
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
        let server = Some(runtime.block_on(server).unwrap());
        Self { runtime, server }
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
            Cli::Real(messages) => {
                let installed = demand::cli("newest")?;
                let served = Model::of(&scenes::model(messages));
                let launch = Launch {
                    base_url: served.server.as_ref().unwrap().base_url(),
                    ..Launch::default()
                };
                model = Some(served);
                let spec = sandbox.spec(&installed, &launch).unwrap();
                let command = spec.command.into_iter().map(text).collect();
                (command, texts(spec.env))
            }
        };
        let echo = sandbox.project().join("echo");
        std::fs::write(&echo, scenes::ECHO).unwrap();
        std::fs::set_permissions(&echo, std::fs::Permissions::from_mode(0o755)).unwrap();
        let log = path_text(&sandbox.root().join("witness"));
        let mut claude = vec![program("hosted"), "agent".into(), "--log".into(), log];
        claude.push("--".into());
        claude.extend::<Vec<String>>(command);
        Some(Self {
            sandbox,
            claude,
            env,
            session: SessionId::new(now(), u128::from(dice.next())),
            habits: json!({}),
            cli,
            receipts: RefCell::default(),
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

    /// The commands that say so many messages, the first one by the start of the session.
    pub(crate) fn messages(&self, count: usize, dice: &mut Dice) -> Vec<Ordered> {
        let is_real = matches!(self.cli, Cli::Real(_));
        let one = |index| {
            let message = self.message(&scenes::text_of(index, is_real), dice);
            let command = match index {
                0 => Command::Start(Box::new(NewSession {
                    id: self.session,
                    prompt: Some(message),
                    cwd: self.project(),
                    setup: Default::default(),
                    worktree: None,
                })),
                _ => Command::Send {
                    session: self.session,
                    message,
                },
            };
            Ordered {
                key: format!("message {index}"),
                command,
            }
        };
        (0..count).map(one).collect()
    }

    /// The command that says this, behind whatever waits.
    pub(crate) fn send(&self, text: &str, dice: &mut Dice) -> Ordered {
        Ordered {
            key: format!("send {text}"),
            command: Command::Send {
                session: self.session,
                message: self.message(text, dice),
            },
        }
    }

    fn message(&self, text: &str, dice: &mut Dice) -> Message {
        Message {
            id: MessageId::new(now(), u128::from(dice.next())),
            text: text.to_owned(),
            blocks: Vec::new(),
        }
    }

    /// The command that takes the session up again.
    pub(crate) fn resume(&self, key: &str, dice: &mut Dice) -> Ordered {
        let message = Some(self.message("Go on.", dice));
        let session = self.session;
        self.order(key, Command::Resume { session, message })
    }

    /// A command under a key.
    pub(crate) fn order(&self, key: &str, command: Command) -> Ordered {
        Ordered {
            key: key.to_owned(),
            command,
        }
    }

    pub(crate) fn root(&self) -> &Path {
        self.sandbox.root()
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.sandbox.project()
    }

    /// The folder of its hosts.
    pub(crate) fn data(&self) -> PathBuf {
        self.root().join("data")
    }

    /// The session's folder.
    pub(crate) fn dir(&self) -> PathBuf {
        self.data().join("sessions").join(self.session.to_string())
    }

    pub(crate) fn id(&self) -> SessionId {
        self.session
    }

    /// Orders that have these done, decide everything and leave when all is at rest.
    pub(crate) fn orders(&self, commands: &[Ordered]) -> Orders {
        Orders {
            data: self.data(),
            keeper: program("hosted_kept").into(),
            keeper_env: vec![
                ("COUNTERSIGN_HABITS".into(), self.habits.to_string()),
                ("COUNTERSIGN_STAGE".into(), path_text(self.root())),
            ],
            claude: self.claude.clone(),
            env: self.env.clone(),
            session: self.session,
            commands: commands.to_vec(),
            awaited: accounts::wanted(commands).map(|it| it.uuid).collect(),
            person: Person::Decides,
            leave: Leave::AtRest,
            die: None,
            fault: None,
            pauses: Vec::new(),
            // Those of every keeper that is not told otherwise.
            graces_ms: [2_000, 5_000, 2_000],
            resumes_cut_off: false,
        }
    }

    /// Starts a host.
    pub(crate) fn host(&self, orders: &Orders) -> Hosted {
        Hosted::start(self.root(), orders)
    }

    /// Notes what a host that has ended told of receipts.
    pub(crate) fn note(&self, host: &Hosted) {
        let told = host.told().into_iter();
        let told = told.filter(|told| !told["key"].is_null() && told["error"].is_null());
        let receipts = told.map(|told| {
            let key = told["key"].as_str().unwrap_or_default().to_owned();
            (key, told["receipt"].clone())
        });
        self.receipts.borrow_mut().extend(receipts);
    }

    /// The commands that no host has given a receipt for.
    pub(crate) fn not_acknowledged(&self, commands: &[Ordered]) -> Vec<Ordered> {
        let receipts = self.receipts.borrow();
        let is_known = |ordered: &&Ordered| !receipts.iter().any(|(key, _)| *key == ordered.key);
        commands.iter().filter(is_known).cloned().collect()
    }

    /// The pids that the keeper names.
    pub(crate) fn pid_of(&self, who: &str) -> Option<u32> {
        let text = std::fs::read(self.dir().join("keeper.json")).ok()?;
        let json: Value = serde_json::from_slice(&text).ok()?;
        u32::try_from(json[who].as_u64()?).ok()
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

    /// Everything that lies on the disk of the session. The journal is read first: what the witness has, it may lack,
    /// never the other way round.
    pub(crate) fn case(&self) -> Case {
        let journal = self.journal();
        let folder = self.root().join("witness");
        let names = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let generations = names.filter_map(|entry| {
            let name = entry.file_name();
            name.to_str()?.strip_prefix('g')?.parse().ok()
        });
        let witnesses: BTreeMap<u32, Witness> = generations
            .map(|generation| (generation, Witness::read(&folder, generation)))
            .collect();
        Case {
            journal,
            witnesses,
            ran: self.ran(),
            hosts: Vec::new(),
        }
    }

    /// The marks that tools left.
    pub(crate) fn ran(&self) -> Vec<String> {
        let ran = std::fs::read_to_string(self.project().join("ran.log")).unwrap_or_default();
        ran.lines().map(str::to_owned).collect()
    }

    /// What is wrong with what lies on the disk, once everything has come to rest, and with what a host told of it.
    pub(crate) fn wrong(&self, commands: &[Ordered], report: &Value, died: Died) -> Vec<Wrong> {
        let mut last = Vec::new();
        wait::within(QUIET, || {
            let case = self.case();
            let of_case = case.violations(Extent::Whole).into_iter();
            last = of_case
                .map(|it| Wrong::of(format!("{:?}", it.promise), it.what))
                .collect();
            last.is_empty().then_some(())
        });
        let chain = crate::chain::violations(&self.dir()).into_iter();
        last.extend(chain.map(|it| Wrong::of("Chain", it.what)));
        let account = Account {
            commands: commands.to_vec(),
            receipts: self.receipts.borrow().clone(),
            report: report.clone(),
        };
        last.extend(account.wrong(&self.case(), died));
        last
    }

    /// What is wrong with the approvals of a report alone.
    pub(crate) fn wrong_rows(&self, report: &Value) -> Vec<Wrong> {
        let account = Account {
            report: report.clone(),
            ..Account::default()
        };
        account.rows(&self.case())
    }

    /// # Panics
    /// When something is wrong.
    pub(crate) fn assert_kept(&self, commands: &[Ordered], report: &Value, died: Died, when: &str) {
        let wrong = self.wrong(commands, report, died);
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
        all.retain(|process| process.command != "hosted");
        all
    }

    /// What lies on the disk of it, for a test that failed.
    pub(crate) fn story(&self) -> String {
        let log = std::fs::read_to_string(self.root().join("host.log")).unwrap_or_default();
        format!("hosts:\n{log}\n{}", evidence::story(&self.dir()))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        for process in procs::of_folder(self.root()) {
            procs::kill(process.pid);
        }
        if std::thread::panicking() && std::env::var_os("FAULTS_KEEP").is_some() {
            let kept = std::env::temp_dir().join(format!("faults-{}", self.session));
            let _ = std::fs::rename(self.root(), &kept);
            eprintln!("what lay there is kept in {}", kept.display());
        }
    }
}

/// One a line.
pub(crate) fn lines(wrong: &[Wrong]) -> String {
    let lines: Vec<String> = wrong.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

fn scripted(sandbox: &Sandbox) -> (Vec<String>, Vec<(String, String)>) {
    let places = Places::below(sandbox.root());
    let scenario = path_text(&sandbox.root().join("scenario"));
    let more = [("COUNTERSIGN_SCENARIO".to_owned(), scenario)];
    // No model is asked; the address is one that nobody listens on.
    let env = environment(&places, "/usr/bin:/bin".into(), "http://127.0.0.1:9", &more).unwrap();
    (vec![program("hosted_agent")], texts(env))
}

fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    now.as_micros() as u64
}

fn text(value: std::ffi::OsString) -> String {
    value.into_string().unwrap()
}

fn texts(env: Vec<(std::ffi::OsString, std::ffi::OsString)>) -> Vec<(String, String)> {
    let env = env.into_iter();
    env.map(|(name, value)| (text(name), text(value))).collect()
}

fn path_text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}
