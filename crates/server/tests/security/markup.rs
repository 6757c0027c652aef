//! What agents and people write, as it is served: never markup, never a header.
//!
//! Owns a reader of tags that knows every tag, attribute and address our pages may have, so that whatever gets through the
//! escaping is found, however it is spelt.

use countersign_api::Scope;
use serde_json::{Value, json};

use super::common::{Client, Served};

/// Would end an attribute, a tag, a title, a text field, and begin a script.
const EVIL: &str =
    "\"'></title></textarea></pre><script>alert(1)</script><img src=x onerror=alert(2)>";

/// As it stands within the quotes of JSON in a scenario.
fn evil() -> String {
    let quoted = Value::from(EVIL).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

const TAGS: [&str; 43] = [
    "!doctype", "html", "head", "meta", "link", "title", "body", "header", "main", "h1", "h2",
    "h3", "p", "a", "strong", "span", "br", "article", "pre", "form", "input", "label", "textarea",
    "button", "div", "fieldset", "legend", "table", "thead", "tbody", "tr", "th", "td", "dl", "dt",
    "dd", "select", "option", "code", "ul", "li", "section", "nav",
];

/// The tags of a page with their attributes, as a browser reads them.
fn tags(page: &str) -> Vec<(String, Vec<(String, String)>)> {
    let mut found = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        rest = rest[at + 1..].trim_start_matches('/');
        let end = rest
            .find(|c: char| c.is_whitespace() || c == '>')
            .unwrap_or(rest.len());
        let name = rest[..end].to_lowercase();
        rest = &rest[end..];
        let mut attributes = Vec::new();
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
            if rest.is_empty() || rest.starts_with('>') {
                break;
            }
            let end = rest
                .find(|c: char| c.is_whitespace() || "=>".contains(c))
                .unwrap_or(rest.len());
            let key = rest[..end].to_lowercase();
            rest = &rest[end..];
            let mut value = String::new();
            if let Some(quoted) = rest.strip_prefix("=\"") {
                let end = quoted.find('"').unwrap_or(quoted.len());
                value = quoted[..end].to_owned();
                rest = quoted.get(end + 1..).unwrap_or_default();
            } else if let Some(bare) = rest.strip_prefix('=') {
                let end = bare
                    .find(|c: char| c.is_whitespace() || c == '>')
                    .unwrap_or(bare.len());
                value = bare[..end].to_owned();
                rest = &bare[end..];
            }
            attributes.push((key, value));
        }
        found.push((name, attributes));
    }
    found
}

/// Nothing on this page but what is ours, and nothing on it leads elsewhere or runs.
#[track_caller]
fn is_ours(page: &str) {
    for (name, attributes) in tags(page) {
        assert!(TAGS.contains(&name.as_str()), "<{name}> in {page}");
        for (key, value) in attributes {
            assert!(
                !key.starts_with("on") && key != "style" && key != "srcdoc",
                "{name} {key} in {page}"
            );
            if ["href", "action", "src", "formaction"].contains(&key.as_str()) {
                let is_near =
                    (value.starts_with('/') && !value.starts_with("//")) || value.starts_with('?');
                assert!(is_near, "{key}={value} in {page}");
            }
        }
    }
}

async fn page(client: &Client, path: &str) -> String {
    let page = client.ask("GET", path, &[], b"").await;
    assert_eq!(page.status, 200, "{}", page.text());
    assert_eq!(
        page.header("content-type"),
        Some("text/html; charset=utf-8")
    );
    let policy = page.header("content-security-policy").unwrap();
    assert!(
        policy.contains("default-src 'none'") && !policy.contains("unsafe"),
        "{policy}"
    );
    is_ours(&page.text());
    page.text()
}

#[test]
fn the_reader_of_tags_finds_what_is_not_ours() {
    for (bad, what) in [
        ("<p><script>x</script>", "script"),
        ("<p onclick=x>", "onclick"),
        ("<a href=\"javascript:alert(1)\">", "javascript"),
        ("<a href=//evil.example>", "evil"),
        ("<IMG/src=x>", "img"),
        ("<form action=\"https://evil.example\">", "evil"),
    ] {
        let caught = std::panic::catch_unwind(|| is_ours(bad));
        assert!(caught.is_err(), "{what}");
    }
    is_ours("<p class=\"x\"><a href=\"/plain\">a &lt;b&gt;</a></p>");
}

