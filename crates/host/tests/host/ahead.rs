//! Transcripts are ready before anybody opens them.

use std::time::{Duration, Instant};

use countersign_host::control::{Command, Control, SessionId};
use countersign_host::store::Store;
use countersign_host::store::shelf::StoredShelf;
use countersign_journal::{Cursor, Reader, Step};
use countersign_transcript::pages::{Every, Pages};

use crate::stage::{DEADLINE, Stage};

/// More than a whole page may fold, in one turn that does not end.
const FLOOD: &str = r#"
turn always
  flood 40000
  tool Bash {"command":"echo done >> ran.log","description":"Leave a mark"}
  say "Done."
"#;

/// What whoever opens the transcript folds at most: what was not noted yet, what came meanwhile, and a block.
const MOST: u64 = 3 * 2048;

fn end_of(stage: &Stage, id: SessionId) -> Cursor {
    let dir = stage
        .settings
        .agents
        .data
        .join("sessions")
        .join(id.to_string());
    let mut reader = Reader::open(&dir).unwrap();
    while !matches!(reader.next().unwrap(), Step::End) {}
    reader.cursor()
}

/// How many records lie behind the last checkpoint, once they are as few as that.
async fn until_ready(stage: &Stage, id: SessionId, end: Cursor) {
    let start = Instant::now();
    let file = stage.settings.agents.data.join("host.db");
    loop {
        let file = file.clone();
        let reached = tokio::task::spawn_blocking(move || {
            let shelf = StoredShelf::new(Store::open(&file).unwrap(), id);
            Pages::open(shelf, Every::default()).unwrap().cursor()
        });
        let behind = end.seq - reached.await.unwrap().seq;
        if behind <= MOST {
            return;
        }
        assert!(
            start.elapsed() < DEADLINE,
            "{behind} records are not folded"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transcript_that_nobody_has_opened_is_folded_while_its_agent_writes() {
    let mut stage = Stage::new(FLOOD).await;
    let id = stage.start("go").await;
    stage.open_approvals(id, 1).await;
    let end = end_of(&stage, id);
    assert!(end.seq > 40_000, "{end}");
    until_ready(&stage, id, end).await;
    let page = stage.host().transcript(id, None, 100).await.unwrap();
    assert_eq!(page.cursor, end.to_string());

    // What was lost, as after an update that folds differently, is made again by the next host.
    stage.close().await;
    let store = Store::open(&stage.settings.agents.data.join("host.db")).unwrap();
    let lost = move |it: &countersign_host::store::Connection| {
        countersign_host::store::shelf::clear(it, id)
    };
    let durability = countersign_host::store::Durability::Full;
    store.write(durability, lost).await.unwrap();
    drop(store);
    stage.open().await;
    until_ready(&stage, id, end).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transcript_that_has_no_checkpoints_is_folded_by_the_next_host_though_its_agent_has_ended()
 {
    let mut stage = Stage::new(FLOOD).await;
    let id = stage.start("go").await;
    stage.open_approvals(id, 1).await;
    stage.execute(Command::ForceEnd { session: id }).await;
    stage.until(id, "stopped").await;
    stage.close().await;
    let end = end_of(&stage, id);
    let store = Store::open(&stage.settings.agents.data.join("host.db")).unwrap();
    let lost = move |it: &countersign_host::store::Connection| {
        countersign_host::store::shelf::clear(it, id)
    };
    let durability = countersign_host::store::Durability::Full;
    store.write(durability, lost).await.unwrap();
    drop(store);
    stage.open().await;
    until_ready(&stage, id, end).await;
    assert_eq!(stage.view(id).await.state.name(), "stopped");
}
