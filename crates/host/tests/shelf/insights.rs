//! Figures of a period, and decisions found by their words and by what became of them: with real questions, answered.

use countersign_host::control::{
    Command, ControlError, Decide, DecisionFilter, Message, Period, SessionId, Shelf as _,
};
use countersign_host::notify::Mask;

use crate::stage::Stage;

/// One question in each turn, and one call that nobody is asked about.
const ASKS: &str = r#"
turn always
  tool Read {"file_path":"readme.md"}
  tool Bash {"command":"echo \"${prompt}\" >> ran.log","description":"Leave a mark"}
  say "Done: ${prompt}."
"#;

async fn answer(stage: &Stage, id: SessionId, decide: Decide) {
    let open = stage.open_approvals(id, 1).await;
    stage.decide(&open[0], decide).await;
    stage.until_life(&open[0], "settled").await;
    stage.until(id, "idle").await;
}

async fn send(stage: &Stage, id: SessionId, text: &str) {
    let message = Message::text(text);
    let send = Command::Send {
        session: id,
        message,
    };
    stage.execute(send).await;
}

async fn found(stage: &Stage, filter: DecisionFilter) -> Vec<String> {
    let page = stage.host().decisions(filter).await.unwrap();
    let commands = page.items.iter().map(|one| one.input["command"].as_str());
    // What the mode lets run is in the record, too, and asked nobody.
    commands.flatten().map(str::to_owned).collect()
}

fn holds(text: &str) -> DecisionFilter {
    DecisionFilter {
        text: Some(text.to_owned()),
        ..DecisionFilter::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_period_tells_who_decided_and_what_was_waited_for() {
    let stage = Stage::new(ASKS).await;
    std::fs::write(stage.project().join("readme.md"), "hello").unwrap();
    let id = stage.start("one").await;
    answer(&stage, id, Decide::allow()).await;
    send(&stage, id, "two").await;
    answer(&stage, id, Decide::deny("Not today.")).await;
    let period = |since: u64, until: Option<u64>| {
        let host = stage.host();
        async move {
            let period = Period {
                since,
                until,
                offset: 0,
            };
            host.insights(period).await.unwrap()
        }
    };
    let all = period(0, None).await;
    assert_eq!(all.waits.asked, 2, "{all:#?}");
    assert_eq!(all.waits.open, 0);
    assert!(all.waits.waited > 0 && all.waits.longest <= all.waits.waited);
    assert_eq!(all.acts.by_people, 2);
    assert_eq!(all.acts.by_mode, 2, "the reads: {:#?}", all.acts);
    let by = all.decided.iter().find(|one| one.by == "the suite");
    let by = by.unwrap();
    assert_eq!((by.allowed, by.denied), (1, 1));
    assert!(all.by_what.iter().all(|one| one.tool == "Bash"));
    assert_eq!(all.by_what.iter().map(|one| one.asked).sum::<u64>(), 2);
    assert_eq!(all.by_session[0].session, id);
    assert_eq!(all.by_hour.iter().map(|hour| hour.asked).sum::<u64>(), 2);
    assert_eq!(all.speed.iter().map(|step| step.count).sum::<u64>(), 2);
    let before = period(0, Some(1)).await;
    assert_eq!((before.waits.asked, before.acts.calls), (0, 0));
    let since = period(u64::MAX, None).await;
    assert_eq!(since.waits.asked, 0, "a time that has not come is empty");
}

#[tokio::test(flavor = "multi_thread")]
async fn decisions_are_found_by_words_by_people_and_by_what_became_of_them() {
    let stage = Stage::new(ASKS).await;
    let id = stage.start("Grüne 100%").await;
    answer(&stage, id, Decide::allow()).await;
    send(&stage, id, "two").await;
    answer(&stage, id, Decide::deny("Never on a Monday.")).await;
    let first = r#"echo "Grüne 100%" >> ran.log"#;
    let second = r#"echo "two" >> ran.log"#;
    // The session is named by what began it.
    assert_eq!(found(&stage, holds("grüne")).await, [second, first]);
    // What the input quotes is found as it is typed; nothing in it is a pattern.
    assert_eq!(found(&stage, holds("ECHO \"two\"")).await, [second]);
    assert_eq!(found(&stage, holds("0%\"")).await, [first]);
    assert_eq!(found(&stage, holds("e_ho")).await, Vec::<String>::new());
    assert_eq!(found(&stage, holds("on a monday")).await, [second]);
    let outcome = |word: &str| DecisionFilter {
        outcome: Some(word.to_owned()),
        ..DecisionFilter::default()
    };
    assert_eq!(found(&stage, outcome("refused")).await, [second]);
    assert_eq!(found(&stage, outcome("ran")).await, [first]);
    let error = stage.host().decisions(outcome("eaten")).await.unwrap_err();
    assert!(matches!(error, ControlError::Invalid { .. }), "{error}");
    let people = DecisionFilter {
        people: true,
        ..DecisionFilter::default()
    };
    assert_eq!(found(&stage, people).await.len(), 2);
    let tools = |by: &str| {
        let filter = DecisionFilter {
            by: Some(by.to_owned()),
            ..DecisionFilter::default()
        };
        let page = stage.host().decisions(filter);
        async move {
            let items = page.await.unwrap().items;
            items.into_iter().map(|one| one.tool).collect::<Vec<_>>()
        }
    };
    assert_eq!(tools("mode").await, ["Read", "Read"]);
    assert_eq!(tools("rule").await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_secret_is_not_found_letter_by_letter() {
    let hide = |settings: &mut countersign_host::Settings| {
        settings.mask = Mask::new(|text| text.replace("hunter", "…"));
    };
    let stage = Stage::with(ASKS, hide).await;
    let id = stage.start("hunter likes tea").await;
    answer(&stage, id, Decide::allow()).await;
    assert_eq!(found(&stage, holds("hunt")).await, Vec::<String>::new());
    assert_eq!(found(&stage, holds("likes tea")).await.len(), 1);
}
