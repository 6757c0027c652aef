//! Sessions that are begun over the API: what is refused, and how a folder may be named.

use serde_json::json;

use super::api;
use super::stage::Stage;

#[test]
fn an_empty_prompt_makes_no_session() {
    let stage = Stage::new();
    let daemon = stage.serve(&["--rehearsal"]);
    let browser = daemon.signed_in();
    let folder = stage.project();
    for prompt in ["", "  \n"] {
        let body = json!({"prompt": prompt, "cwd": folder});
        let answer = api::send(&browser, "POST", "/sessions", &body);
        assert_eq!(answer.status, 422, "{answer:?}");
        assert!(answer.body.contains("the prompt is empty"), "{answer:?}");
    }
    let all = api::get(&browser, "/sessions");
    assert_eq!(all["items"], json!([]), "{all:#}");
}

#[test]
fn a_folder_can_be_named_from_home() {
    let stage = Stage::new();
    let home = stage.root().join("home");
    std::fs::create_dir(home.join("work")).unwrap();
    let daemon = stage.serve(&["--rehearsal"]);
    let browser = daemon.signed_in();
    for (named, meant) in [("~", home.clone()), ("~/work", home.join("work"))] {
        let body = json!({"prompt": "hi", "cwd": named});
        let answer = api::send(&browser, "POST", "/sessions", &body);
        assert!(answer.status < 300, "{answer:?}");
        let all = api::get(&browser, "/sessions");
        let is_it = |one: &serde_json::Value| one["cwd"] == json!(meant);
        assert!(
            all["items"].as_array().unwrap().iter().any(is_it),
            "{all:#}"
        );
    }
    let shown = api::get(&browser, "/folders?path=~");
    assert!(shown["folders"].to_string().contains("work"), "{shown:#}");
}

#[test]
fn a_login_link_that_no_longer_works_says_so_and_what_to_do() {
    let stage = Stage::new();
    let daemon = stage.serve(&["--rehearsal"]);
    let page = daemon.stranger().get("/login?code=used");
    assert_eq!(page.status, 401, "{page:?}");
    let sentence = "This sign-in link no longer works. Run <code>countersign</code> for a new one.";
    assert!(page.body.contains(sentence), "{page:?}");
    assert!(page.body.contains("href=\"/login.css\""), "{page:?}");
}
