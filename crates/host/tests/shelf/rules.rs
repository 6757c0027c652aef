//! Rules: made, changed, taken back, explained; live agents go by them.

use countersign_host::control::Control as _;
use countersign_host::control::approval::{Effect, Scope};
use countersign_host::control::{
    ChangeRule, Command, ControlError, DecisionFilter, Did, Explain, Keep, Message, Mode, NewRule,
    RuleEffect, SessionId, Shelf as _,
};
use serde_json::json;

use crate::stage::{DEADLINE, Stage};

/// One question in each turn.
const ASKS: &str = r#"
turn always
  tool Bash {"command":"echo ${prompt} >> ran.log","description":"Leave a mark"}
  say "Done: ${prompt}."
"#;

fn rule(effect: RuleEffect, text: &str) -> NewRule {
    NewRule {
        effect,
        rule: text.to_owned(),
        scope: Scope::Always,
        session: None,
        repository: None,
        expires: None,
        note: Some("for the suite".to_owned()),
    }
}

async fn add(stage: &Stage, rule: NewRule) -> u64 {
    let receipt = stage.execute(Command::Keep(Keep::AddRule { rule })).await;
    let Did::Value { value } = receipt.did else {
        panic!("{:?}", receipt.did);
    };
    value["rule"].as_u64().unwrap()
}

