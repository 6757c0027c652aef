//! What the real CLI counts over a resume and a fork, and what the host makes of it.
//!
//! Every turn costs the same here, so that each sum says how many turns it holds.

use std::time::Duration;

use countersign_client::{Claude, TurnResult};
use countersign_host::money;
use countersign_journal::{KeeperEvent, Kind, Record};
use countersign_rehearsal::model::{Options, Script, Server};
use countersign_testkit::demand;
use countersign_testkit::fetch::Installed;
use countersign_testkit::sandbox::{Launch, RunAs, Sandbox};
use countersign_transcript::Fold;

const PARENT: &str = "6f1c2a9e-8a52-4c9b-9a57-2a8f0c1d3e4b";
const FORK: &str = "6f1c2a9e-8a52-4c9b-9a57-2a8f0c1d3e4c";

const TALK: &str = "reply always\n  usage input=1000 output=500\n  say \"Well.\"\n";

struct Ground {
    installed: Installed,
    sandbox: Sandbox,
    model: Server,
}

impl Ground {
    async fn new(version: &'static str) -> Option<Self> {
        let installed = demand::cli(version)?;
        let sandbox = Sandbox::create(RunAs::Caller).unwrap();
        let script = Script::parse(TALK).unwrap();
        let model = Server::start(script, Options::default()).await.unwrap();
        Some(Self {
            installed,
            sandbox,
            model,
        })
    }

    fn claude(&self) -> Claude {
        let launch = Launch {
            base_url: self.model.base_url(),
            ..Launch::default()
        };
        let spec = self.sandbox.spec(&self.installed, &launch).unwrap();
        let claude = Claude::new().cli(spec.command).cwd(spec.cwd).env_clear();
        spec.env
            .into_iter()
            .fold(claude, |claude, (name, value)| claude.env(name, value))
    }

    /// The results of so many turns in one process.
    async fn run(&self, claude: Claude, turns: usize) -> Vec<TurnResult> {
        let running = async {
            let session = claude.connect().await.unwrap();
            let mut results = Vec::new();
            for _ in 0..turns {
                results.push(session.send("heron").await.unwrap().await.unwrap());
            }
            session.close().await;
            results
        };
        let waited = tokio::time::timeout(Duration::from_secs(120), running).await;
        waited.expect("the turns to end")
    }
}

/// One session's journal, as far as money depends on it.
struct Account {
    version: &'static str,
    fold: Fold,
    seq: u64,
    generation: u32,
    rows: f64,
}

impl Account {
    fn new(version: &'static str) -> Self {
        Self {
            version,
            fold: Fold::new(),
            seq: 0,
            generation: 0,
            rows: 0.0,
        }
    }

    fn put(&mut self, kind: Kind, payload: &[u8]) {
        self.seq += 1;
        let record = Record {
            seq: self.seq,
            at: 1_769_860_800_000_000,
            kind,
            payload,
        };
        let before = self.fold.totals().clone();
        self.fold.step(self.generation, &record);
        let rows = money::rows(&before, self.fold.totals(), record.at);
        self.rows += rows.iter().map(|row| row.cost_usd).sum::<f64>();
    }

    /// A process began with these flags and gave these results: what the session has cost by now.
    fn process(&mut self, flags: &[&str], results: &[TurnResult]) -> f64 {
        self.generation += 1;
        let opened = KeeperEvent::Open {
            generation: self.generation,
            boot_id: "b".to_owned(),
            build: "test".to_owned(),
            proto: 1,
            argv: flags.iter().map(|flag| (*flag).to_owned()).collect(),
            cwd: "/project".to_owned(),
            env: Vec::new(),
            last_n: 0,
            epoch: 0,
        };
        self.put(Kind::Keeper, &serde_json::to_vec(&opened).unwrap());
        let init = format!(
            r#"{{"type":"system","subtype":"init","claude_code_version":"{}"}}"#,
            self.version
        );
        self.put(Kind::Agent, init.as_bytes());
        for result in results {
            self.put(Kind::Agent, result.line());
        }
        self.rows
    }
}

#[track_caller]
fn assert_turns(cost: f64, turns: f64, one: f64) {
    // 2.0.75 asks a small model beside the first turn of a process.
    assert!(
        (cost - turns * one).abs() < one * 0.1,
        "{cost} is not {turns} × {one}"
    );
}

async fn a_turn_is_counted_once_over_resume_and_fork(version: &'static str, goes_on: bool) {
    let Some(ground) = Ground::new(version).await else {
        return;
    };
    let account = || Account::new(ground.installed.pinned.version);
    let (mut parent, mut fork) = (account(), account());
    let first = ground.run(ground.claude().session_id(PARENT), 2).await;
    let one = first[0].total_cost_usd().unwrap();
    assert_turns(parent.process(&["--session-id", PARENT], &first), 2.0, one);

    let resumed = ground.run(ground.claude().resume(PARENT), 1).await;
    let told = resumed[0].total_cost_usd().unwrap();
    assert_turns(told, if goes_on { 3.0 } else { 1.0 }, one);
    assert_turns(parent.process(&["--resume", PARENT], &resumed), 3.0, one);

    let claude = ground
        .claude()
        .resume(PARENT)
        .fork_session(true)
        .session_id(FORK);
    let forked = ground.run(claude, 2).await;
    let told = forked[0].total_cost_usd().unwrap();
    assert_turns(told, if goes_on { 4.0 } else { 1.0 }, one);
    let flags = ["--resume", PARENT, "--fork-session", "--session-id", FORK];
    assert_turns(fork.process(&flags, &forked), 2.0, one);

    let resumed = ground.run(ground.claude().resume(FORK), 1).await;
    assert_turns(fork.process(&["--resume", FORK], &resumed), 3.0, one);
    assert_turns(parent.rows, 3.0, one);
}

/// The CLI's own limit is for what its process spends, whatever was spent before.
async fn its_own_limit_is_one_of_the_process(version: &'static str) {
    let Some(ground) = Ground::new(version).await else {
        return;
    };
    let first = ground.run(ground.claude().session_id(PARENT), 3).await;
    let one = first[0].total_cost_usd().unwrap();
    let limited = ground.claude().resume(PARENT).max_budget_usd(one * 2.5);
    let results = ground.run(limited, 4).await;
    let ends: Vec<&str> = results.iter().map(TurnResult::subtype).collect();
    assert_eq!(ends[..2], ["success"; 2], "{ends:?}");
    assert_eq!(ends[3], "error_max_budget_usd", "{ends:?}");
}

#[tokio::test]
async fn a_turn_of_the_newest_is_counted_once_over_resume_and_fork() {
    a_turn_is_counted_once_over_resume_and_fork("newest", true).await;
}

#[tokio::test]
async fn a_turn_of_2_1_62_is_counted_once_over_resume_and_fork() {
    a_turn_is_counted_once_over_resume_and_fork("2.1.62", false).await;
}

#[tokio::test]
async fn a_turn_of_2_0_75_is_counted_once_over_resume_and_fork() {
    a_turn_is_counted_once_over_resume_and_fork("2.0.75", false).await;
}

#[tokio::test]
async fn the_limit_of_the_newest_is_one_of_its_process() {
    its_own_limit_is_one_of_the_process("newest").await;
}

#[tokio::test]
async fn the_limit_of_2_1_62_is_one_of_its_process() {
    its_own_limit_is_one_of_the_process("2.1.62").await;
}

#[tokio::test]
async fn the_limit_of_2_0_75_is_one_of_its_process() {
    its_own_limit_is_one_of_the_process("2.0.75").await;
}
