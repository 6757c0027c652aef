//! Open files: as many as may be for the daemon, as before for what it starts, and a clear word at the limit.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit, setrlimit};

use serde_json::json;

use super::api;
use super::crash::begin;
use super::stage::{Daemon, Stage, until, until_shown};

/// The soft limit of a process.
fn soft_limit(pid: u32) -> u64 {
    let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
    let line = limits
        .lines()
        .find(|line| line.starts_with("Max open files"));
    let soft = line.unwrap().split_ascii_whitespace().nth(3).unwrap();
    soft.parse().unwrap_or(u64::MAX)
}

/// Processes whose command line holds these words.
fn running(words: &str) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_it = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(words)
    };
    pids.filter(is_it).collect()
}

#[test]
fn the_daemon_may_open_what_the_system_allows_and_agents_what_it_was_started_with() {
    let before = getrlimit(Resource::Nofile);
    let few = Rlimit {
        current: Some(512),
        maximum: before.maximum,
    };
    let stage = Stage::new();
    let claude = stage.playing("turn\n  say \"Waiting.\"\n  wait forever\n");
    setrlimit(Resource::Nofile, few).unwrap();
    let daemon = stage.serve(&["--claude", &claude]);
    setrlimit(Resource::Nofile, before).unwrap();
    assert_eq!(soft_limit(daemon.pid()), before.maximum.unwrap_or(u64::MAX));
    let browser = daemon.signed_in();
    let folder = stage.project().to_str().unwrap().to_owned();
    let session = begin(&browser, "go", &folder);
    until_shown(&browser, &session, "Waiting.");
    let mut agents = running(stage.root().join("scenario").to_str().unwrap());
    agents.retain(|pid| *pid != daemon.pid());
    assert!(!agents.is_empty());
    for pid in agents {
        assert_eq!(soft_limit(pid), 512);
    }
}

/// A connection that stays.
struct Connection(TcpStream, String);

impl Connection {
    fn to(daemon: &Daemon) -> Self {
        let stream = TcpStream::connect(daemon.address()).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(40)))
            .unwrap();
        Self(stream, daemon.address().to_owned())
    }

    /// Head and body of the answer.
    fn ask(&mut self, method: &str, path: &str, token: &str, body: &str) -> String {
        let text = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {token}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.1,
            body.len()
        );
        self.0.write_all(text.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        loop {
            let mut more = [0; 4096];
            let read = self.0.read(&mut more).unwrap();
            bytes.extend_from_slice(&more[..read]);
            let said = String::from_utf8_lossy(&bytes).to_lowercase();
            let whole = said.split_once("\r\n\r\n").is_some_and(|(head, body)| {
                let length = head.split_once("content-length: ").map(|(_, rest)| rest);
                let length = length.and_then(|rest| rest.lines().next()?.parse().ok());
                match length {
                    Some(length) => body.len() >= length,
                    None => body.ends_with("0\r\n\r\n"),
                }
            });
            if whole || read == 0 {
                return said;
            }
        }
    }
}

/// Sets how many files the daemon may have open.
fn limit(daemon: &Daemon, current: Option<u64>) {
    let pid = Pid::from_raw(i32::try_from(daemon.pid()).unwrap());
    let maximum = getrlimit(Resource::Nofile).maximum;
    prlimit(pid, Resource::Nofile, Rlimit { current, maximum }).unwrap();
}

#[test]
fn with_no_file_to_spare_nobody_is_taken_for_an_agent_and_nothing_is_begun() {
    let stage = Stage::new();
    let claude = stage.playing("turn\n  say \"Hello.\"\n");
    let daemon = stage.serve(&["--claude", &claude]);
    let token = std::fs::read_to_string(stage.data().join("auth/token")).unwrap();
    let token = token.trim();
    let all = getrlimit(Resource::Nofile).maximum;
    let mut connection = Connection::to(&daemon);
    connection.ask("GET", "/healthz", token, "");

    limit(&daemon, Some(3));
    let said = connection.ask("GET", "/api/v1/sessions", token, "");
    assert!(said.starts_with("http/1.1 503"), "{said}");
    assert!(
        said.contains("retry-after: ") && said.contains("open files"),
        "{said}"
    );
    limit(&daemon, all);
    let said = connection.ask("GET", "/api/v1/sessions", token, "");
    assert!(said.starts_with("http/1.1 200"), "{said}");

    let folder = stage.project();
    let body = serde_json::json!({"prompt": "hi", "cwd": folder.to_str().unwrap()}).to_string();
    limit(&daemon, Some(3));
    let said = connection.ask("POST", "/api/v1/sessions", token, &body);
    limit(&daemon, all);
    assert!(said.starts_with("http/1.1 503"), "{said}");
    assert!(
        said.contains("retry-after: ") && said.contains("files open"),
        "{said}"
    );
    let said = connection.ask("GET", "/api/v1/sessions", token, "");
    assert!(said.contains("\"items\":[]"), "{said}");
    let left = std::fs::read_dir(stage.data().join("sessions"))
        .unwrap()
        .count();
    assert_eq!(left, 0, "nothing of the start is left");
}

