//! Paths that lead elsewhere: folders to begin in, folders to look through, files to complete, differences, imports.
//!
//! Owns a stage with a folder that is closed, a link to it, and the host's own folder. Invariant of all of them: what lies
//! outside is neither used nor named, nor is it told whether it is there.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use countersign_api::Scope;
use countersign_host::control::SessionId;
use serde_json::{Value, json};

use super::common::{Client, Served, Stage};

const IDLE: &str = "turn always\n  say \"Done.\"\n";

/// Lies where nobody may look.
const SECRET: &str = "the-name-of-a-closed-file";

/// A server, somebody who may do everything, and a closed folder beside the project with a link to it inside.
async fn place() -> (Served, Client) {
    let served = Served::new(IDLE).await;
    let root = served.stage.root();
    std::fs::create_dir_all(root.join("closed/inner")).unwrap();
    std::fs::write(root.join("closed").join(SECRET), "").unwrap();
    symlink(root.join("closed"), served.stage.project().join("out")).unwrap();
    let client = served.client();
    (served, client)
}

async fn sessions(client: &Client) -> Vec<Value> {
    let page = client.get("/sessions?archived=true").await.json();
    page["items"].as_array().unwrap().clone()
}

/// A text as it stands behind the `?` of an address.
fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_begins_in_no_folder_of_ours_and_in_nothing_that_is_no_folder() {
    let (served, client) = place().await;
    let (root, project) = (served.stage.root(), served.stage.project());
    let data = served.stage.settings.agents.data.clone();
    std::fs::write(project.join("file"), "").unwrap();
    symlink(&data, project.join("to-data")).unwrap();
    symlink(data.join("run"), project.join("to-run")).unwrap();
    let refused = [
        PathBuf::from("project"),
        PathBuf::from("../project"),
        PathBuf::from("~nobody"),
        PathBuf::from(""),
        PathBuf::from("\0"),
        root.join("not there"),
        project.join("file"),
        project.join("file/.."),
        project.join("a\0b"),
        data.clone(),
        data.join("sessions"),
        data.join("worktrees/.."),
        project.join("../data"),
        project.join("to-data"),
        project.join("to-data/sessions/../run"),
        project.join("to-run"),
    ];
    for cwd in refused {
        let body = json!({"prompt": "go", "cwd": cwd});
        let answer = client.send("POST", "/sessions", &body).await;
        assert_eq!(answer.status, 422, "{cwd:?}: {}", answer.text());
        // Nor as one that counts as inside.
        if cwd.is_absolute() && cwd.exists() && cwd.is_dir() {
            let body = json!({"prompt": "go", "cwd": project, "add_dirs": [cwd]});
            let answer = client.send("POST", "/sessions", &body).await;
            assert_eq!(answer.status, 422, "added {cwd:?}: {}", answer.text());
        }
    }
    assert!(sessions(&client).await.is_empty());
    // And where there is nothing against it, it is begun: the list above is refused for what it names.
    let body = json!({"cwd": project.join("../project")});
    assert_eq!(client.send("POST", "/sessions", &body).await.status, 201);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_folder_is_shown_that_lies_outside_whatever_the_path_says() {
    let (served, client) = place().await;
    let (root, project) = (served.stage.root(), served.stage.project());
    std::fs::create_dir(project.join("seen")).unwrap();
    served.stage.start("go").await;
    let look = async |path: &Path| {
        let path = encoded(path.to_str().unwrap());
        client.get(&format!("/folders?path={path}")).await
    };
    let open = look(&project).await;
    assert_eq!(open.status, 200, "{}", open.text());
    assert_eq!(open.json()["folders"][0]["name"], "seen");
    assert!(!open.text().contains("\"out\""), "{}", open.text());
    let data = served.stage.settings.agents.data.clone();
    for path in [
        root.join("closed"),
        project.join("../closed"),
        project.join("seen/../../closed/inner"),
        project.join("out"),
        project.join("out/inner"),
        root.to_owned(),
        PathBuf::from("/"),
        PathBuf::from("/etc"),
        data.clone(),
        data.join("sessions"),
        PathBuf::from("project"),
        PathBuf::from(".."),
        project.join("seen\0/../../closed"),
        PathBuf::from("\0"),
        project.join("%2e%2e/closed"),
    ] {
        let answer = look(&path).await;
        assert_eq!(answer.status, 404, "{path:?}: {}", answer.text());
    }
    // What is not there and what is not to be seen are told by the same words.
    let words = |path: PathBuf, text: String| text.replace(path.to_str().unwrap(), "");
    let (closed, nothing) = (root.join("closed"), root.join("nothing"));
    let one = words(closed.clone(), look(&closed).await.text());
    assert_eq!(one, words(nothing.clone(), look(&nothing).await.text()));
}

#[tokio::test(flavor = "multi_thread")]
async fn no_file_is_completed_that_lies_outside_or_is_ours() {
    let (served, client) = place().await;
    let (root, project) = (served.stage.root(), served.stage.project());
    std::fs::write(project.join("inside.txt"), "").unwrap();
    symlink(root.join("closed").join(SECRET), project.join("linked")).unwrap();
    // One session inside, one around everything: the host's own folder is a part of it.
    let inside = served.stage.start("go").await;
    let around = served.stage.start_in("go", root.to_owned()).await;
    for id in [inside, around] {
        served.stage.until(id, "idle").await;
    }
    let found = async |id: SessionId, letters: &str| {
        let letters = encoded(letters);
        let path = format!("/sessions/{id}/files?q={letters}&most=100");
        let answer = client.get(&path).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()["paths"].to_string()
    };
    assert!(found(inside, "inside").await.contains("inside.txt"));
    for letters in [
        "",
        "..",
        "../",
        "../closed/",
        "out/",
        SECRET,
        "linked",
        "/",
        "/etc/passwd",
        "\0",
        "%2e%2e",
    ] {
        let paths = found(inside, letters).await;
        for outside in [SECRET, "..", "out", "linked", "passwd"] {
            assert!(!paths.contains(outside), "{letters:?}: {paths}");
        }
    }
    assert!(
        found(around, SECRET).await.contains(SECRET),
        "it is inside here"
    );
    for letters in ["", "host.db", "journal", "sessions", "seal", "data/"] {
        let paths = found(around, letters).await;
        assert!(!paths.contains("data/"), "{letters:?}: {paths}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn names_in_a_path_of_the_api_are_names_and_lead_nowhere() {
    let (served, client) = place().await;
    let id = served.stage.start("go").await;
    served.stage.until(id, "idle").await;
    let token = std::fs::read_to_string(served.app.auth.token_file()).unwrap();
    for path in [
        "/sessions/..%2f..%2fauth%2ftoken".to_owned(),
        "/sessions/..%2f..%2fauth%2ftoken/transcript".to_owned(),
        format!("/sessions/{id}%2f..%2f..%2fhost.db/export"),
        format!("/sessions/{id}/records/..%2f..%2f..%2fhost.db"),
        format!("/sessions/{id}/records/%2fetc%2fpasswd"),
        format!("/sessions/{id}/tasks/..%2f..%2fhost.db/output"),
        "/templates/..%2f..%2fauth%2ftoken".to_owned(),
        "/approvals/..%2f..%2fauth%2ftoken".to_owned(),
        "/import?folder=%2fetc".to_owned(),
    ] {
        let answer = client.get(&path).await;
        let text = answer.text();
        assert!(
            answer.status < 500 && (answer.status >= 400 || text == "[]"),
            "{path}: {} {text}",
            answer.status
        );
        let leaks = ["root:", "SQLite", token.trim()];
        assert!(
            !leaks.iter().any(|one| text.contains(one)),
            "{path}: {text}"
        );
    }
    for conversation in ["../../auth/token", "/etc/passwd", "..", "a\0b", "-x"] {
        let body =
            json!({"conversation": conversation, "cwd": served.stage.project(), "confirmed": true});
        let answer = client.send("POST", "/import", &body).await;
        assert_eq!(answer.status, 422, "{conversation}: {}", answer.text());
    }
}

/// Sends a file to a session.
async fn upload(client: &Client, id: SessionId, name: &str) -> super::common::http::Answer {
    let path = format!("/api/v1/sessions/{id}/uploads?name={}", encoded(name));
    let kind = [("content-type", "application/octet-stream")];
    client.ask("POST", &path, &kind, b"words of a file").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_handed_over_lies_where_files_of_its_session_lie() {
    let (served, client) = place().await;
    let id = served.stage.start("go").await;
    served.stage.until(id, "idle").await;
    let good = upload(&client, id, "good.txt").await;
    assert_eq!(good.status, 201, "{}", good.text());
    let path = good.json()["did"]["upload"]["path"].clone();
    let folder = Path::new(path.as_str().unwrap())
        .parent()
        .unwrap()
        .to_owned();
    assert!(folder.ends_with(id.to_string()), "{folder:?}");
    for name in [
        "../escaped",
        "../../escaped",
        "/tmp/escaped",
        "a/../../escaped",
        "a/b",
        "..",
        ".",
        "",
        " ",
        ".hidden",
        "a\0b",
        "a\nb",
        "\u{1b}[31m",
        &"x".repeat(5_000),
    ] {
        let answer = upload(&client, id, name).await;
        assert!(
            answer.status == 422 || answer.status == 201,
            "{name:?}: {} {}",
            answer.status,
            answer.text()
        );
    }
    let listed = client.get(&format!("/sessions/{id}/uploads")).await.json();
    for one in listed.as_array().unwrap() {
        let path = Path::new(one["path"].as_str().unwrap());
        let name = path.file_name().unwrap().to_str().unwrap();
        assert_eq!(path.parent().unwrap().canonicalize().unwrap(), folder);
        assert!(
            !name.starts_with('.') && !name.chars().any(char::is_control),
            "{name:?}"
        );
    }
    for escaped in [
        folder.parent().unwrap().join("escaped"),
        served.stage.root().join("escaped"),
        PathBuf::from("/tmp/escaped"),
    ] {
        assert!(!escaped.exists(), "{escaped:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_link_that_an_agent_leaves_leads_a_handed_file_elsewhere() {
    let (served, client) = place().await;
    let (one, other) = (
        served.stage.start("go").await,
        served.stage.start("go").await,
    );
    for id in [one, other] {
        served.stage.until(id, "idle").await;
    }
    let closed = served.stage.root().join("closed");
    let good = upload(&client, one, "good.txt").await.json();
    let good = PathBuf::from(good["did"]["upload"]["path"].as_str().unwrap());
    let folder = good.parent().unwrap();
    // A name that is a link already, and a whole folder that is one.
    symlink(closed.join(SECRET), folder.join("taken")).unwrap();
    let put = upload(&client, one, "taken").await;
    assert!(put.status < 500, "{}", put.text());
    assert_eq!(std::fs::read(closed.join(SECRET)).unwrap(), b"");
    symlink(&closed, folder.parent().unwrap().join(other.to_string())).unwrap();
    let put = upload(&client, other, "file").await;
    assert!(put.status >= 400, "{}", put.text());
    assert!(!closed.join("file").exists());
    // Nor is anything removed or named through one.
    let listed = client.get(&format!("/sessions/{one}/uploads")).await.text();
    assert!(!listed.contains("\"taken\""), "{listed}");
    for name in ["taken", "..%2f..%2fclosed", "%2e%2e", "..%2fhost.db"] {
        let path = format!("/sessions/{one}/uploads/{name}");
        let gone = client.send("DELETE", &path, &json!({})).await;
        assert_eq!(gone.status, 404, "{name}: {}", gone.text());
    }
    assert!(closed.join(SECRET).exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_taken_from_nobody_but_who_may_do_everything_and_from_no_form() {
    let (served, client) = place().await;
    let id = served.stage.start("go").await;
    served.stage.until(id, "idle").await;
    for scope in [Scope::Read, Scope::Answer] {
        let caller = served.client_as(scope.name(), scope);
        assert_eq!(upload(&caller, id, "x").await.status, 403, "{scope}");
    }
    assert_eq!(upload(&served.stranger(), id, "x").await.status, 401);
    let path = format!("/api/v1/sessions/{id}/uploads?name=x");
    for kind in [
        "text/plain",
        "multipart/form-data; boundary=x",
        "application/x-www-form-urlencoded",
        "",
    ] {
        let kind = [("content-type", kind)];
        let answer = client.ask("POST", &path, &kind, b"words").await;
        assert_eq!(answer.status, 415, "{kind:?}");
    }
    // Too much is refused before it is sent.
    let request = client.request(
        "POST",
        &path,
        &[
            ("content-type", "application/octet-stream"),
            ("content-length", &(21 << 20).to_string()),
            ("connection", "close"),
        ],
        b"",
    );
    let answer = super::talk::talk(served.address, &request).await;
    assert_eq!(answer.status, 413, "{answer:?}");
    let listed = client.get(&format!("/sessions/{id}/uploads")).await.json();
    assert_eq!(listed, json!([]));
}

/// A repository in the project.
pub(crate) fn repository(stage: &Stage) {
    let git = |words: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args(words).current_dir(stage.project()).env_clear();
        command
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", stage.root());
        let ran = command.output().unwrap();
        assert!(ran.status.success(), "{words:?} {ran:?}");
    };
    git(&["init", "-q", "-b", "main"]);
    git(&["config", "user.email", "one@example.org"]);
    git(&["config", "user.name", "One"]);
    std::fs::write(stage.project().join("file"), "one\n").unwrap();
    git(&["add", "file"]);
    git(&["commit", "-q", "-m", "One"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_difference_names_a_link_and_never_shows_what_lies_behind_it() {
    let (served, client) = place().await;
    repository(&served.stage);
    let root = served.stage.root();
    std::fs::write(root.join("closed/words"), "words of a closed file\n").unwrap();
    let body = json!({"cwd": served.stage.project(), "worktree": {"slug": "look"}});
    let made = client.send("POST", "/sessions", &body).await;
    assert_eq!(made.status, 201, "{}", made.text());
    let id = made.json()["did"]["session"].as_str().unwrap().to_owned();
    let session = client.get(&format!("/sessions/{id}")).await.json();
    let tree = PathBuf::from(session["cwd"].as_str().unwrap());
    std::fs::remove_file(tree.join("file")).unwrap();
    symlink(root.join("closed/words"), tree.join("file")).unwrap();
    symlink(root.join("closed"), tree.join("folder")).unwrap();
    let diff = client.get(&format!("/sessions/{id}/diff")).await;
    assert_eq!(diff.status, 200, "{}", diff.text());
    let text = diff.text();
    assert!(text.contains("closed/words"), "the link itself: {text}");
    assert!(
        !text.contains("words of a closed file") && !text.contains(SECRET),
        "{text}"
    );
    assert_eq!(
        diff.header("content-type"),
        Some("text/x-diff; charset=utf-8")
    );
    assert_eq!(diff.header("x-content-type-options"), Some("nosniff"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_worktree_begins_from_is_no_option_and_its_name_no_path() {
    let (served, client) = place().await;
    repository(&served.stage);
    let marked = served.stage.root().join("marked");
    for base in [
        format!("--output={}", marked.display()),
        "--upload-pack=touch marked".to_owned(),
        "-h".to_owned(),
        "../closed".to_owned(),
        "main\0".to_owned(),
        "main --detach".to_owned(),
    ] {
        let worktree = json!({"base": base, "slug": "x"});
        let body = json!({"cwd": served.stage.project(), "worktree": worktree});
        let answer = client.send("POST", "/sessions", &body).await;
        assert_eq!(answer.status, 422, "{base}: {}", answer.text());
    }
    let worktrees = served.stage.settings.agents.data.join("worktrees");
    for slug in [
        "../../../escaped",
        "/escaped",
        "..",
        "-x",
        "a\0b",
        "a/../../escaped",
    ] {
        let body = json!({"cwd": served.stage.project(), "worktree": {"slug": slug}});
        let made = client.send("POST", "/sessions", &body).await;
        if made.status == 201 {
            let id = made.json()["did"]["session"].as_str().unwrap().to_owned();
            let session = client.get(&format!("/sessions/{id}")).await.json();
            let real = Path::new(session["cwd"].as_str().unwrap()).canonicalize();
            assert!(real.unwrap().starts_with(&worktrees), "{slug}: {session}");
        }
    }
    let root = served.stage.root();
    assert!(!marked.exists() && !root.join("escaped").exists());
    assert!(!served.stage.project().join("marked").exists());
}
