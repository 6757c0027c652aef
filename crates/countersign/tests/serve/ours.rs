//! The data folder as an agent sees it: what policy keeps from it, what the system does not, and what it can do with what it
//! has read.
//!
//! An agent runs as the person, so file modes do not keep it out. No rule and no mode opens the folder; a program that was
//! allowed reads what its user may, and still speaks for nobody.

use serde_json::{Value, json};

use super::api;
use super::crash::begin;
use super::http::Browser;
use super::stage::{Daemon, Stage, until, until_shown};

/// Calls that reach for the data folder.
fn reaches(stage: &Stage) -> Vec<String> {
    let data = stage.data().to_str().unwrap().to_owned();
    let commands = [
        format!("cat {data}/auth/token"),
        format!("cat {data}/host.db"),
        format!("head -c 10 {data}/seal.key"),
        format!("cat {data}/sessions/*/journal/*"),
        format!("ls {data}/run"),
        format!("cp -r {data} copy"),
        format!("cat < {data}/auth/token"),
        format!("cd {data} && cat auth/token"),
        "cat ~/.local/share/countersign/auth/token".to_owned(),
        "cat \"$HOME/.local/share/countersign/auth/tokens.json\"".to_owned(),
        "cat linked/auth/token".to_owned(),
        "cat ../home/.local/share/countersign/key.pem".to_owned(),
        "tar cf all.tar ../home".to_owned(),
        "grep -r cs_ ../home/.local".to_owned(),
        "find ../home -name token -exec cat {} +".to_owned(),
        format!("echo x > {data}/auth/tokens.json"),
        format!("rm -rf {data}/sessions"),
        format!("ln -s {data} near"),
        format!("curl --unix-socket {data}/run/serve.sock http://localhost/api/v1/me"),
    ];
    let bash = |text: String| ("Bash", json!({"command": text}));
    let files = [
        ("Read", json!({"file_path": format!("{data}/auth/token")})),
        ("Read", json!({"file_path": "${cwd}/linked/host.db"})),
        ("Grep", json!({"pattern": "cs_", "path": data})),
        ("Glob", json!({"pattern": "**/token", "path": data})),
        (
            "Write",
            json!({"file_path": format!("{data}/auth/tokens.json"), "content": "x"}),
        ),
        (
            "Edit",
            json!({"file_path": format!("{data}/auth/tokens.json"), "old_string": "a", "new_string": "b"}),
        ),
    ];
    let all = commands.into_iter().map(bash).chain(files);
    all.map(|(tool, input)| format!("tool {tool} {input}"))
        .collect()
}

fn started(stage: &Stage, scenario: &str) -> (Daemon, Browser) {
    let claude = stage.playing(scenario);
    std::os::unix::fs::symlink(stage.data(), stage.project().join("linked")).unwrap();
    let daemon = stage.serve(&["--claude", &claude]);
    let browser = daemon.signed_in();
    (daemon, browser)
}

/// First something that is asked about, then every reach, then something that is not asked about any more.
fn scenario(stage: &Stage) -> String {
    let mut text = "turn\n  tool Bash {\"command\":\"touch begun\"}\n".to_owned();
    for call in reaches(stage) {
        text += &format!(
            "  {call}\n  if refused\n    say \"Not this one.\"\n  else\n    say \"This one ran.\"\n  end\n"
        );
    }
    text + "  tool Bash {\"command\":\"touch unasked\"}\n  say \"The end.\"\n"
}

/// None of them runs: the CLI refuses by the rules it was started with, and what it asks about is laid before the person.
fn none_runs(stage: &Stage, browser: &Browser, session: &str) {
    let mut asked = Vec::new();
    until("the end", || {
        let open = api::get(browser, "/approvals?state=open");
        if let [one] = open["items"].as_array().unwrap().as_slice() {
            let reason = one["reason"].as_str().unwrap_or_default().to_owned();
            asked.push((one["input"].to_string(), reason));
            api::deny(browser, one);
        }
        let page = browser.get(session);
        match page.body.contains("The end.") {
            true => Ok(()),
            false => Err(page.body),
        }
    });
    let id = session.rsplit('/').next().unwrap();
    let transcript = api::get(browser, &format!("/sessions/{id}/transcript?most=500")).to_string();
    let count = |words: &str| transcript.matches(words).count();
    assert_eq!(count("This one ran."), 0, "{asked:#?}\n{transcript}");
    assert_eq!(count("Not this one."), reaches(stage).len(), "{transcript}");
    // Those that the CLI would let through are kept by our own policy, whatever is allowed.
    let kept = |(_, reason): &&(String, String)| reason.starts_with("No rule opens this path");
    assert!(asked.iter().filter(kept).count() >= 4, "{asked:#?}");
    assert!(
        stage.project().join("unasked").exists(),
        "what was allowed is not asked about"
    );
    let token = std::fs::read_to_string(stage.data().join("auth/token")).unwrap();
    assert!(!transcript.contains(token.trim()));
    for made in ["copy", "all.tar", "near"] {
        assert!(!stage.project().join(made).exists(), "{made}");
    }
}