#[test]
fn with_no_file_to_spare_a_session_that_is_asleep_is_not_woken_and_stays_as_it_was() {
    let stage = Stage::new();
    let claude = stage.playing("turn always\n  say \"Hello.\"\n");
    let daemon = stage.serve(&["--claude", &claude]);
    let browser = daemon.signed_in();
    let folder = stage.project().to_str().unwrap().to_owned();
    let session = begin(&browser, "go", &folder);
    until_shown(&browser, &session, "Hello.");
    let id = session.rsplit('/').next().unwrap().to_owned();
    let path = format!("/api/v1/sessions/{id}");
    let stopped = api::send(
        &browser,
        "POST",
        &format!("/sessions/{id}/stop"),
        &json!({}),
    );
    assert_eq!(stopped.status, 200, "{stopped:?}");
    let view = || api::get(&browser, &format!("/sessions/{id}"));
    until("stopped", || match view() {
        seen if seen["state"] == "stopped" => Ok(()),
        seen => Err(format!("{seen:#}")),
    });
    let before = view();

    let token = std::fs::read_to_string(stage.data().join("auth/token")).unwrap();
    let token = token.trim();
    let all = getrlimit(Resource::Nofile).maximum;
    let mut connection = Connection::to(&daemon);
    for (road, body) in [
        ("resume", json!({})),
        ("resume", json!({"message": {"text": "more"}})),
        ("messages", json!({"text": "more"})),
    ] {
        // Who holds the connection is found out while there are files for that.
        connection.ask("GET", "/api/v1/sessions", token, "");
        limit(&daemon, Some(3));
        let said = connection.ask("POST", &format!("{path}/{road}"), token, &body.to_string());
        limit(&daemon, all);
        assert!(said.starts_with("http/1.1 503"), "{road}: {said}");
        assert!(
            said.contains("retry-after: ") && said.contains("files open"),
            "{road}: {said}"
        );
        let now = view();
        assert_eq!(
            (&now["state"], &now["generation"], &now["queued"]),
            (&before["state"], &before["generation"], &before["queued"]),
            "{now:#}"
        );
    }
    let resumed = api::send(
        &browser,
        "POST",
        &format!("/sessions/{id}/resume"),
        &json!({"message": {"text": "more"}}),
    );
    assert_eq!(resumed.status, 200, "{resumed:?}");
    until("it goes on", || match view() {
        seen if seen["state"] == "idle" && seen["generation"] != before["generation"] => Ok(()),
        seen => Err(format!("{seen:#}")),
    });
}

/// Number of files that a process has open.
fn open_files(pid: u32) -> u64 {
    std::fs::read_dir(format!("/proc/{pid}/fd"))
        .unwrap()
        .count() as u64
}

#[test]
fn no_more_agents_are_begun_than_files_are_reserved_for() {
    let stage = Stage::new();
    let claude = stage.playing("turn\n  say \"Hello.\"\n");
    let daemon = stage.serve(&["--claude", &claude]);
    let token = std::fs::read_to_string(stage.data().join("auth/token")).unwrap();
    let token = token.trim();
    let folder = stage.project();
    let body = json!({"prompt": "hi", "cwd": folder.to_str().unwrap()}).to_string();
    let all = getrlimit(Resource::Nofile).maximum;
    let mut connection = Connection::to(&daemon);
    // Connections may take all of it, though there are files to spare at this moment.
    let none_for_agents = 160;
    assert!(open_files(daemon.pid()) + 48 < none_for_agents);
    limit(&daemon, Some(none_for_agents));
    let said = connection.ask("POST", "/api/v1/sessions", token, &body);
    assert!(said.starts_with("http/1.1 503"), "{said}");
    assert!(
        said.contains("retry-after: ") && said.contains("files open"),
        "{said}"
    );
    limit(&daemon, all);
    let said = connection.ask("GET", "/api/v1/sessions", token, "");
    assert!(said.contains("\"items\":[]"), "{said}");
    let said = connection.ask("POST", "/api/v1/sessions", token, &body);
    assert!(said.starts_with("http/1.1 201"), "{said}");
}

#[test]
fn a_session_that_waited_for_room_waits_on_for_files_and_begins_once_there_are_enough() {
    let stage = Stage::new();
    let scenario =
        "turn when \"first\"\n  say \"Working.\"\n  wait forever\nturn always\n  say \"Hello.\"\n";
    let claude = stage.playing(scenario);
    let daemon = stage.serve(&["--claude", &claude, "--max-agents", "1"]);
    let browser = daemon.signed_in();
    let folder = stage.project().to_str().unwrap().to_owned();
    let id = |session: &str| session.rsplit('/').next().unwrap().to_owned();
    let first = begin(&browser, "first", &folder);
    until_shown(&browser, &first, "Working.");
    let second = id(&begin(&browser, "second", &folder));
    let view = || api::get(&browser, &format!("/sessions/{second}"));
    let until_so = |what: &str, state: &str, words: &str| {
        until(what, || match view() {
            seen if seen["state"] == state
                && seen["reason"].as_str().unwrap_or_default().contains(words) =>
            {
                Ok(())
            }
            seen => Err(format!("{seen:#}")),
        });
    };
    until_so("it waits for room", "queued", "waits for room");
    let all = getrlimit(Resource::Nofile).maximum;
    // Enough to be spoken with, and too few to begin an agent.
    limit(&daemon, Some(open_files(daemon.pid()) + 16));
    let path = format!("/sessions/{}/force-end", id(&first));
    let ended = api::send(&browser, "POST", &path, &json!({}));
    assert_eq!(ended.status, 200, "{ended:?}");
    until_so("it waits for files", "queued", "waits for files");
    limit(&daemon, all);
    until_so("it begins", "idle", "");
    assert_eq!(view()["generation"], 1);
}
