//! What a sceptic would try: kill the daemon while a question is open.

use rustix::process::Signal;

use super::api;
use super::http::Browser;
use super::stage::{Daemon, Stage, until, until_shown};
use serde_json::{Value, json};

/// Begins a session by the form of the page, and gives the path of its page.
#[track_caller]
pub(crate) fn begin(browser: &Browser, prompt: &str, folder: &str) -> String {
    let home = browser.get("/plain");
    let id = home.field("id");
    let fields = [
        ("id", id.as_str()),
        ("prompt", prompt),
        ("cwd", folder),
        ("mode", "ask"),
    ];
    let answer = browser.post_form("/plain/sessions", &fields);
    assert_eq!(answer.status, 303, "{answer:?}");
    // The same form once more, as a double click sends it: the same session.
    let again = browser.post_form("/plain/sessions", &fields);
    assert_eq!(
        again.header("location"),
        answer.header("location"),
        "{again:?}"
    );
    answer.header("location").unwrap().to_owned()
}

/// Where the form of the first card on a page leads.
#[track_caller]
pub(crate) fn card(page: &str) -> String {
    let start = "action=\"/plain/approvals/";
    let from = page
        .find(start)
        .unwrap_or_else(|| panic!("no card: {page}"));
    let rest = &page[from + "action=\"".len()..];
    rest[..rest.find('"').unwrap()].to_owned()
}

#[test]
fn a_question_outlives_a_killed_daemon_and_its_call_runs_once() {
    let stage = Stage::new();
    let claude =
        stage.playing("turn\n  tool Bash {\"command\":\"echo ran >> ran.log\"}\n  say \"done\"\n");
    let folder = stage.project().to_str().unwrap().to_owned();
    let daemon = stage.serve(&["--claude", &claude]);
    let browser = daemon.signed_in();
    let session = begin(&browser, "go", &folder);
    until_shown(&browser, &session, "echo ran");
    let asked = until_shown(&browser, "/plain", "class=\"asks\"");
    let address = daemon.address().to_owned();
    daemon.signal(Signal::KILL);
    daemon.ended();

    let daemon = stage.serve(&["--claude", &claude, "--listen", &address]);
    assert_eq!(daemon.said["taken_up"], 1, "{}", daemon.said);
    // The browser is still signed in: its cookie is kept as a hash on the disk.
    let page = until_shown(&browser, "/plain", "class=\"asks\"");
    assert_eq!(
        card(&page.body),
        card(&asked.body),
        "it is the same question"
    );
    assert!(
        !stage.project().join("ran.log").exists(),
        "nobody has said yes"
    );
    let fields = [
        ("saw", page.field("saw")),
        ("key", page.field("key")),
        ("decision", "allow".to_owned()),
    ];
    let fields: Vec<(&str, &str)> = fields
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    for _ in 0..2 {
        let answer = browser.post_form(&card(&page.body), &fields);
        assert_eq!(answer.status, 303, "{answer:?}");
    }
    until_shown(&browser, &session, "<strong>idle</strong>");
    let ran = std::fs::read_to_string(stage.project().join("ran.log")).unwrap();
    assert_eq!(ran, "ran\n", "once");
    let page = browser.get("/plain");
    assert!(!page.body.contains("class=\"asks\""), "{}", page.body);
}

/// A daemon that was killed while its agent asked, and the next one on the same address.
fn killed_while_it_asks(stage: &Stage) -> (Daemon, Browser, String, Value) {
    let claude =
        stage.playing("turn\n  tool Bash {\"command\":\"echo ran >> ran.log\"}\n  say \"done\"\n");
    let folder = stage.project().to_str().unwrap().to_owned();
    let daemon = stage.serve(&["--claude", &claude]);
    let browser = daemon.signed_in();
    let session = begin(&browser, "go", &folder);
    let asked = api::question(&browser, "echo ran");
    let address = daemon.address().to_owned();
    daemon.signal(Signal::KILL);
    daemon.ended();
    let daemon = stage.serve(&["--claude", &claude, "--listen", &address]);
    let again = api::question(&browser, "echo ran");
    assert_eq!(
        (&again["id"], &again["digest"]),
        (&asked["id"], &asked["digest"])
    );
    assert!(!stage.project().join("ran.log").exists());
    (daemon, browser, session, again)
}

fn ran_once(stage: &Stage, browser: &Browser, session: &str) {
    until_shown(browser, session, "<strong>idle</strong>");
    let ran = std::fs::read_to_string(stage.project().join("ran.log")).unwrap();
    assert_eq!(ran, "ran\n", "once");
}

#[test]
fn a_question_that_outlived_the_daemon_is_answered_over_http() {
    let stage = Stage::new();
    let (_daemon, browser, session, asked) = killed_while_it_asks(&stage);
    api::allow(&browser, &asked);
    // Again, and otherwise: the first decision holds.
    let other = api::decide(&browser, &asked, json!({"decision": "deny"}));
    assert_eq!(other.status, 409, "{other:?}");
    ran_once(&stage, &browser, &session);
}

#[test]
fn a_question_that_outlived_the_daemon_is_answered_from_a_terminal() {
    let stage = Stage::new();
    let (_daemon, browser, session, asked) = killed_while_it_asks(&stage);
    let id = asked["id"].as_str().unwrap();
    let ran = stage.command(&["approve", "--yes", id]).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    ran_once(&stage, &browser, &session);
    let decided = api::get(&browser, &format!("/approvals/{id}"));
    assert_eq!(decided["decided"]["client"], "terminal", "{decided:#}");
}

#[test]
fn the_tour_asks_before_it_writes_and_goes_on_after_a_kill() {
    let stage = Stage::new();
    let daemon = stage.serve(&["--rehearsal"]);
    let browser = daemon.signed_in();
    let folder = daemon.said["agents"]["folder"].as_str().unwrap().to_owned();
    let session = begin(&browser, "Show me around.", &folder);
    let page = until_shown(&browser, &session, "<strong>idle</strong>");
    assert!(page.body.contains("This is a rehearsal"), "{}", page.body);
    let say = |page: &super::http::Answer, browser: &Browser| {
        let message = page.field("message");
        let fields = [
            ("message", message.as_str()),
            ("text", "next"),
            ("action", "send"),
        ];
        assert_eq!(browser.post_form(&session, &fields).status, 303);
    };
    say(&page, &browser);
    let page = until_shown(&browser, &session, "class=\"asks\"");
    assert!(page.body.contains("todo.sh"), "{}", page.body);
    daemon.signal(Signal::KILL);
    daemon.ended();

    let daemon = stage.serve(&["--rehearsal"]);
    let browser = daemon.signed_in();
    let page = until_shown(&browser, &session, "class=\"asks\"");
    let file = std::path::Path::new(&folder).join("todo.sh");
    assert!(!file.exists());
    let (saw, key) = (page.field("saw"), page.field("key"));
    let fields = [
        ("saw", saw.as_str()),
        ("key", key.as_str()),
        ("decision", "allow"),
    ];
    assert_eq!(browser.post_form(&card(&page.body), &fields).status, 303);
    until("the file", || {
        file.exists().then_some(()).ok_or("not there".to_owned())
    });
    let page = until_shown(&browser, &session, "Thank you, the file is there");
    assert!(page.body.contains("Write"), "{}", page.body);
}