#[test]
fn no_rule_opens_the_data_folder_to_an_agent() {
    let stage = Stage::new();
    let (_daemon, browser) = started(&stage, &scenario(&stage));
    for rule in [
        "Bash",
        "Read",
        "Grep",
        "Glob",
        "Write",
        "Edit",
        "Read(//**)",
        "Write(//**)",
    ] {
        let body = json!({"effect": "allow", "rule": rule, "scope": "always"});
        let made = api::send(&browser, "POST", "/rules", &body);
        assert_eq!(made.status, 201, "{made:?}");
    }
    let folder = stage.project().to_str().unwrap().to_owned();
    let session = begin(&browser, "go", &folder);
    none_runs(&stage, &browser, &session);
}

#[test]
fn hands_off_does_not_open_the_data_folder_to_an_agent() {
    let stage = Stage::new();
    let (_daemon, browser) = started(&stage, &scenario(&stage));
    let folder = stage.project().to_str().unwrap().to_owned();
    let session = begin(&browser, "go", &folder);
    let first = api::question(&browser, "touch begun");
    let id = session.rsplit('/').next().unwrap();
    let ran = stage
        .command(&["mode", id, "hands-off", "--for", "20m"])
        .output()
        .unwrap();
    assert!(ran.status.success(), "{ran:?}");
    api::allow(&browser, &first);
    none_runs(&stage, &browser, &session);
}

#[test]
fn a_mode_that_asks_nobody_refuses_the_data_folder() {
    let stage = Stage::new();
    let data = stage.data().to_str().unwrap().to_owned();
    let scenario = format!(
        "turn\n  tool Bash {{\"command\":\"cat {data}/auth/token\"}}\n  if refused\n    say \"Refused: ${{result}}\"\n  else\n    say \"It reads ${{result}}\"\n  end\n"
    );
    let (_daemon, browser) = started(&stage, &scenario);
    let body = json!({"effect": "allow", "rule": "Bash", "scope": "always"});
    assert_eq!(api::send(&browser, "POST", "/rules", &body).status, 201);
    let body = json!({"prompt": "go", "cwd": stage.project(), "mode": "rules-only"});
    let made = api::send(&browser, "POST", "/sessions", &body);
    assert_eq!(made.status, 201, "{made:?}");
    let made: Value = serde_json::from_str(&made.body).unwrap();
    let session = format!(
        "/plain/sessions/{}",
        made["did"]["session"].as_str().unwrap()
    );
    let page = until_shown(&browser, &session, "Refused: ");
    assert!(!page.body.contains("cs_"), "{}", page.body);
}

/// What the agent's script leaves behind: the end of a command, and what it said.
fn left(stage: &Stage, name: &str) -> String {
    let file = stage.project().join(name);
    until(name, || {
        std::fs::read_to_string(&file).map_err(|error| error.to_string())
    })
}

#[test]
fn an_agents_shell_that_has_read_everything_still_speaks_for_nobody() {
    let stage = Stage::new();
    let scenario = "turn\n  tool Bash {\"command\":\"sh ./look.sh\"}\n  tool Bash {\"command\":\"echo no >> ran.log\"}\n  say \"The end.\"\n";
    let (daemon, browser) = started(&stage, scenario);
    let folder = stage.project().to_str().unwrap().to_owned();
    let session = begin(&browser, "go", &folder);
    let first = api::question(&browser, "look.sh");
    let (program, data) = (env!("CARGO_BIN_EXE_countersign"), stage.data());
    let (data, url) = (data.to_str().unwrap(), daemon.said["url"].as_str().unwrap());
    let far = format!("--server {url} --token-file {data}/auth/token");
    let tries = [
        ("near", "inbox --json".to_owned()),
        ("far", format!("inbox --json {far}")),
        ("token", format!("token create mine --scope full {far}")),
        (
            "rule",
            format!(
                "mode {} hands-off --for 1h {far}",
                session.rsplit('/').next().unwrap()
            ),
        ),
        ("second", "serve --json".to_owned()),
    ];
    let mut script = format!(
        "cat {data}/auth/token > read.token; cat {data}/seal.key > read.key; cat {data}/host.db > read.db\n"
    );
    for (name, words) in &tries {
        // Nothing of the agent is left but its descent: no environment, no parent, a session of its own.
        script += &format!(
            "(setsid env -i HOME=\"$HOME\" PATH=/usr/bin:/bin {program} {words} > {name}.out 2> {name}.err < /dev/null; echo $? > {name}.new; mv {name}.new {name}.code) &\n"
        );
    }
    std::fs::write(stage.project().join("look.sh"), script).unwrap();
    api::allow(&browser, &first);
    for (name, _) in &tries {
        let code = left(&stage, &format!("{name}.code"));
        let (out, err) = (
            left(&stage, &format!("{name}.out")),
            left(&stage, &format!("{name}.err")),
        );
        assert_ne!(code.trim(), "0", "{name}: {out} {err}");
        assert!(
            !out.contains("login?code") && !out.contains("cs_"),
            "{name}: {out}"
        );
        assert!(err.contains("an agent"), "{name} is told why: {err}");
    }
    // What the system does not keep from the person's own user, it does not keep from the agent.
    let token = std::fs::read_to_string(stage.data().join("auth/token")).unwrap();
    assert_eq!(left(&stage, "read.token"), token);
    // Its second question is still open, no token was made, and the mode is what it was.
    api::question(&browser, "echo no");
    assert_eq!(api::get(&browser, "/tokens").as_array().unwrap().len(), 1);
    assert!(!stage.project().join("ran.log").exists());
    let id = session.rsplit('/').next().unwrap();
    let view = api::get(&browser, &format!("/sessions/{id}"));
    assert_eq!(view["mode"]["mode"], "ask", "{view:#}");
}
