//! Servers inside the host, and the time limits around them.

use std::time::Duration;

use countersign_client::Claude;
use countersign_client::mcp::{Server, schemars, schemars::JsonSchema};

use crate::stage::{Stage, in_process, within};

#[derive(serde::Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[tokio::test]
pub(crate) async fn c23_one_server_serves_many_sessions_at_once() {
    let calc = Server::new("calc").tool("add", "Adds", |add: Add| async move { add.a + add.b });
    let stages: Vec<Stage> = (0..3)
        .map(|n| {
            Stage::new(&format!(
                r#"turn
                     mcp calc {{"method":"tools/call","params":{{"name":"add","arguments":{{"a":{n},"b":40}}}}}}
                     say "Added.""#
            ))
        })
        .collect();
    let mut sessions = Vec::new();
    for stage in &stages {
        sessions.push(
            within(stage.claude().mcp(calc.clone()).connect())
                .await
                .unwrap(),
        );
    }
    for session in &sessions {
        let result = within(session.send("go").await.unwrap()).await.unwrap();
        assert_eq!(result.text(), "Added.");
    }
    for (n, stage) in stages.iter().enumerate() {
        let answers = stage.answers();
        let sum = format!("\"text\":\"{}\"", 40 + n);
        let last = answers.last().unwrap().to_string();
        assert!(last.contains(&sum), "{last}");
    }
}

#[tokio::test(start_paused = true)]
pub(crate) async fn c24_the_limits_that_are_set_are_the_only_ones() {
    // Longer than the hidden limits of others (60 s, 300 s), in both directions.
    let (peer, cli) = in_process(
        r#"reply late 350s mcp_status
           reply never get_settings
           turn
             mcp slow {"method":"tools/call","params":{"name":"brew","arguments":{}}}
             say "Served.""#,
    );
    let slow = Server::new("slow").tool("brew", "Takes its time", |(): ()| async {
        tokio::time::sleep(Duration::from_secs(1000)).await;
        "tea"
    });
    let claude = Claude::new().mcp(slow);
    let claude = claude.bounds(|bounds| bounds.control_timeout = Duration::from_secs(400));
    let session = claude.connect_over(peer).await.unwrap();
    let started = tokio::time::Instant::now();
    session.mcp_status().await.unwrap();
    assert!(started.elapsed() >= Duration::from_secs(350));
    let started = tokio::time::Instant::now();
    let error = session.settings().await.unwrap_err();
    assert!(error.is_timeout(), "{error}");
    let waited = started.elapsed().as_secs();
    assert!((399..=401).contains(&waited), "{waited} s");
    let started = tokio::time::Instant::now();
    let result = session.send("go").await.unwrap().await.unwrap();
    assert_eq!(result.text(), "Served.");
    assert!(started.elapsed() >= Duration::from_secs(1000));
    session.close().await;
    assert_eq!(cli.await.unwrap().unwrap().code, Some(0));
}
