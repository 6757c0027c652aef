//! What was spent, told in four places: the same everywhere, whatever was looked at, restarted or made again in between.

use std::time::Instant;

use countersign_host::control::{Command, Control, Message, Period, SessionId, Shelf as _};
use countersign_host::store::{Durability, Store};
use countersign_journal::{Kind, Reader, Step};
use serde_json::Value;

use crate::stage::{DEADLINE, Stage};

/// Each turn makes thirty entries and more, so that a transcript soon has several blocks.
fn scenario() -> String {
    let reads = r#"  tool Read {"file_path":"readme.md"}"#;
    let reads = [reads; 30].join("\n");
    format!(
        "turn always\n  usage input=1000 output=50 cost=0.25\n{reads}\n  say \"Done: ${{prompt}}.\"\n"
    )
}

/// What the lines of a journal say.
#[derive(Debug, Default, PartialEq)]
struct Told {
    results: u64,
    calls: u64,
    cost: f64,
}

fn told(stage: &Stage, id: SessionId) -> Told {
    let dir = stage
        .settings
        .agents
        .data
        .join("sessions")
        .join(id.to_string());
    let mut reader = Reader::open(&dir).unwrap();
    let mut told = Told::default();
    loop {
        match reader.next().unwrap() {
            Step::Record(record) if record.kind == Kind::Agent => {
                let line: Value = serde_json::from_slice(record.payload).unwrap();
                if line["type"] == "result" {
                    told.results += 1;
                    // One process counts on and on.
                    told.cost = line["total_cost_usd"].as_f64().unwrap();
                }
                let blocks = line["message"]["content"].as_array();
                let calls = blocks.into_iter().flatten();
                told.calls += calls.filter(|it| it["type"] == "tool_use").count() as u64;
            }
            Step::End => return told,
            _ => {}
        }
    }
}

impl std::ops::AddAssign for Told {
    fn add_assign(&mut self, more: Self) {
        self.results += more.results;
        self.calls += more.calls;
        self.cost += more.cost;
    }
}

