//! A recording as a connection: every line comes, however slowly it is read.

use countersign_client::{Claude, Event, Peer};

#[tokio::test]
async fn no_line_of_a_recording_is_lost_to_a_slow_listener() {
    const LINES: usize = 20_000;
    let line = format!(
        "{{\"type\":\"tomorrow\",\"text\":\"{}\"}}\n",
        "x".repeat(200)
    );
    let recording = line.repeat(LINES).into_bytes();
    let claude = Claude::new().bounds(|bounds| bounds.queue_bytes = 64 << 10);
    let mut session = claude.attach(Peer::replay(recording));
    let mut count = 0;
    while let Some(event) = session.events.next().await {
        match event {
            Event::Message(_) => {
                count += 1;
                // Others get their turn, the reader first of all.
                tokio::task::yield_now().await;
            }
            Event::Closed(_) => break,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(count, LINES);
}
