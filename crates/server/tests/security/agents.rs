//! Agents: what they start has the same user and can read its files, and still may not speak for the person.

use std::process::Command;

use countersign_api::Scope;
use countersign_process::Marker;
use serde_json::json;

use super::server::Server;
use super::speaker::{self, Hiding};
use super::talk::Request;

const ME: &str = "/api/v1/me";

/// As an agent's shell is started.
fn as_agent(mut command: Command) -> Command {
    command.env(Marker::NAME, "0123456789abcdef0123456789abcdef");
    command
}

fn this() -> std::path::PathBuf {
    std::env::current_exe().unwrap()
}

#[tokio::test]
async fn an_agents_process_is_refused_on_the_socket() {
    let server = Server::start().await;
    let socket = server.socket();
    let to = socket.to_str().unwrap();
    let (answer, _) = speaker::hear(speaker::command(&this(), to), Request::get(ME)).await;
    assert_eq!(answer.status, 200, "a process of the person: {answer:?}");
    for request in [
        Request::get(ME),
        Request::get(ME).bearer(&server.owner()),
        Request::post("/api/v1/login-links").json(&json!({})),
    ] {
        let (answer, _) = speaker::hear(as_agent(speaker::command(&this(), to)), request).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (403, "not_allowed"),
            "{answer:?}"
        );
        assert!(answer.body.contains("an agent"), "{answer:?}");
    }
}

#[tokio::test]
async fn an_agents_process_that_clears_its_environment_is_refused_on_the_socket() {
    let server = Server::start().await;
    let socket = server.socket();
    // The shell is the agent's; what it starts has forgotten that.
    let mut shell = as_agent(Command::new("/bin/sh"));
    shell
        .args(["-c", "env -i \"COUNTERSIGN_SPEAK_TO=$1\" \"$0\" --exact speaker::the_other_process_speaks_if_it_is_told_to --nocapture; true"])
        .arg(this())
        .arg(&socket);
    let (answer, _) = speaker::hear(shell, Request::get(ME)).await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (403, "not_allowed")
    );
}

#[tokio::test]
async fn what_a_keeper_took_in_is_refused_on_the_socket() {
    let server = Server::start().await;
    let socket = server.socket();
    let mut keeper = Command::new("/bin/sh");
    keeper
        .env(Marker::KEEPER, "1")
        .args(["-c", "env -i \"COUNTERSIGN_SPEAK_TO=$1\" \"$0\" --exact speaker::the_other_process_speaks_if_it_is_told_to --nocapture; true"])
        .arg(this())
        .arg(&socket);
    let (answer, _) = speaker::hear(keeper, Request::get(ME)).await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (403, "not_allowed")
    );
}

#[tokio::test]
async fn an_agent_that_reads_the_token_file_is_refused_over_http() {
    let server = Server::start().await;
    let to = server.name();
    let token = server.owner();
    let read = || Request::get(ME).bearer(&token);
    let (answer, _) = speaker::hear(speaker::command(&this(), &to), read()).await;
    assert_eq!(answer.status, 200, "a process of the person: {answer:?}");
    let decide = Request::post("/api/v1/approvals/01ARZ3NDEKTSV4RRFFQ69G5FAV/decision")
        .bearer(&token)
        .json(&json!({"decision": "allow", "saw": "x"}));
    let more = Request::post("/api/v1/tokens")
        .bearer(&token)
        .json(&json!({"name": "mine", "scope": "full"}));
    for request in [read(), decide, more] {
        let (answer, _) = speaker::hear(as_agent(speaker::command(&this(), &to)), request).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (403, "not_allowed"),
            "{answer:?}"
        );
    }
    assert_eq!(server.auth.list(countersign_server::clock::now()).len(), 1);
}

#[tokio::test]
async fn an_agent_that_has_a_persons_cookie_is_refused_over_http() {
    let server = Server::start().await;
    let to = server.name();
    let cookie = server.cookie(Scope::Full).await;
    // A made-up `Origin` is no help: it is not a page that speaks.
    let request = || {
        let request = Request::post("/api/v1/login-links")
            .cookie(&cookie)
            .json(&json!({}));
        request
            .header("Host", &to)
            .header("Origin", &server.origin())
    };
    let (answer, _) = speaker::hear(as_agent(speaker::command(&this(), &to)), request()).await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (403, "not_allowed")
    );
    let (answer, _) = speaker::hear(speaker::command(&this(), &to), request()).await;
    assert_eq!(answer.status, 201);
}

#[tokio::test]
async fn a_token_that_the_person_handed_to_an_agent_is_good_for_its_scope() {
    let server = Server::start().await;
    let to = server.name();
    let token = server.token("for the agent", Scope::Read);
    let agent = || as_agent(speaker::command(&this(), &to));
    let (answer, _) = speaker::hear(agent(), Request::get(ME).bearer(&token)).await;
    assert_eq!(answer.json()["name"], "for the agent");
    let request = Request::post("/api/v1/tokens")
        .bearer(&token)
        .json(&json!({}));
    let (answer, _) = speaker::hear(agent(), request).await;
    assert_eq!(answer.code(), "not_allowed");
}

