//! The figures of a period, and decisions found by words, over the API.

use countersign_host::control::Decide;

use crate::common::Served;

/// One question in each turn.
const ASKS: &str = r#"
turn always
  tool Bash {"command":"echo ${prompt} >> ran.log","description":"Leave a mark"}
  say "Done: ${prompt}."
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_period_is_summed_up_and_decisions_are_found_by_words() {
    let served = Served::new(ASKS).await;
    let client = served.client();
    let id = served.stage.start("one").await;
    let open = served.stage.open_approvals(id, 1).await;
    let waiting = client.get("/insights").await.json();
    assert_eq!(waiting["waits"]["open"], 1, "{waiting}");
    served.stage.decide(&open[0], Decide::allow()).await;
    served.stage.until_life(&open[0], "settled").await;
    served.stage.until(id, "idle").await;
    let whole = client.get("/insights?since=0&offset=120").await;
    assert!(whole.header("etag").is_some());
    let whole = whole.json();
    assert_eq!(whole["waits"]["asked"], 1, "{whole}");
    assert_eq!(whole["acts"]["by_people"], 1);
    assert_eq!(whole["by_hour"].as_array().unwrap().len(), 24);
    assert_eq!(whole["by_session"][0]["session"], id.to_string());
    assert_eq!(client.get("/insights?offset=soon").await.status, 400);
    assert_eq!(served.stranger().get("/insights").await.status, 401);
    let count = |path: &'static str| {
        let client = &client;
        async move {
            client.get(path).await.json()["items"]
                .as_array()
                .unwrap()
                .len()
        }
    };
    assert_eq!(count("/decisions?text=ran.log&people=true").await, 1);
    assert_eq!(count("/decisions?text=elsewhere").await, 0);
    assert_eq!(count("/decisions?outcome=ran").await, 1);
    assert_eq!(client.get("/decisions?outcome=eaten").await.status, 422);
}
