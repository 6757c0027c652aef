//! Who waits for whom: events of one session for each other, and nobody else for anybody.

use crate::server::{Act, Received, Server};
use crate::stage::{Stage, failed, finished, webhook};

#[tokio::test]
async fn events_of_one_session_arrive_in_order_although_the_first_is_tried_again() {
    let acts = [Act::Status(500), Act::Status(500)];
    let server = Server::start(acts).await;
    let stage = Stage::new(vec![webhook("one", &server.url())]);
    for at in 1..=5 {
        stage.notifier.tell(&failed(1, at));
    }
    stage.quiet().await;
    let at: Vec<u64> = server.received().iter().map(Received::at).collect();
    assert_eq!(at, [1, 1, 1, 2, 3, 4, 5]);
}

#[tokio::test]
async fn a_session_that_is_tried_again_does_not_hold_up_another() {
    let acts = [Act::Status(500), Act::Status(200), Act::Status(200)];
    let server = Server::start(acts).await;
    let stage = Stage::new(vec![webhook("one", &server.url())]);
    stage.notifier.tell(&failed(1, 1));
    stage.notifier.tell(&failed(1, 2));
    stage.notifier.tell(&finished(2, 3));
    stage.quiet().await;
    let at: Vec<u64> = server.received().iter().map(Received::at).collect();
    assert_eq!(at, [1, 3, 1, 2]);
}

#[tokio::test]
async fn a_target_that_does_not_answer_delays_no_other() {
    let slow = Server::start(vec![Act::Hold; 20]).await;
    let quick = Server::start([]).await;
    let stage = Stage::new(vec![
        webhook("slow", &slow.url()),
        webhook("quick", &quick.url()),
    ]);
    for at in 1..=20 {
        stage.notifier.tell(&failed(u128::from(at % 3), at));
    }
    quick.wait_for(20).await;
    assert_eq!(slow.received().len(), 1, "one at a time");
    assert_eq!(stage.notifier.open(), 20);
    slow.release();
    slow.wait_for(20).await;
    stage.quiet().await;
}
