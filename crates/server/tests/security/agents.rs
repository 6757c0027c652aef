//! Agents: what they start has the same user and can read its files, and still may not speak for the person.

use std::process::Command;

use countersign_api::Scope;
use countersign_process::Marker;
use serde_json::json;

use super::server::Server;
use super::speaker;
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
