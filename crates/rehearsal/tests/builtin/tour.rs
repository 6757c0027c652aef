//! The tour, chapter by chapter: allowed, denied, and in plan mode.

use super::host::{Decide, Host, Turn, allow, deny, files, read};

const CHAPTERS: usize = 9;

async fn chapters(host: &mut Host, decide: Decide) -> Vec<Turn> {
    let mut turns = Vec::new();
    for number in 1..=CHAPTERS {
        if number == 8 {
            // A plan that was turned down leaves plan mode on; the chapter asks for another one.
            host.mode("default").await;
        }
        let turn = host.turn(&format!("message {number}"), decide).await;
        assert!(turn.is_success(), "chapter {number}: {}", turn.result());
        turns.push(turn);
    }
    turns
}

/// Each text says how it goes on, and the next one is what was announced.
fn every_chapter_is_there(turns: &[Turn]) {
    for (number, turn) in (1..).zip(turns) {
        let text = turn.text();
        let begins = number == 1 || text.contains(&format!("**Chapter {number}:"));
        assert!(begins, "chapter {number}: {text}");
        let next = match number + 1 {
            CHAPTERS => "The last chapter".to_owned(),
            next => format!("hapter {next}"),
        };
        let goes_on = text.contains(&next) && text.ends_with("to go on.");
        assert!(number == CHAPTERS || goes_on, "chapter {number}: {text}");
        assert_eq!(turn.cost(), 0.0, "a rehearsal costs nothing");
    }
}

#[tokio::test(start_paused = true)]
async fn the_tour_shows_everything_to_somebody_who_allows_everything() {
    let mut host = Host::start("tour");
    let turns = chapters(&mut host, allow).await;
    every_chapter_is_there(&turns);
    let asked: Vec<Vec<&str>> = turns.iter().map(Turn::asked).collect();
    let expected: [&[&str]; CHAPTERS] = [
        &[],
        &["Write"],
        &["Edit"],
        &["Bash", "Bash", "Bash"],
        &["AskUserQuestion"],
        &["Bash"],
        &["ExitPlanMode", "Write"],
        &["Bash"],
        &[],
    ];
    assert_eq!(asked, expected);
    assert!(turns[0].thinks());
    assert!(turns[0].text().contains(&*host.project().to_string_lossy()));
    assert_eq!(turns[1].called(), ["Write", "Read"]);
    let text = turns[3].text();
    assert!(text.contains("1\tFinish the tour"), "{text}");
    assert!(turns[4].text().contains("Short lists it is"));
    let is_theirs = |request: &serde_json::Value| request["agent_id"].is_string();
    assert!(turns[5].requests().all(is_theirs));
    assert!(turns[5].text().contains("back with their report"));
    assert!(turns[7].text().contains("They are deleted"));
    assert_eq!(files(host.project()), ["README.md", "todo.sh"]);
    assert!(read(host.project(), "todo.sh").contains("Nothing to do."));
}

#[tokio::test(start_paused = true)]
async fn the_tour_goes_on_for_somebody_who_denies_everything() {
    let mut host = Host::start("tour");
    let turns = chapters(&mut host, deny).await;
    every_chapter_is_there(&turns);
    assert!(files(host.project()).is_empty());
    let said = [
        (1, "nothing was written"),
        (1, "rather not"),
        (2, "No again."),
        (3, "It did not run"),
        (4, "You would rather not answer"),
        (5, "with empty hands"),
        (6, "that was the point of asking"),
        (6, "Choose *Ask each time*"),
        (7, "Stopped: nothing was deleted"),
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
async fn the_tour_begins_the_chapter_of_the_deletion_again_if_it_came_in_plan_mode() {
    let mut host = Host::start("tour");
    for number in 1..=7 {
        host.turn(&format!("message {number}"), deny).await;
    }
    let turn = host.turn("next", allow).await;
    assert!(
        turn.text().contains("We are in plan mode"),
        "{}",
        turn.text()
    );
    host.mode("default").await;
    let turn = host.turn("next", allow).await;
    assert_eq!(turn.asked(), ["Bash"]);
    let turn = host.turn("next", allow).await;
    assert!(turn.text().contains("**Chapter 9:"), "{}", turn.text());
}

#[tokio::test(start_paused = true)]
async fn a_plan_that_is_carried_out_afresh_is_followed_by_the_next_chapter() {
    for words in [
        "Carry out this plan:",
        "The plan is approved. Carry it out:",
    ] {
        let mut host = Host::start("tour");
        let turn = host.turn(&format!("{words}\n\n# A page"), allow).await;
        assert_eq!(turn.asked(), ["Write"]);
        let turn = host.turn("next", allow).await;
        assert!(turn.text().contains("**Chapter 8:"), "{}", turn.text());
    }
}

#[tokio::test(start_paused = true)]
async fn after_the_tour_plain_requests_are_followed() {
    let mut host = Host::start("tour");
    chapters(&mut host, deny).await;
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
