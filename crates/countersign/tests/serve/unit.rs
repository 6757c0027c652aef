//! Under a manager: the files that systemd and launchd read, and a stop of the unit as they do it.
//!
//! With `KillMode=process` a manager signals the daemon's own process and nothing else. Keepers, agents and open questions
//! live on.

use std::path::Path;
use std::process::Command;

use rustix::process::{Pid, Signal, test_kill_process};

use super::api;
use super::crash::begin;
use super::stage::{Stage, until_shown};

const PLIST: &str = include_str!("../../../../packaging/countersign.plist");

/// The unit that this program prints, in a folder of its own.
fn printed(stage: &Stage) -> (String, std::path::PathBuf) {
    let ran = stage.command(&["serve", "--print-unit"]).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    let text = String::from_utf8(ran.stdout).unwrap();
    let file = stage.root().join("countersign.service");
    std::fs::write(&file, &text).unwrap();
    (text, file)
}

#[cfg(target_os = "linux")]
#[test]
fn the_unit_is_one_that_systemd_understands() {
    let stage = Stage::new();
    let (text, file) = printed(&stage);
    let mut section = "";
    let mut seen = Vec::new();
    for line in text.lines().map(str::trim) {
        match line {
            "" => {}
            line if line.starts_with('#') => {}
            line if line.starts_with('[') => section = line,
            line => {
                let (key, value) = line.split_once('=').unwrap_or_else(|| panic!("{line}"));
                assert!(!key.is_empty() && !value.is_empty(), "{line}");
                seen.push(format!("{section}{key}={value}"));
            }
        }
    }
    for wanted in [
        "[Service]KillMode=process",
        "[Service]OOMPolicy=continue",
        "[Service]UMask=0077",
        "[Service]Restart=on-failure",
        "[Install]WantedBy=default.target",
    ] {
        assert!(
            seen.iter().any(|line| line == wanted),
            "{wanted} in {seen:?}"
        );
    }
    let analyze = Path::new("/usr/bin/systemd-analyze");
    if analyze.exists() {
        let run = stage.root().join("run");
        std::fs::create_dir(&run).unwrap();
        let ran = Command::new(analyze)
            .args(["verify", "--user", "--man=no"])
            .arg(&file)
            .env_clear()
            .env("HOME", stage.root())
            .env("XDG_RUNTIME_DIR", &run)
            .env("PATH", "/usr/bin:/bin")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success() && said.is_empty(), "{said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_unit_starts_with_the_options_that_were_given() {
    let stage = Stage::new();
    let words = "serve --print-unit --listen 127.0.0.1:4 --claude ./claude --tls --max-agents 3";
    let words: Vec<&str> = words.split(' ').chain(["--data", "my data"]).collect();
    let ran = stage.command(&words).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    let text = String::from_utf8(ran.stdout).unwrap();
    let line = text.lines().find(|line| line.starts_with("ExecStart="));
    let project = stage.project();
    let project = project.to_str().unwrap();
    let options = format!(
        " serve --no-open --listen 127.0.0.1:4 --data \"{project}/my data\" --claude {project}/claude --max-agents 3 --tls"
    );
    assert!(line.is_some_and(|line| line.ends_with(&options)), "{text}");
}

/// The names and values of a property list, with every tag closed in its order.
fn properties(text: &str) -> Vec<(String, String)> {
    let body = text.split_once("<dict>").unwrap().1;
    let (mut open, mut found, mut key) = (vec!["dict".to_owned()], Vec::new(), None::<String>);
    let mut rest = body;
    while let Some(at) = rest.find('<') {
        rest = &rest[at..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = comment.split_once("-->").unwrap().1;
            continue;
        }
        let (tag, behind) = rest[1..].split_once('>').unwrap();
        let words = behind[..behind.find('<').unwrap_or(0)].to_owned();
        rest = behind;
        if let Some(name) = tag.strip_suffix('/') {
            found.extend(key.take().map(|key| (key, name.to_owned())));
        } else if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "{text}");
        } else {
            open.push(tag.to_owned());
            match tag {
                "key" => key = Some(words),
                _ => found.extend(key.take().map(|key| (key, words))),
            }
        }
    }
    assert_eq!(open, [""; 0], "every tag is closed");
    found
}

#[test]
fn the_launch_agent_is_a_property_list_that_leaves_keepers_alone() {
    let text = PLIST.replace("</plist>", "");
    let found = properties(&text);
    let value = |name: &str| {
        let found = found.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    };
    assert_eq!(value("Label"), Some("countersign"));
    assert_eq!(value("AbandonProcessGroup"), Some("true"));
    assert_eq!(value("RunAtLoad"), Some("true"));
    assert_eq!(value("SuccessfulExit"), Some("false"));
    assert_eq!(value("Umask"), Some("63"), "0077");
    assert_eq!(
        PLIST.matches("<plist").count(),
        PLIST.matches("</plist>").count()
    );
}

/// The process of the only keeper.
fn keeper(stage: &Stage) -> Pid {
    let sessions = std::fs::read_dir(stage.data().join("sessions")).unwrap();
    let folder = sessions.flatten().next().unwrap().path();
    let text = std::fs::read_to_string(folder.join("keeper.json")).unwrap();
    let told: serde_json::Value = serde_json::from_str(&text).unwrap();
    let pid = told["keeper"].as_i64().unwrap_or_else(|| panic!("{told}"));
    Pid::from_raw(i32::try_from(pid).unwrap()).unwrap()
}

fn a_stop_of_the_unit_leaves_the_rest(signal: Signal) {
    let stage = Stage::new();
    let claude =
        stage.playing("turn\n  tool Bash {\"command\":\"echo ran >> ran.log\"}\n  say \"done\"\n");
    let daemon = stage.serve(&["--claude", &claude]);
    let browser = daemon.signed_in();
    let folder = stage.project().to_str().unwrap().to_owned();
    let session = begin(&browser, "go", &folder);
    let asked = api::question(&browser, "echo ran");
    let keeper = keeper(&stage);
    daemon.signal(signal);
    daemon.ended();
    assert!(test_kill_process(keeper).is_ok(), "the keeper lives on");
    let daemon = stage.serve(&["--claude", &claude]);
    assert_eq!(daemon.said["taken_up"], 1, "{}", daemon.said);
    let browser = daemon.signed_in();
    let again = api::question(&browser, "echo ran");
    assert_eq!(again["id"], asked["id"], "it is the same question");
    assert!(test_kill_process(keeper).is_ok(), "by the same keeper");
    api::allow(&browser, &again);
    until_shown(&browser, &session, "<strong>idle</strong>");
    let ran = std::fs::read_to_string(stage.project().join("ran.log")).unwrap();
    assert_eq!(ran, "ran\n");
}

#[test]
fn a_stop_of_the_unit_leaves_the_keeper_and_an_open_question() {
    a_stop_of_the_unit_leaves_the_rest(Signal::TERM);
}

#[test]
fn a_stop_of_the_unit_that_took_too_long_leaves_them_too() {
    a_stop_of_the_unit_leaves_the_rest(Signal::KILL);
}
