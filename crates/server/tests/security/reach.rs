//! A token that may answer: it settles a question as it was asked, and reaches no further by any way there is.

use countersign_api::Scope;
use countersign_api::control::ApprovalView;
use serde_json::{Value, json};

use super::common::{Client, Served};

const ASKS: &str = "turn\n  tool Bash {\"command\":\"touch made\"}\n  say \"done\"\n";
const PLANS: &str =
    "turn\n  ask ExitPlanMode {\"plan\":\"1. Look\\n2. Change\"} gives \"ok\"\n  say \"done\"\n";

/// A question that waits, and somebody who may only answer it.
async fn asked(scenario: &str) -> (Served, Client, ApprovalView) {
    let served = Served::new(scenario).await;
    let id = served.stage.start("go").await;
    let asked = served.stage.open_approvals(id, 1).await.remove(0);
    let phone = served.client_as("phone", Scope::Answer);
    (served, phone, asked)
}

/// Tries these decisions by both routes. All of them are refused, and the question waits on.
async fn refused(served: &Served, phone: &Client, asked: &ApprovalView, decisions: &[Value]) {
    for decision in decisions {
        let mut body = decision.clone();
        body["saw"] = json!(asked.digest);
        body["others"] = json!([]);
        for route in ["decision", "decision/alike"] {
            let path = format!("/approvals/{}/{route}", asked.id);
            let answer = phone.send("POST", &path, &body).await;
            let told = answer.json();
            assert_eq!(
                (answer.status, &told["code"]),
                (403, &json!("not_allowed")),
                "{body}: {told}"
            );
            assert!(
                told["detail"].as_str().unwrap().contains("scope `full`"),
                "{told}"
            );
        }
    }
    let open = served.stage.open_approvals(asked.session, 1).await;
    assert_eq!(open[0].id, asked.id);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_token_makes_no_rule_no_mode_no_folder_and_no_other_call() {
    let (served, phone, asked) = asked(ASKS).await;
    let remember =
        |scope: &str| json!({"decision": "allow", "remember": {"rules": ["Bash"], "scope": scope}});
    let wide = [
        json!({"decision": "allow", "updated_input": {"command": "touch other"}}),
        remember("session"),
        remember("repository"),
        remember("always"),
        json!({"decision": "allow", "mode": {"mode": "edits"}}),
        json!({"decision": "allow", "mode": {"mode": "hands-off", "until": super::common::now() + 60_000_000}}),
        json!({"decision": "allow", "add_dirs": ["/srv"]}),
    ];
    refused(&served, &phone, &asked, &wide).await;
    let rules = served.client().get("/rules").await.json();
    assert!(!rules.to_string().contains("\"Bash\""), "{rules}");

    let path = format!("/approvals/{}/decision", asked.id);
    let body = json!({"decision": "allow", "saw": asked.digest});
    let answer = phone.send("POST", &path, &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    served.stage.until(asked.session, "idle").await;
    assert!(served.stage.project().join("made").exists());
    assert!(!served.stage.project().join("other").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_token_takes_a_plan_as_it_is_or_sends_it_back() {
    let (served, phone, asked) = asked(PLANS).await;
    let wide = [
        json!({"decision": "plan", "choice": "clear-context"}),
        json!({"decision": "plan", "choice": "accept-edits"}),
        json!({"decision": "plan", "choice": "manual", "plan": "1. Something else"}),
        json!({"decision": "plan", "choice": "manual", "allowed_prompts": [0]}),
        json!({"decision": "plan", "choice": "manual", "rules": ["Bash(ls)"]}),
    ];
    refused(&served, &phone, &asked, &wide).await;
    let path = format!("/approvals/{}/decision", asked.id);
    let body = json!({"decision": "plan", "choice": "manual", "saw": asked.digest});
    let answer = phone.send("POST", &path, &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    served.stage.until(asked.session, "idle").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_plain_page_offers_an_answer_token_its_answers_and_takes_no_others() {
    let (served, phone, asked) = asked(ASKS).await;
    let page = format!("/plain/sessions/{}", asked.session);
    let (narrow, wide) = (
        phone.ask("GET", &page, &[], b"").await.text(),
        served.client().ask("GET", &page, &[], b"").await.text(),
    );
    assert!(wide.contains("name=\"remember\""), "{wide}");
    assert!(!narrow.contains("name=\"remember\""), "{narrow}");
    assert!(narrow.contains("value=\"allow\""), "{narrow}");

    let offered = |offer: &countersign_api::control::approval::Offer| !offer.rules.is_empty();
    let place = asked.offers.iter().position(offered).unwrap();
    let path = format!("/plain/approvals/{}", asked.id);
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let fields = format!("saw={}&key=one&decision=allow", asked.digest.as_str());
    let kept = format!("{fields}&remember={place}");
    let answer = phone.ask("POST", &path, &form, kept.as_bytes()).await;
    assert_eq!(answer.status, 403, "{}", answer.text());
    let answer = phone.ask("POST", &path, &form, fields.as_bytes()).await;
    assert_eq!(answer.status, 303, "{}", answer.text());
    served.stage.until(asked.session, "idle").await;
}
