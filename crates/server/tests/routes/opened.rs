//! Files and folders opened on the daemon's machine: what may be, by whom, and what a program gets.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use countersign_api::Scope;
use countersign_server::{OpenerSettings, Openers};
use serde_json::json;

use crate::common::{DEADLINE, Served};

/// Follows what it is told.
const FOLLOWS: &str = "turn always\n  follow\n";

/// A program that writes down its words and its folder, one a line.
fn scribe(file: &Path, to: &Path) {
    let text = format!(
        "#!/bin/sh\n{{ for word in \"$@\"; do echo \"$word\"; done; pwd; echo end; }} > '{}'\n",
        to.display()
    );
    std::fs::write(file, text).unwrap();
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

async fn written(to: &Path) -> Vec<String> {
    let deadline = tokio::time::Instant::now() + DEADLINE;
    loop {
        let text = std::fs::read_to_string(to).unwrap_or_default();
        if text.ends_with("end\n") {
            return text.lines().map(str::to_owned).collect();
        }
        assert!(tokio::time::Instant::now() < deadline, "nothing was opened");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_a_session_is_opened_on_the_daemons_machine_and_nothing_outside() {
    let place = tempfile::tempdir().unwrap();
    let (editor, terminal) = (place.path().join("ed it"), place.path().join("term"));
    let (edited, begun) = (place.path().join("edited"), place.path().join("begun"));
    scribe(&editor, &edited);
    scribe(&terminal, &begun);
    let settings = OpenerSettings {
        editor: Some(vec![editor.into(), "--new window".into()]),
        terminal: Some(vec![terminal.into()]),
    };
    let openers = Openers::find(settings, |_| None);
    let served = Served::with(FOLLOWS, |app| app.openers = openers).await;
    let client = served.client();
    let id = served.stage.start("say Hello.").await;
    let project = served.stage.project().canonicalize().unwrap();
    std::fs::create_dir_all(project.join("a b")).unwrap();
    std::fs::write(project.join("a b/$(touch x); c.ts"), "").unwrap();
    symlink(place.path(), project.join("out")).unwrap();
    let about = client.get("/about").await.json();
    assert_eq!(about["opens"], json!({"editor": true, "terminal": true}));
    let route = format!("/sessions/{id}/open");
    let open = async |path: &str, with: &str| {
        let body = json!({"path": path, "with": with});
        client.send("POST", &route, &body).await
    };
    let file = project.join("a b/$(touch x); c.ts");
    let opened = open("a b/$(touch x); c.ts", "editor").await;
    assert_eq!(opened.status, 200, "{}", opened.text());
    let folder = file.parent().unwrap().to_str().unwrap();
    let wanted = ["--new window", file.to_str().unwrap(), folder, "end"];
    assert_eq!(written(&edited).await, wanted);
    let opened = open(folder, "terminal").await;
    assert_eq!(opened.status, 200, "{}", opened.text());
    assert_eq!(written(&begun).await, [folder, "end"]);
    std::fs::remove_file(&edited).unwrap();
    for path in ["out/term", "../", "/etc/passwd", "a b/gone"] {
        let refused = open(path, "editor").await;
        assert_eq!(refused.status, 404, "{path}: {}", refused.text());
    }
    for body in [json!({"path": "a b", "with": "sh"}), json!({"path": "a b"})] {
        assert_eq!(client.send("POST", &route, &body).await.status, 422);
    }
    for scope in [Scope::Read, Scope::Answer] {
        let narrow = served.client_as(scope.name(), scope);
        let body = json!({"path": "a b", "with": "editor"});
        assert_eq!(narrow.send("POST", &route, &body).await.status, 403);
    }
    assert!(!edited.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_without_an_editor_says_so() {
    let served = Served::new(FOLLOWS).await;
    let client = served.client();
    let id = served.stage.start("say Hello.").await;
    let about = client.get("/about").await.json();
    assert_eq!(about["opens"], json!({"editor": false, "terminal": false}));
    let body = json!({"path": "", "with": "editor"});
    let refused = client
        .send("POST", &format!("/sessions/{id}/open"), &body)
        .await;
    assert_eq!(refused.status, 409);
    assert!(refused.text().contains("--editor"), "{}", refused.text());
}
