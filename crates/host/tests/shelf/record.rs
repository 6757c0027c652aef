//! The record of decisions: all of them, exactly as they were made, found by who, what and when.

use countersign_host::control::approval::Effect;
use countersign_host::control::{
    ApprovalId, Command, ControlError, Decide, DecisionFilter, Message, SessionId, Shelf as _,
};

use crate::stage::Stage;

/// One question in each turn.
const ASKS: &str = r#"
turn always
  tool Bash {"command":"echo ${prompt} >> ran.log","description":"Leave a mark"}
  say "Done: ${prompt}."
"#;

async fn decide_next(stage: &Stage, id: SessionId, decide: Decide) -> ApprovalId {
    let open = stage.open_approvals(id, 1).await;
    stage.decide(&open[0], decide).await;
    stage.until_life(&open[0], "settled").await;
    stage.until(id, "idle").await;
    open[0].id
}

#[tokio::test(flavor = "multi_thread")]
async fn every_decision_is_found_with_its_input_and_what_was_sent() {
    let stage = Stage::new(ASKS).await;
    let id = stage.start("one").await;
    let first = decide_next(&stage, id, Decide::allow()).await;
    let message = Message::text("two");
    stage
        .execute(Command::Send {
            session: id,
            message,
        })
        .await;
    let second = decide_next(&stage, id, Decide::deny("Not today.")).await;

    let all = |filter: DecisionFilter| async { stage.host().decisions(filter).await.unwrap() };
    let people = all(DecisionFilter {
        by: Some("the suite".to_owned()),
        ..DecisionFilter::default()
    })
    .await;
    let ids: Vec<ApprovalId> = people.items.iter().map(|one| one.id).collect();
    assert_eq!(ids, [second, first], "newest first");
    let denied = &people.items[0];
    assert_eq!(denied.input["command"], "echo two >> ran.log");
    assert_eq!(denied.decided.effect, Effect::Deny);
    assert!(
        denied
            .sent
            .as_ref()
            .unwrap()
            .to_string()
            .contains("Not today.")
    );
    let no = all(DecisionFilter {
        effect: Some(Effect::Deny),
        session: Some(id),
        ..DecisionFilter::default()
    })
    .await;
    assert_eq!(no.items.len(), 1);
    assert_eq!(no.items[0].id, second);
    let rest = all(DecisionFilter {
        tool: Some("Bash".to_owned()),
        until: Some(denied.decided.at),
        ..DecisionFilter::default()
    })
    .await;
    assert_eq!(
        rest.items.iter().map(|one| one.id).collect::<Vec<_>>(),
        [first]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_pass_nothing_over_and_a_place_that_is_none_is_refused() {
    let stage = Stage::new(ASKS).await;
    let id = stage.start("one").await;
    decide_next(&stage, id, Decide::allow()).await;
    let message = Message::text("two");
    stage
        .execute(Command::Send {
            session: id,
            message,
        })
        .await;
    decide_next(&stage, id, Decide::allow()).await;
    let whole = stage
        .host()
        .decisions(DecisionFilter::default())
        .await
        .unwrap();
    assert!(whole.items.len() >= 2, "{whole:#?}");
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let filter = DecisionFilter {
            most: 1,
            after: after.clone(),
            ..DecisionFilter::default()
        };
        let page = stage.host().decisions(filter).await.unwrap();
        found.extend(page.items);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(found, whole.items);
    let filter = DecisionFilter {
        after: Some("zz".to_owned()),
        ..DecisionFilter::default()
    };
    let error = stage.host().decisions(filter).await.unwrap_err();
    assert!(matches!(error, ControlError::Invalid { .. }), "{error}");
}
