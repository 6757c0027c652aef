//! What lies around sessions: templates, folders, the disk, conversations of terminals, comments that are not sent yet.

use countersign_host::control::approval::Comment;
use countersign_host::control::{
    ApprovalId, Command, Control as _, ControlError, Decide, ImportFilter, Keep, SessionId,
    Shelf as _, Template,
};

use crate::stage::Stage;

const TALKS: &str = "turn always\n  say \"Talked.\"\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_template_is_kept_over_a_restart_and_put_in_place_of_itself() {
    let mut stage = Stage::new(TALKS).await;
    let put = |prompt: &str| {
        let template = Template {
            prompt: Some(prompt.to_owned()),
            ..Template::default()
        };
        Command::Keep(Keep::PutTemplate {
            name: "nightly".to_owned(),
            template: Box::new(template),
        })
    };
    stage.execute(put("one")).await;
    stage.execute(put("two")).await;
    stage.restart().await;
    let all = stage.host().templates().await.unwrap();
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].template.prompt.as_deref(), Some("two"));
    assert_eq!(all[0].by, "the suite");
    let remove = Command::Keep(Keep::RemoveTemplate {
        name: "nightly".to_owned(),
    });
    stage.execute(remove.clone()).await;
    assert!(stage.host().templates().await.unwrap().is_empty());
    let error = stage
        .host()
        .execute(Stage::cmd(), remove)
        .await
        .unwrap_err();
    assert!(matches!(error, ControlError::NotFound { .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn folders_of_sessions_are_remembered_and_looked_through_but_never_ours() {
    let stage = Stage::new(TALKS).await;
    let outside = tempfile::tempdir().unwrap();
    let host = stage.host();
    assert!(host.recent_folders().await.unwrap().is_empty());
    let id = stage.start("one").await;
    stage.until(id, "idle").await;
    let recent = host.recent_folders().await.unwrap();
    assert_eq!((recent.len(), recent[0].sessions), (1, 1));
    assert_eq!(recent[0].path, stage.project());
    std::fs::create_dir(stage.project().join("inner")).unwrap();
    let seen = host.folders(Some(stage.project())).await.unwrap();
    assert!(
        seen.folders.iter().any(|one| one.name == "inner"),
        "{seen:?}"
    );
    for closed in [
        outside.path().to_owned(),
        stage.settings.agents.data.clone(),
        stage.settings.agents.data.join("sessions"),
    ] {
        let error = host.folders(Some(closed)).await.unwrap_err();
        assert!(matches!(error, ControlError::NotFound { .. }), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_disk_is_measured_by_session_and_own_conversations_are_not_offered_for_import() {
    let stage = Stage::new(TALKS).await;
    let id = stage.start("one").await;
    stage.until(id, "idle").await;
    let disk = stage.host().disk().await.unwrap();
    let own = disk.sessions.iter().find(|one| one.session == id).unwrap();
    assert!(own.journal > 0 && disk.total >= own.journal, "{disk:?}");
    assert!(disk.trash.is_empty());
    let filter = ImportFilter {
        programmatic: true,
        ..ImportFilter::default()
    };
    let offered = stage.host().importable(filter).await.unwrap();
    let own = stage.view(id).await.conversation.unwrap();
    assert!(
        offered.iter().all(|one| one.conversation != own),
        "{offered:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn comments_on_a_plan_are_kept_until_they_are_taken_away() {
    let asks = "turn always\n  tool Bash {\"command\":\"echo hi\",\"description\":\"Greet\"}\n  say \"Done.\"\n";
    let mut stage = Stage::new(asks).await;
    let id: SessionId = stage.start("one").await;
    let open = stage.open_approvals(id, 1).await;
    let put = |approval: ApprovalId, texts: &[&str]| {
        let on = |text: &&str| Comment {
            line: 3,
            text: (*text).to_owned(),
        };
        let comments = texts.iter().map(on).collect();
        Command::Keep(Keep::PutComments { approval, comments })
    };
    stage.execute(put(open[0].id, &["why?", "shorter"])).await;
    stage.restart().await;
    let drafts = stage.host().drafts(open[0].id).await.unwrap();
    assert_eq!(drafts.comments.len(), 2);
    assert_eq!(drafts.by.as_deref(), Some("the suite"));
    stage.execute(put(open[0].id, &[])).await;
    assert_eq!(stage.host().drafts(open[0].id).await.unwrap().at, None);
    let nobody = put(ApprovalId::of(id, 9, 9, 9), &["x"]);
    let error = stage
        .host()
        .execute(Stage::cmd(), nobody)
        .await
        .unwrap_err();
    assert!(matches!(error, ControlError::NotFound { .. }), "{error}");
    stage.decide(&open[0], Decide::deny("No.")).await;
}
