//! How the CLI is started: what goes on its command line and into its environment.

use countersign_client::wire::control::AgentDefinition;

use crate::stage::{Stage, alone, within};

#[tokio::test]
pub(crate) async fn c25_long_options_do_not_go_on_the_command_line() {
    let long = "Be thorough. ".repeat(20_000);
    let stage = Stage::new("");
    let agent: AgentDefinition = serde_json::from_value(serde_json::json!({
        "description": "reviews", "prompt": long,
    }))
    .unwrap();
    let claude = stage
        .claude()
        .system_prompt(long.as_str())
        .agents("reviewer", agent)
        .settings(countersign_client::options::Settings::from(
            serde_json::from_value::<countersign_client::wire::Json>(
                serde_json::json!({"note": long}),
            )
            .unwrap(),
        ));
    let session = within(claude.connect()).await.unwrap();
    let argv = stage.argv();
    let longest = argv.iter().map(String::len).max().unwrap();
    let whole: usize = argv.iter().map(|word| word.len() + 1).sum();
    assert!(
        longest <= 100 << 10 && whole < 32_767,
        "{longest} of {whole}"
    );
    // And yet they arrived: in the greeting, or in files that the arguments name and the CLI can read now.
    let greeting = stage.asked("initialize")[0].to_string();
    let files = argv
        .iter()
        .filter_map(|word| std::fs::read_to_string(word).ok());
    let arrived = files.collect::<String>() + &greeting;
    assert_eq!(arrived.matches(&long).count(), 3);
    let named: Vec<_> = argv
        .iter()
        .filter(|word| std::path::Path::new(word).is_file())
        .cloned()
        .collect();
    within(session.close()).await;
    for file in named.iter().filter(|file| file.contains("countersign-")) {
        assert!(
            !std::path::Path::new(file).exists(),
            "{file} is left behind"
        );
    }
}

#[test]
pub(crate) fn c33_the_environment_of_an_outer_session_is_not_inherited() {
    let outer = [
        ("CLAUDECODE", "1"),
        ("CLAUDE_CODE_ENTRYPOINT", "cli"),
        ("CLAUDE_CODE_SSE_PORT", "1234"),
        ("NODE_OPTIONS", "--inspect"),
        ("SOMETHING_ELSE", "kept"),
    ];
    let name = "complaints::options::c33_the_environment_of_an_outer_session_is_not_inherited";
    alone(name, &outer, async {
        assert_eq!(
            std::env::var("CLAUDECODE").as_deref(),
            Ok("1"),
            "it is set here"
        );
        let stage = Stage::new("turn\n  say \"Done.\"");
        let text = stage.claude_in_this_environment().query("go").text();
        assert_eq!(within(text).await.unwrap(), "Done.");
        let env = &stage.note()["env"];
        assert_eq!(env.get("CLAUDECODE"), None);
        assert_eq!(env.get("CLAUDE_CODE_SSE_PORT"), None);
        assert_eq!(env.get("NODE_OPTIONS"), None);
        assert_ne!(env["CLAUDE_CODE_ENTRYPOINT"], "cli");
        assert_eq!(env["SOMETHING_ELSE"], "kept");
    });
}