/// Waits until a session has counted so many turns.
async fn has_counted(stage: &Stage, id: SessionId, turns: u64, done: &[&str]) {
    let start = Instant::now();
    loop {
        let totals = stage.host().totals(id).await.unwrap();
        let view = stage.view(id).await;
        let is_idle = view.state.name() == "idle" && (view.cost_usd - totals.cost_usd).abs() < 1e-9;
        if totals.turns.succeeded == turns && is_idle {
            return;
        }
        assert!(
            start.elapsed() < DEADLINE,
            "{done:?}: {totals:#?}\n{view:#?}"
        );
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

/// What the host says once its sessions have counted so many turns each, in all places where it says it: the same.
async fn counted(stage: &Stage, sessions: &[(SessionId, u64)], done: &[&str]) {
    for (id, turns) in sessions {
        has_counted(stage, *id, *turns, done).await;
    }
    let usage = stage.host().usage(0).await.unwrap();
    let (mut journals, mut own, mut input) = (Told::default(), Told::default(), 0);
    for (id, _) in sessions {
        journals += told(stage, *id);
        let totals = stage.host().totals(*id).await.unwrap();
        own += Told {
            results: totals.turns.succeeded,
            calls: totals.tools.values().map(|tool| tool.calls).sum(),
            cost: stage.view(*id).await.cost_usd,
        };
        input += totals.tokens.input;
    }
    let period = Period {
        since: 0,
        until: None,
        offset: 0,
    };
    let insights = stage.host().insights(period).await.unwrap();
    let turns = usage.days.iter().map(|day| day.turns).sum();
    let all = [
        ("journals", journals),
        (
            "usage",
            Told {
                results: turns,
                calls: insights.acts.calls,
                cost: usage.cost_usd,
            },
        ),
        ("sessions", own),
    ];
    let is_same = all.windows(2).all(|pair| {
        let (one, other) = (&pair[0].1, &pair[1].1);
        one.results == other.results
            && one.calls == other.calls
            && (one.cost - other.cost).abs() < 1e-6
    });
    assert!(is_same, "after {done:?}: {all:#?}");
    let sent: u64 = usage.days.iter().map(|day| day.input_tokens).sum();
    assert_eq!(sent, input, "after {done:?}");
}

/// The next number of a row that is the same each time.
fn next(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

async fn read_all(stage: &Stage, id: SessionId) {
    let mut before = None;
    loop {
        let page = stage.host().transcript(id, before, 40).await.unwrap();
        before = page.items.first().map(|entry| entry.id);
        if !page.more {
            return;
        }
    }
}

/// Changes the database while no host runs.
async fn behind_its_back(stage: &mut Stage, sql: &'static str) {
    stage.close().await;
    let store = Store::open(&stage.settings.agents.data.join("host.db")).unwrap();
    let job = move |it: &countersign_host::store::Connection| Ok(it.execute_batch(sql)?);
    store.write(Durability::Full, job).await.unwrap();
    drop(store);
    stage.open().await;
}

async fn send(stage: &Stage, session: SessionId, text: String) {
    let message = Message::text(text);
    stage.execute(Command::Send { session, message }).await;
}

async fn acts(seed: u64, count: usize) {
    let mut stage = Stage::new(&scenario()).await;
    std::fs::write(stage.project().join("readme.md"), "hello").unwrap();
    let mut sessions = Vec::new();
    for name in ["one", "two", "three"] {
        sessions.push((stage.start(name).await, 1));
    }
    let (mut seed, mut done) = (seed, vec!["turn"]);
    counted(&stage, &sessions, &done).await;
    for _ in 0..count {
        let act = [
            "turn",
            "turn",
            "open",
            "page",
            "restart",
            "reindex",
            "lost",
            "unreadable",
        ][(next(&mut seed) % 8) as usize];
        done.push(act);
        let at = (next(&mut seed) % sessions.len() as u64) as usize;
        let (id, turns) = sessions[at];
        match act {
            "turn" => {
                sessions[at].1 += 1;
                send(&stage, id, format!("turn {}", turns + 1)).await;
            }
            "open" => drop(stage.host().transcript(id, None, 100).await.unwrap()),
            "page" => read_all(&stage, id).await,
            "restart" => stage.restart().await,
            "reindex" => {
                stage.close().await;
                let data = stage.settings.agents.data.clone();
                let made = move || countersign_host::reindex(&data, |_, _| {}).unwrap();
                let made = tokio::task::spawn_blocking(made).await.unwrap();
                assert!(made.unreadable.is_empty(), "{made:?}");
                stage.open().await;
            }
            "lost" => behind_its_back(&mut stage, "DELETE FROM indexed; DELETE FROM shelf").await,
            _ => {
                let sql =
                    "UPDATE indexed SET checkpoint = x'7b7d'; UPDATE shelf SET value = x'7b7d'";
                behind_its_back(&mut stage, sql).await;
            }
        }
        counted(&stage, &sessions, &done).await;
    }
    // Whatever came before: one more look and one more turn of each.
    for (id, turns) in &mut sessions {
        read_all(&stage, *id).await;
        send(&stage, *id, "the last one".to_owned()).await;
        *turns += 1;
    }
    counted(&stage, &sessions, &done).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn session_usage_insights_and_journal_agree_whatever_was_done_in_between() {
    acts(0x9E37_79B9_7F4A_7C15, 10).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn they_agree_in_another_order_too() {
    acts(0x2545_F491_4F6C_DD1D, 10).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_look_at_a_long_transcript_and_one_more_turn_do_not_count_it_again() {
    let stage = Stage::new(&scenario()).await;
    std::fs::write(stage.project().join("readme.md"), "hello").unwrap();
    let id = stage.start("turn 1").await;
    for turn in 1..6 {
        counted(&stage, &[(id, turn)], &["turn"]).await;
        read_all(&stage, id).await;
        send(&stage, id, "one more".to_owned()).await;
    }
    counted(&stage, &[(id, 6)], &["look and turn"]).await;
}

/// As a database stood that an earlier build had: the two writers under one name, and all of it counted once more.
const DOUBLED: &str = "
    DROP TABLE indexed;
    ALTER TABLE approvals DROP COLUMN file;
    PRAGMA user_version = 3;
    INSERT OR REPLACE INTO shelf (session, name, value) SELECT id, 'index', CAST('{\"checkpoint\":{}}' AS BLOB) FROM sessions;
    UPDATE usage SET cost_usd = 2 * cost_usd, turns = 2 * turns, input_tokens = 2 * input_tokens,
        output_tokens = 2 * output_tokens;";

#[tokio::test(flavor = "multi_thread")]
async fn usage_that_an_earlier_build_has_doubled_is_counted_again_from_the_journal() {
    let mut stage = Stage::new(&scenario()).await;
    std::fs::write(stage.project().join("readme.md"), "hello").unwrap();
    let id = stage.start("turn 1").await;
    counted(&stage, &[(id, 1)], &["turn"]).await;
    let cost = told(&stage, id).cost;
    for is_stopped in [false, true] {
        if is_stopped {
            stage.execute(Command::Stop { session: id }).await;
            stage.until(id, "stopped").await;
        }
        stage.close().await;
        // What is below is no migration: it is what one finds.
        let file = stage.settings.agents.data.join("host.db");
        let store = Store::open(&file).unwrap();
        let job = |it: &countersign_host::store::Connection| Ok(it.execute_batch(DOUBLED)?);
        store.write(Durability::Full, job).await.unwrap();
        drop(store);
        stage.open().await;
        let start = Instant::now();
        loop {
            let usage = stage.host().usage(0).await.unwrap();
            if (usage.cost_usd - cost).abs() < 1e-9 && usage.days[0].turns == 1 {
                break;
            }
            assert!(
                start.elapsed() < DEADLINE,
                "stopped: {is_stopped}, {usage:?}"
            );
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    }
}