// Root sees everything, so that nobody can hide from it; the tests that name who hides say what holds for either.

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[tokio::test]
async fn a_person_is_let_in_while_an_agents_process_hides_its_files() {
    let server = Server::start().await;
    let to = server.name();
    let _ssh_agent = Hiding::start(&this(), as_agent);
    let request = Request::get(ME).bearer(&server.owner());
    let (answer, _) = speaker::hear(speaker::command(&this(), &to), request).await;
    assert_eq!(answer.status, 200, "{answer:?}");
}

#[tokio::test]
async fn an_agents_process_that_hides_its_files_is_refused_over_http() {
    let server = Server::start().await;
    let to = server.name();
    let shell = as_agent(speaker::hidden_below_a_shell(&this(), &to));
    let request = Request::get(ME).bearer(&server.owner());
    let (answer, _) = speaker::hear(shell, request).await;
    let refused = (answer.status, answer.code());
    assert_eq!(refused, (403, "not_allowed".to_owned()), "{answer:?}");
    let detail = answer.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("security-"), "it is named: {detail}");
    assert_eq!(detail.contains("hides"), !is_root(), "{detail}");
}

/// Who asks for the page's own API, as a browser does at the other end of a tunnel.
async fn page(server: &Server) -> Request {
    let cookie = server.cookie(Scope::Full).await;
    let request = Request::get(ME).cookie(&cookie);
    request
        .header("Host", &server.name())
        .header("Sec-Fetch-Site", "same-origin")
}

#[tokio::test]
async fn a_page_behind_a_tunnel_that_hides_its_files_is_let_in() {
    let server = Server::start().await;
    let tunnel = speaker::hidden_below_a_shell(&this(), &server.name());
    let (answer, _) = speaker::hear(tunnel, page(&server).await).await;
    assert_eq!(answer.status, 200, "{answer:?}");
}

// An agent can have an end held by nobody who is seen, as by a mapping of the closed socket. While a process of the person hides
// its files, that looks like a tunnel, and the token is in a file that the agent can read.
#[tokio::test]
async fn the_token_of_the_file_is_refused_where_nobody_is_seen_to_hold_the_connection() {
    let server = Server::start().await;
    let to = server.name();
    let owner = server.owner();
    let sign_in = |route: &str| Request::post(route).json(&json!({"token": owner}));
    for (request, seen) in [
        (Request::get(ME).bearer(&owner), 200),
        (sign_in("/api/v1/login"), 200),
    ] {
        let hidden = speaker::hidden_below_a_shell(&this(), &to);
        let (answer, _) = speaker::hear(hidden, request).await;
        let expected = if is_root() { seen } else { 403 };
        assert_eq!(answer.status, expected, "{answer:?}");
    }
    let token = server.token("for scripts", Scope::Full);
    for request in [
        Request::get(ME).bearer(&token),
        Request::post("/api/v1/login").json(&json!({"token": token})),
    ] {
        let hidden = speaker::hidden_below_a_shell(&this(), &to);
        let (answer, _) = speaker::hear(hidden, request).await;
        assert_eq!(answer.status, 200, "a token that was made: {answer:?}");
    }
}

#[tokio::test]
async fn an_agents_process_cannot_sign_a_page_in() {
    let server = Server::start().await;
    let to = server.name();
    let link = server.code(Scope::Full);
    let by_token = Request::post("/api/v1/login").json(&json!({"token": server.owner()}));
    let by_code = || Request::post("/api/v1/login").json(&json!({"code": link}));
    for request in [by_token, by_code()] {
        let agent = as_agent(speaker::command(&this(), &to));
        let (answer, _) = speaker::hear(agent, request).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (403, "not_allowed"),
            "{answer:?}"
        );
    }
    let (answer, _) = speaker::hear(speaker::command(&this(), &to), by_code()).await;
    assert_eq!(answer.status, 200, "the link is not spent: {answer:?}");
}

#[tokio::test]
async fn a_tunnel_that_hides_waits_for_the_end_of_an_agents_process_that_hides() {
    let server = Server::start().await;
    let to = server.name();
    let try_it = || async {
        let tunnel = speaker::hidden_below_a_shell(&this(), &to);
        speaker::hear(tunnel, page(&server).await).await
    };
    let ssh_agent = Hiding::start(&this(), as_agent);
    let (answer, _) = try_it().await;
    let expected = if is_root() { 200 } else { 403 };
    assert_eq!(answer.status, expected, "{answer:?}");
    drop(ssh_agent);
    let (answer, _) = try_it().await;
    assert_eq!(answer.status, 200, "{answer:?}");
}
