//! The tour, chapter by chapter: allowed, denied, and in plan mode.

use super::host::{Decide, Host, Turn, allow, deny, files, read};

const CHAPTERS: usize = 8;

async fn chapters(host: &mut Host, decide: Decide) -> Vec<Turn> {
    let mut turns = Vec::new();
    for number in 1..=CHAPTERS {
        let turn = host.turn(&format!("message {number}"), decide).await;
        assert!(turn.is_success(), "chapter {number}: {}", turn.result());
        turns.push(turn);
    }
    turns
}

#[tokio::test(start_paused = true)]
async fn the_tour_shows_everything_to_somebody_who_allows_everything() {
    let mut host = Host::start("tour");
    let turns = chapters(&mut host, allow).await;
    let asked: Vec<Vec<&str>> = turns.iter().map(Turn::asked).collect();
    let expected: [&[&str]; CHAPTERS] = [
        &[],
        &["Write"],
        &["Edit"],
        &["Bash"],
        &["AskUserQuestion"],
        &["Write"],
        &["ExitPlanMode", "Write"],
        &[],
    ];
    assert_eq!(asked, expected);
    assert!(turns[0].thinks());
    assert!(turns[0].text().contains(&*host.project().to_string_lossy()));
    assert_eq!(turns[1].called(), ["Write", "Read"]);
    assert_eq!(turns[3].called(), ["Bash", "Bash"]);
    assert!(
        turns[3].text().contains("1\tFinish the tour"),
        "{}",
        turns[3].text()
    );
    assert!(turns[4].text().contains("Short lists it is"));
    assert!(
        turns[5]
            .requests()
            .all(|request| request["agent_id"].is_string())
    );
    assert!(turns[5].text().contains("left their notes"));
    assert_eq!(
        files(host.project()),
        ["README.md", "review.txt", "todo.sh", "todo.txt"]
    );
    assert_eq!(read(host.project(), "todo.txt"), "Finish the tour\n");
    assert!(read(host.project(), "todo.sh").contains("Nothing to do."));

    // Every chapter says how it goes on, and the bill only grows.
    for (turn, next) in turns.iter().zip(2..=CHAPTERS) {
        let hint = if next == CHAPTERS {
            "last chapter".to_owned()
        } else {
            format!("hapter {next}")
        };
        assert!(
            turn.text().contains(&hint) && turn.text().ends_with("to go on."),
            "{}",
            turn.text()
        );
    }
    let costs: Vec<f64> = turns.iter().map(Turn::cost).collect();
    assert_eq!(costs[0], 0.0118, "as the scenario says");
    assert!(
        costs.is_sorted() && costs[0] > 0.0 && costs[7] > costs[0],
        "{costs:?}"
    );
    assert!(costs[7] > 0.05 && costs[7] < 0.5, "a few cents: {costs:?}");
}

#[tokio::test(start_paused = true)]
async fn the_tour_goes_on_for_somebody_who_denies_everything() {
    let mut host = Host::start("tour");
    let turns = chapters(&mut host, deny).await;
    assert!(files(host.project()).is_empty());
    let said = [
        (1, "nothing was written"),
        (1, "rather not"),
        (2, "No again."),
        (3, "It did not run"),
        (4, "You would rather not answer"),
        (5, "with empty hands"),
        (6, "that was the point of asking"),
    ];
    for (chapter, part) in said {
        let text = turns[chapter].text();
        assert!(text.contains(part), "{part} in {text}");
    }
    assert_eq!(
        turns[2].asked(),
        ["Write"],
        "the file is asked for once more"
    );
    assert_eq!(turns[6].asked(), ["ExitPlanMode", "ExitPlanMode"]);
}

#[tokio::test(start_paused = true)]
async fn after_the_tour_plain_requests_are_followed() {
    let mut host = Host::start("tour");
    chapters(&mut host, deny).await;
    host.send(&serde_json::json!({
        "type": "control_request", "request_id": "m",
        "request": {"subtype": "set_permission_mode", "mode": "default"},
    }))
    .await;
    let turn = host
        .turn("write notes.txt: hello, then read it back", allow)
        .await;
    assert_eq!(turn.asked(), ["Write"]);
    assert_eq!(turn.called(), ["Write", "Read"]);
    assert_eq!(read(host.project(), "notes.txt"), "hello");
    let turn = host.turn("and what is this?", allow).await;
    assert!(
        turn.text().contains("I follow plain requests"),
        "{}",
        turn.text()
    );
    assert_eq!(host.end().await.code, Some(0));
}

#[tokio::test(start_paused = true)]
async fn the_tour_comes_in_pieces_and_takes_minutes_at_most() {
    let mut host = Host::start_with("tour", &["--include-partial-messages"]);
    let before = tokio::time::Instant::now();
    let turns = chapters(&mut host, allow).await;
    let seconds = before.elapsed().as_secs_f64();
    assert!((3.0..120.0).contains(&seconds), "{seconds}");
    let deltas = turns[0]
        .lines
        .iter()
        .filter(|line| line["type"] == "stream_event")
        .count();
    assert!(deltas > 40, "{deltas}");
}
