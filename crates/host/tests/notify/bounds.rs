//! What happens when a target does not keep up, and when the host ends.

use std::time::Duration;

use countersign_host::notify::{Left, Said, Schedule, Targets};

use crate::server::{Act, Server};
use crate::stage::{QUICK, Stage, failed, finished, outside, webhook};

#[tokio::test]
async fn a_full_queue_merges_and_every_event_is_accounted_for() {
    let server = Server::start([Act::Hold]).await;
    let targets = Targets::new(vec![webhook("one", &server.url())], QUICK).unwrap();
    let stage = Stage::with(targets.bound(4), outside());
    stage.notifier.tell(&failed(0, 1));
    server.wait_for(1).await;
    for at in 2..=30 {
        let session = u128::from(at);
        let event = if at % 2 == 0 {
            failed(session, at)
        } else {
            finished(session, at)
        };
        stage.notifier.tell(&event);
    }
    assert_eq!(stage.notifier.open(), 5);
    server.release();
    stage.quiet().await;
    let received = server.received();
    assert_eq!(received.len(), 5);
    let merged: u64 = received
        .iter()
        .map(|one| one.json()["merged"]["events"].as_u64().unwrap_or(0))
        .sum();
    assert_eq!(merged + 5, 30);
    // The newest of each kind are those that were kept.
    assert_eq!(received.iter().map(|one| one.at()).max(), Some(30));
    // Said at 1, 2, 4, 8, 16 of them, not 25 times.
    let so_far: Vec<u64> = stage
        .said()
        .into_iter()
        .filter_map(|said| match said {
            Said::Merged { so_far, .. } => Some(so_far),
            Said::GaveUp { .. } => None,
        })
        .collect();
    assert_eq!(so_far, [1, 2, 4, 8, 16]);
}

#[tokio::test]
async fn telling_does_not_wait_for_anybody() {
    let server = Server::start([Act::Hold]).await;
    let stage = Stage::new(vec![webhook("one", &server.url())]);
    let begun = std::time::Instant::now();
    for at in 1..=10_000 {
        stage.notifier.tell(&failed(1, at));
    }
    // The runtime has one thread and this test holds it: nothing was sent meanwhile, and nothing was waited for.
    assert!(stage.notifier.open() <= Targets::BOUND + 1);
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[tokio::test]
async fn closing_tells_what_can_be_told_and_counts_the_rest() {
    let good = Server::start([]).await;
    let bad = Server::start([Act::Status(500)]).await;
    let late = Schedule {
        first: 60_000_000,
        most: 60_000_000,
        tries: 5,
    };
    let targets = vec![webhook("good", &good.url()), webhook("bad", &bad.url())];
    let stage = Stage::with(Targets::new(targets, late).unwrap(), outside());
    for at in 1..=10 {
        stage.notifier.tell(&failed(1, at));
    }
    bad.wait_for(1).await;
    let left = stage.notifier.close(Duration::from_secs(60)).await;
    assert_eq!(good.received().len(), 10);
    assert_eq!(bad.received().len(), 1);
    assert_eq!(left, Left { jobs: 10 });
}

#[tokio::test]
async fn closing_does_not_wait_longer_than_it_is_told() {
    let server = Server::start([Act::Hold]).await;
    let stage = Stage::new(vec![webhook("one", &server.url())]);
    stage.notifier.tell(&failed(1, 1));
    server.wait_for(1).await;
    let begun = std::time::Instant::now();
    let left = stage.notifier.close(Duration::from_millis(100)).await;
    assert_eq!(left, Left { jobs: 1 });
    assert!(begun.elapsed() < Duration::from_secs(30));
}
