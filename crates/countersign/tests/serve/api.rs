//! The API as a script uses it: with the cookie of a page that is signed in.
//!
//! Owns JSON to and from a [`Browser`], and the questions that are open.

use serde_json::{Value, json};

use super::http::{Answer, Browser};
use super::stage::until;

/// Sends JSON to something below the API.
pub(crate) fn send(browser: &Browser, method: &str, path: &str, body: &Value) -> Answer {
    let origin = format!("http://{}", browser.address);
    let headers = [
        ("origin", origin.as_str()),
        ("content-type", "application/json"),
    ];
    let path = format!("/api/v1{path}");
    browser.send(method, &path, &headers, &body.to_string())
}

/// What is at a path of the API.
#[track_caller]
pub(crate) fn get(browser: &Browser, path: &str) -> Value {
    let answer = browser.get(&format!("/api/v1{path}"));
    assert_eq!(answer.status, 200, "{path}: {answer:?}");
    serde_json::from_str(&answer.body).unwrap_or_else(|error| panic!("{error}: {answer:?}"))
}

/// The only open question, once there is one that holds these words.
#[track_caller]
pub(crate) fn question(browser: &Browser, words: &str) -> Value {
    until(words, || {
        let open = get(browser, "/approvals?state=open");
        match open["items"].as_array().unwrap().as_slice() {
            [one] if one["input"].to_string().contains(words) => Ok(one.clone()),
            _ => Err(format!("{open:#}")),
        }
    })
}

/// Decides a question: `{"decision": …}`.
pub(crate) fn decide(browser: &Browser, question: &Value, decision: Value) -> Answer {
    let mut body = decision;
    body["saw"] = question["digest"].clone();
    let id = question["id"].as_str().unwrap();
    send(browser, "POST", &format!("/approvals/{id}/decision"), &body)
}

/// Refuses a question.
#[track_caller]
pub(crate) fn deny(browser: &Browser, question: &Value) {
    let answer = decide(
        browser,
        question,
        json!({"decision": "deny", "message": "no"}),
    );
    assert_eq!(answer.status, 200, "{answer:?}");
}

/// Allows a question.
#[track_caller]
pub(crate) fn allow(browser: &Browser, question: &Value) {
    let answer = decide(browser, question, json!({"decision": "allow"}));
    assert_eq!(answer.status, 200, "{answer:?}");
}
