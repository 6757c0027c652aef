//! How it begins: what is printed, the link, a second start, a port that is taken.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;

use super::stage::Stage;

#[test]
fn a_first_start_ends_at_a_link_that_signs_in_once() {
    let stage = Stage::new();
    let daemon = stage.serve(&[]);
    assert_eq!(
        daemon.said["agents"]["kind"], "rehearsal",
        "{}",
        daemon.said
    );
    let stranger = daemon.stranger().get("/plain");
    assert_eq!(stranger.status, 401);
    assert!(
        !stranger.body.contains("Begin a session"),
        "{}",
        stranger.body
    );
    let browser = daemon.signed_in();
    let page = browser.get("/");
    assert_eq!(page.status, 200);
    assert!(page.body.contains("Begin a session"), "{}", page.body);
    assert!(page.body.contains("no claude was found"), "{}", page.body);
    let mut second = daemon.stranger();
    let path = daemon.link().split_once(daemon.address()).unwrap().1;
    assert_ne!(second.get(path).status, 200, "a link works once");
    let code = path.split_once("code=").unwrap().1;
    assert_eq!(second.post_form("/login", &[("code", code)]).status, 401);
    second.cookie = Some("countersign=made-up".to_owned());
    assert_eq!(second.get("/plain").status, 401);
}

#[test]
fn what_is_printed_for_people_has_the_link_the_agents_and_the_way_out() {
    let stage = Stage::new();
    let daemon = stage.serve_with(&["--qr"], |_| {});
    let ran = stage.command(&["serve", "--qr"]).output().unwrap();
    let text = String::from_utf8(ran.stdout).unwrap();
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    assert!(
        text.contains(&format!("process {}", daemon.pid())),
        "{text}"
    );
    assert!(text.contains('█') || text.contains('▀'), "{text}");
}

#[test]
fn a_second_start_gives_a_fresh_link_of_the_first() {
    let stage = Stage::new();
    let daemon = stage.serve(&["--rehearsal"]);
    let ran = stage.command(&["serve", "--json"]).output().unwrap();
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let said: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(said["pid"], daemon.pid());
    assert_eq!(said["url"], daemon.said["url"]);
    assert_ne!(said["link"], daemon.said["link"]);
    let mut browser = daemon.stranger();
    assert_eq!(browser.sign_in(said["link"].as_str().unwrap()).status, 303);
    assert_eq!(browser.get("/plain").status, 200);
}

#[test]
fn a_port_that_is_taken_is_named_with_what_to_do() {
    let stage = Stage::new();
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = other.local_addr().unwrap().to_string();
    let ran = stage
        .command(&["serve", "--listen", &address])
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(1));
    let text = String::from_utf8(ran.stderr).unwrap();
    assert!(
        text.contains(&address) && text.contains("--listen"),
        "{text}"
    );
}

#[test]
fn beyond_loopback_nothing_is_listened_on_in_the_clear() {
    let stage = Stage::new();
    let ran = stage
        .command(&["serve", "--listen", "0.0.0.0:0"])
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(1));
    let text = String::from_utf8(ran.stderr).unwrap();
    assert!(
        text.contains("--tls") && text.contains("--insecure-listen"),
        "{text}"
    );
}

#[test]
fn a_claude_that_is_not_there_is_no_rehearsal() {
    let stage = Stage::new();
    let ran = stage
        .command(&["serve", "--claude", "/nowhere/claude"])
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(1));
    let text = String::from_utf8(ran.stderr).unwrap();
    assert!(text.contains("/nowhere/claude"), "{text}");
}

#[test]
fn everything_in_the_data_folder_is_for_its_owner_alone() {
    let stage = Stage::new();
    let _daemon = stage.serve(&["--rehearsal"]);
    let mode =
        |path: std::path::PathBuf| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(stage.data()), 0o700);
    assert_eq!(mode(stage.data().join("auth")), 0o700);
    assert_eq!(mode(stage.data().join("auth/token")), 0o600);
    assert_eq!(mode(stage.data().join("run/serve.sock")), 0o600);
}

#[test]
fn a_unit_names_this_very_program() {
    let stage = Stage::new();
    let ran = stage.command(&["serve", "--print-unit"]).output().unwrap();
    let text = String::from_utf8(ran.stdout).unwrap();
    assert!(
        ran.status.success() && text.contains(env!("CARGO_BIN_EXE_countersign")),
        "{text}"
    );
}

#[test]
fn wrong_logins_are_slowed_down_and_the_link_stays_good() {
    let stage = Stage::new();
    let daemon = stage.serve(&["--rehearsal"]);
    let stranger = daemon.stranger();
    let code = "0".repeat(64);
    let tries: Vec<_> = (0..40)
        .map(|_| stranger.post_form("/login", &[("code", &code)]))
        .collect();
    let held = tries.iter().find(|answer| answer.status == 429);
    let held = held.unwrap_or_else(|| panic!("{:?}", tries.last()));
    assert!(held.header("retry-after").is_some(), "{held:?}");
    assert_eq!(tries[0].status, 401);
    // Who has a token is let in meanwhile, and the link can be looked at.
    let token = std::fs::read_to_string(stage.data().join("auth/token")).unwrap();
    let bearer = format!("Bearer {}", token.trim());
    let me = stranger.send("GET", "/api/v1/me", &[("authorization", &bearer)], "");
    assert_eq!(me.status, 200, "{me:?}");
    let path = daemon.link().split_once(daemon.address()).unwrap().1;
    assert_eq!(stranger.get(path).status, 200);
}