async fn say(stage: &Stage, session: SessionId, text: &str) {
    let message = Message::text(text);
    stage.execute(Command::Send { session, message }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_live_agent_goes_by_a_rule_as_long_as_it_is_kept() {
    let stage = Stage::new(ASKS).await;
    let id = stage.start("one").await;
    let open = stage.open_approvals(id, 1).await;
    // The next question is settled by the rule, the one that is open stays a person's.
    let kept = add(&stage, rule(RuleEffect::Deny, "Bash(echo:*)")).await;
    let refuse = countersign_host::control::Decide::deny("No.");
    stage.decide(&open[0], refuse).await;
    stage.until_said(id, "Done: one").await;
    say(&stage, id, "two").await;
    stage.until_said(id, "Done: two").await;
    let filter = DecisionFilter {
        by: Some("rule".to_owned()),
        ..DecisionFilter::default()
    };
    let page = stage.host().decisions(filter).await.unwrap();
    assert_eq!(page.items.len(), 1, "{page:#?}");
    assert_eq!(page.items[0].decided.effect, Effect::Deny);

    let change = ChangeRule {
        effect: Some(RuleEffect::Ask),
        ..ChangeRule::default()
    };
    stage
        .execute(Command::Keep(Keep::ChangeRule { id: kept, change }))
        .await;
    say(&stage, id, "three").await;
    let open = stage.open_approvals(id, 1).await;
    assert!(open[0].reason.contains("echo"), "{:?}", open[0].reason);
    stage
        .execute(Command::Keep(Keep::RemoveRule { id: kept }))
        .await;
    assert!(stage.host().rules().await.unwrap().is_empty());
    assert!(stage.ran().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_whose_client_hangs_up_holds_for_a_live_agent() {
    let stage = Stage::new(ASKS).await;
    let id = stage.start("one").await;
    let open = stage.open_approvals(id, 1).await;
    let rule = rule(RuleEffect::Deny, "Bash(echo:*)");
    let keep = Command::Keep(Keep::AddRule { rule });
    let cmd = Stage::cmd().key("once");
    let mut client = stage.host().execute(cmd.clone(), keep.clone());
    std::future::poll_fn(|context| {
        assert!(client.as_mut().poll(context).is_pending());
        std::task::Poll::Ready(())
    })
    .await;
    drop(client);
    let start = std::time::Instant::now();
    while stage.host().rules().await.unwrap().is_empty() {
        assert!(start.elapsed() < DEADLINE, "it was begun, and never kept");
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    // Its receipt says that it is in force, whoever gets it.
    stage.host().execute(cmd, keep).await.unwrap();
    let refuse = countersign_host::control::Decide::deny("No.");
    stage.decide(&open[0], refuse).await;
    stage.until_said(id, "Done: one").await;
    say(&stage, id, "two").await;
    stage.until_said(id, "Done: two").await;
    assert!(stage.ran().is_empty(), "{:?}", stage.ran());
    let filter = DecisionFilter {
        by: Some("rule".to_owned()),
        ..DecisionFilter::default()
    };
    let page = stage.host().decisions(filter).await.unwrap();
    assert_eq!(page.items.len(), 1, "{page:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_is_listed_with_who_made_it_and_one_that_cannot_hold_is_refused() {
    let stage = Stage::new(ASKS).await;
    let id = stage.start("one").await;
    let own = NewRule {
        scope: Scope::Session,
        session: Some(id),
        ..rule(RuleEffect::Allow, "Bash(echo one:*)")
    };
    let project = NewRule {
        scope: Scope::Repository,
        repository: Some(stage.project()),
        ..rule(RuleEffect::Allow, "Bash")
    };
    let (own, project) = (add(&stage, own).await, add(&stage, project).await);
    let all = stage.host().rules().await.unwrap();
    assert_eq!(
        all.iter().map(|one| one.id).collect::<Vec<_>>(),
        [own, project]
    );
    assert_eq!(
        (all[0].by.as_str(), all[0].client.as_str()),
        ("the suite", "test")
    );
    assert_eq!(all[0].note.as_deref(), Some("for the suite"));
    assert!(
        all[1].warning.is_some(),
        "a rule for every command is worth a word: {all:#?}"
    );

    let nobody = NewRule {
        scope: Scope::Session,
        session: Some(SessionId::fresh()),
        ..rule(RuleEffect::Allow, "Bash")
    };
    let keep = Command::Keep(Keep::AddRule { rule: nobody });
    let error = stage.host().execute(Stage::cmd(), keep).await.unwrap_err();
    assert!(matches!(error, ControlError::NotFound { .. }), "{error}");
    let unread = Command::Keep(Keep::AddRule {
        rule: rule(RuleEffect::Deny, "Bash("),
    });
    let error = stage
        .host()
        .execute(Stage::cmd(), unread)
        .await
        .unwrap_err();
    assert!(matches!(error, ControlError::Invalid { .. }), "{error}");
    let gone = Command::Keep(Keep::RemoveRule { id: 999 });
    let error = stage.host().execute(Stage::cmd(), gone).await.unwrap_err();
    assert!(matches!(error, ControlError::NotFound { .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_key_makes_one_rule() {
    let stage = Stage::new(ASKS).await;
    let keep = |text| {
        Command::Keep(Keep::AddRule {
            rule: rule(RuleEffect::Deny, text),
        })
    };
    let cmd = Stage::cmd().key("once");
    let first = stage
        .host()
        .execute(cmd.clone(), keep("Bash(rm:*)"))
        .await
        .unwrap();
    let again = stage
        .host()
        .execute(cmd.clone(), keep("Bash(rm:*)"))
        .await
        .unwrap();
    assert_eq!(first, again);
    assert_eq!(stage.host().rules().await.unwrap().len(), 1);
    let other = stage
        .host()
        .execute(cmd, keep("Bash(ls:*)"))
        .await
        .unwrap_err();
    assert!(matches!(other, ControlError::KeyReused { .. }), "{other}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_explained_by_the_rules_that_would_decide_it() {
    let stage = Stage::new(ASKS).await;
    let id = stage.start("one").await;
    stage.open_approvals(id, 1).await;
    let ask = |mode| Explain {
        session: Some(id),
        cwd: None,
        mode,
        tool: "Bash".to_owned(),
        input: json!({"command": "git log; make"}),
        as_if: Vec::new(),
    };
    let said = stage.host().explain(ask(None)).await.unwrap();
    assert_eq!(
        (said.effect, said.why.as_str()),
        (RuleEffect::Ask, "no-rule")
    );
    assert_eq!(said.parts.len(), 2, "{said:#?}");
    let tried = |rules: &[&str]| Explain {
        as_if: rules.iter().map(ToString::to_string).collect(),
        ..ask(None)
    };
    let said = stage
        .host()
        .explain(tried(&["Bash(make:*)", "Bash(git log:*)"]))
        .await
        .unwrap();
    assert_eq!(said.effect, RuleEffect::Allow, "as if it were kept");
    let said = stage.host().explain(ask(None)).await.unwrap();
    assert_eq!(said.effect, RuleEffect::Ask, "it was kept nowhere");
    let error = stage.host().explain(tried(&["Bash("])).await.unwrap_err();
    assert!(matches!(error, ControlError::Invalid { .. }), "{error}");
    let said = stage
        .host()
        .explain(ask(Some(Mode::RulesOnly)))
        .await
        .unwrap();
    assert_eq!(said.effect, RuleEffect::Deny, "nobody is asked: {said:#?}");

    add(
        &stage,
        NewRule {
            scope: Scope::Session,
            session: Some(id),
            ..rule(RuleEffect::Deny, "Bash(make:*)")
        },
    )
    .await;
    let said = stage.host().explain(ask(None)).await.unwrap();
    assert_eq!((said.effect, said.why.as_str()), (RuleEffect::Deny, "rule"));
    assert!(said.rule.unwrap().contains("make"));
    let elsewhere = Explain {
        session: None,
        cwd: Some(stage.project()),
        ..ask(None)
    };
    let said = stage.host().explain(elsewhere).await.unwrap();
    assert_eq!(
        said.effect,
        RuleEffect::Ask,
        "the rule is the session's alone"
    );
    let neither = Explain {
        session: None,
        ..ask(None)
    };
    let error = stage.host().explain(neither).await.unwrap_err();
    assert!(matches!(error, ControlError::Invalid { .. }), "{error}");
}