#[tokio::test(flavor = "multi_thread")]
async fn names_of_sessions_files_and_tools_and_what_tools_print_are_text_on_a_page() {
    let evil = evil();
    let scenario = format!(
        "turn\n  tool Read {{\"file_path\":\"${{cwd}}/{evil}\"}} gives \"{evil}\"\n  \
         ask mcp__<b>x</b>__{} {{\"{evil}\":\"{evil}\"}} gives \"{evil}\"\n",
        "y"
    );
    let served = Served::new(&scenario).await;
    let client = served.client();
    let body = json!({"prompt": EVIL, "name": EVIL, "cwd": served.stage.project()});
    let made = client.send("POST", "/sessions", &body).await;
    assert_eq!(made.status, 201, "{}", made.text());
    let id = made.json()["did"]["session"].as_str().unwrap().to_owned();
    let id = id.parse().unwrap();
    served.stage.open_approvals(id, 1).await;
    let one = page(&client, &format!("/plain/sessions/{id}")).await;
    assert!(one.contains("&lt;img src=x onerror=alert(2)&gt;"), "{one}");
    assert!(one.contains("mcp__&lt;b&gt;x"), "{one}");
    assert!(
        one.contains("<title>&quot;&#39;&gt;&lt;/title&gt;"),
        "{one}"
    );
    let home = page(&client, "/plain").await;
    assert!(home.contains("&lt;script&gt;"), "{home}");
}

#[tokio::test(flavor = "multi_thread")]
async fn markdown_of_an_agent_becomes_no_link_and_no_image() {
    let scenario = "turn\n  say \"[x](javascript:alert(1)) ![y](http://evil.example/p.png) <javascript:alert(2)> <a href=//evil.example>z</a> **b**\"\n";
    let served = Served::new(scenario).await;
    let id = served.stage.start("[x](javascript:alert(3))").await;
    served.stage.until(id, "idle").await;
    let one = page(&served.client(), &format!("/plain/sessions/{id}")).await;
    assert!(
        one.contains("[x](javascript:alert(1))"),
        "as it was written: {one}"
    );
    assert!(one.contains("&lt;a href=//evil.example&gt;"), "{one}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_text_of_a_plan_and_the_labels_of_a_question_are_text_and_come_back_whole() {
    let evil = evil();
    let scenario = format!(
        "turn\n  tool EnterPlanMode {{}}\n  tool Write {{\"file_path\":\"${{plan_file}}\",\"content\":\"# {evil}\"}}\n  tool ExitPlanMode {{}}\n  \
         tool AskUserQuestion {{\"questions\":[{{\"question\":\"Which {evil}?\",\"header\":\"Which\",\"multiSelect\":false,\"options\":[{{\"label\":\"A {evil}\",\"description\":\"{evil}\"}},{{\"label\":\"B\",\"description\":\"b\"}}]}}]}}\n  say \"It was ${{result}}\"\n"
    );
    let served = Served::new(&scenario).await;
    let client = served.client();
    let id = served.stage.start("go").await;
    let decide = async |body: String| {
        let asked = served.stage.open_approvals(id, 1).await.remove(0);
        let path = format!("/plain/approvals/{}", asked.id);
        let body = format!("saw={}&key=k&{body}", asked.digest.as_str());
        let form = [("content-type", "application/x-www-form-urlencoded")];
        let done = client.ask("POST", &path, &form, body.as_bytes()).await;
        assert_eq!(done.status, 303, "{}", done.text());
        served.stage.until_life(&asked, "settled").await;
    };
    let mut shown = page_with(&served, id, "<article class=\"asks\">").await;
    if !shown.contains("name=\"choice\"") {
        // Whether it may plan at all.
        decide("decision=allow".to_owned()).await;
        shown = page_with(&served, id, "name=\"choice\"").await;
    }
    assert!(shown.contains("# &quot;&#39;&gt;&lt;/title&gt;"), "{shown}");
    decide("decision=plan&choice=manual".to_owned()).await;
    let shown = page_with(&served, id, "Which &quot;").await;
    assert!(shown.contains("value=\"A &quot;&#39;&gt;"), "{shown}");
    let label: String = format!("A {EVIL}")
        .bytes()
        .map(|byte| format!("%{byte:02X}"))
        .collect();
    decide(format!("decision=answer&q0={label}")).await;
    served.stage.until(id, "idle").await;
    let story = served.stage.story(id);
    assert!(story.contains("It was"), "{story}");
    let last = page(&client, &format!("/plain/sessions/{id}")).await;
    assert!(
        last.contains("A &quot;&#39;&gt;&lt;/title&gt;"),
        "the whole label was the answer: {last}"
    );
}

/// The page of a session, once it holds this.
async fn page_with(
    served: &Served,
    id: countersign_host::control::SessionId,
    words: &str,
) -> String {
    let client = Client::new(
        served.address,
        Some(served.token(&format!("looks for {}", words.len()), Scope::Full)),
    );
    let until = std::time::Instant::now() + super::common::DEADLINE;
    loop {
        let shown = page(&client, &format!("/plain/sessions/{id}")).await;
        if shown.contains(words) {
            return shown;
        }
        assert!(std::time::Instant::now() < until, "{words} in {shown}");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_asks_and_the_name_of_a_token_are_text_on_a_page() {
    let evil = evil();
    let scenario = format!(
        "turn\n  elicit calc \"{evil}\" {{\"type\":\"object\",\"properties\":{{\"{evil}\":{{\"type\":\"string\",\"title\":\"{evil}\"}}}}}}\n"
    );
    let served = Served::new(&scenario).await;
    let id = served.stage.start("go").await;
    served.stage.open_approvals(id, 1).await;
    let client = served.client_as("<b onclick=x>\"me\"</b>", Scope::Full);
    let one = page(&client, &format!("/plain/sessions/{id}")).await;
    assert!(
        one.contains("alert(2)&gt;") && one.contains("name=\"values\""),
        "{one}"
    );
    let home = page(&client, "/plain").await;
    assert!(home.contains("&lt;b onclick=x&gt;&quot;me&quot;"), "{home}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_problem_as_a_page_quotes_as_text() {
    let served = Served::new("turn\n  tool Bash {\"command\":\"true\"}\n").await;
    let client = served.client();
    let id = served.stage.start("go").await;
    let asked = served.stage.open_approvals(id, 1).await.remove(0);
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let path = format!("/plain/approvals/{}", asked.id);
    let encoded: String = EVIL.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let body = format!("saw=x&key=k&decision={encoded}");
    let answer = client.ask("POST", &path, &form, body.as_bytes()).await;
    assert_eq!(answer.status, 422, "{}", answer.text());
    is_ours(&answer.text());
    assert!(
        answer.text().contains("&lt;script&gt;"),
        "{}",
        answer.text()
    );
    let body = format!("id={id}&prompt=x&cwd=/{encoded}");
    let answer = client
        .ask("POST", "/plain/sessions", &form, body.as_bytes())
        .await;
    assert!((400..500).contains(&answer.status), "{}", answer.text());
    is_ours(&answer.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_sent_is_named_by_us_and_is_never_a_page() {
    let served = Served::new(&format!("turn\n  say \"{}\"\n", evil())).await;
    let client = served.client();
    let name = "x\"; filename=\"evil.html\r\nX-Bad: y\r\n\r\n<script>";
    let body = json!({"prompt": name, "name": name, "cwd": served.stage.project()});
    let made = client.send("POST", "/sessions", &body).await;
    assert_eq!(made.status, 201, "{}", made.text());
    let id = made.json()["did"]["session"].as_str().unwrap().to_owned();
    served.stage.until(id.parse().unwrap(), "idle").await;
    for (path, file) in [
        (
            format!("/sessions/{id}/export"),
            format!("attachment; filename=\"{id}.ndjson\""),
        ),
        (
            "/decisions/export".to_owned(),
            "attachment; filename=\"decisions.ndjson\"".to_owned(),
        ),
        (
            "/decisions/export?format=csv".to_owned(),
            "attachment; filename=\"decisions.csv\"".to_owned(),
        ),
    ] {
        let answer = client.get(&path).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(answer.header("content-disposition"), Some(file.as_str()));
        is_no_page(&answer, &path);
    }
    for path in [
        "/sessions".to_owned(),
        format!("/sessions/{id}/transcript"),
        format!("/sessions/{id}/events?follow=false"),
        format!("/sessions/{id}/records/1-1"),
        "/search?q=script".to_owned(),
        "/webhooks".to_owned(),
        "/nothing/%3Cscript%3E".to_owned(),
        format!("/sessions/{id}/transcript?before=%3Cscript%3E"),
    ] {
        is_no_page(&client.get(&path).await, &path);
    }
}

/// A browser that is led here shows it as data, whatever stands in it.
#[track_caller]
fn is_no_page(answer: &super::common::http::Answer, path: &str) {
    let kind = answer.header("content-type").unwrap_or_default();
    assert!(
        !kind.is_empty() && !kind.contains("html") && !kind.contains("xml"),
        "{path}: {kind}"
    );
    assert_eq!(
        answer.header("x-content-type-options"),
        Some("nosniff"),
        "{path}"
    );
    assert!(answer.header("x-bad").is_none(), "{path}");
    let policy = answer.header("content-security-policy").unwrap_or_default();
    assert!(policy.contains("default-src 'none'"), "{path}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_of_a_webhook_or_template_is_a_name_and_reaches_no_header() {
    let served = Served::new("turn\n  say \"x\"\n").await;
    let client = served.client();
    let to = json!({"to": {"kind": "webhook", "url": "http://127.0.0.1:9/", "secret": "words of this test"}});
    for name in [
        "%3Cscript%3E",
        "a%0d%0aX-Bad:%20y",
        "..%2f..",
        "%00",
        &"x".repeat(5_000),
    ] {
        for (path, body) in [
            (format!("/webhooks/{name}"), &to),
            (format!("/templates/{name}"), &json!({})),
        ] {
            let answer = client.send("PUT", &path, body).await;
            assert!(answer.status < 500, "{path}: {}", answer.text());
            is_no_page(&answer, &path);
        }
    }
    let all = client.get("/webhooks").await;
    assert_eq!(all.header("content-type"), Some("application/json"));
    let names = all.json();
    for one in names.as_array().unwrap() {
        let name = one["name"].as_str().unwrap();
        assert!(
            name.len() <= 200 && !name.chars().any(char::is_control),
            "{name:?}"
        );
    }
}
