//! Control requests that read folders again, and those that store something.

use std::path::Path;

use countersign_client::Session;
use countersign_client::wire::Extra;
use countersign_client::wire::control::{
    PluginConfig, RegisterRepoRoot, ReloadPlugins, WritableSettings,
};
use serde_json::{Value, json};

use crate::absent::{lacking, older, show};
use crate::harness::{Cli, Verdicts};
use crate::stage::{Stage, line, lines, soon, turn, until};

cases! {
    reload {
        "control/reload_skills" => "a skill written after the start is listed",
        "control/reload_output_styles" => "a style written after the start is listed",
        "control/reload_plugins" => "a plugin is added: it is listed, and its command is in the next init",
        "control/register_repo_root" => "the folder is listed as one the agent may work in, and its instructions reach the model",
        "control/rename_session" => "announced, and the title in the transcript",
        "control/update_settings" => "written to the user's and to the local settings file",
        "control/set_has_subscribers" => "with nobody watching, the pieces of an answer are held back and joined",
    }
}

fn plugins() -> ReloadPlugins {
    ReloadPlugins {
        hold_on_cache_impact: None,
        add_plugins: None,
        refuse_if_busy: None,
        extra: Extra::default(),
    }
}

fn root(directory: &Path) -> RegisterRepoRoot {
    RegisterRepoRoot {
        directory: directory.to_string_lossy().into_owned(),
        reload_claude_md: Some(true),
        reload_plugins: None,
        reload_skills: None,
        extra: Extra::default(),
    }
}

async fn reload(cli: Cli) -> Verdicts {
    if !cli.is_newest() {
        return not_there(&cli).await;
    }
    let stage = cli.stage(PACED).await;
    stage.sandbox.git_init().unwrap();
    let claude = stage
        .claude()
        .include_partial_messages(true)
        .env("CLAUDE_CODE_STREAM_EVENT_HOLD_MS", "1")
        .env("CLAUDE_CODE_STREAM_EVENT_NO_SUBSCRIBER_HOLD_MS", "10000");
    let mut session = claude.connect().await.unwrap();
    skill_and_style(&stage, &session).await;
    plugin(&stage, &session).await;
    nest(&stage, &mut session).await;
    let watched = deltas(&mut session).await;
    session.set_has_subscribers(Some(false)).await.unwrap();
    let unwatched = deltas(&mut session).await;
    assert!(
        watched > 2 * unwatched,
        "{watched} pieces, then {unwatched}"
    );
    title(&stage, &mut session).await;
    settings(&stage, &session).await;
    Verdicts::all(features::reload())
}

async fn not_there(cli: &Cli) -> Verdicts {
    let (_stage, session) = older(cli).await;
    let plugin = session.reload_plugins(plugins());
    let root = session.register_repo_root(root(Path::new("/")));
    let update = session.update_settings(WritableSettings::UserSettings, json!({}).into());
    let styles = session.reload_output_styles();
    let subscribers = session.set_has_subscribers(None);
    let requests = vec![
        lacking("control/reload_skills", session.reload_skills()),
        lacking("control/reload_output_styles", styles),
        lacking("control/reload_plugins", plugin),
        lacking("control/register_repo_root", root),
        lacking("control/rename_session", session.rename_session("x")),
        lacking("control/update_settings", update),
        lacking("control/set_has_subscribers", subscribers),
    ];
    show(cli, &session, requests).await
}

async fn nest(stage: &Stage, session: &mut Session) {
    let nest = stage.path("nest");
    let word = "The word of this nest is kestrel.";
    stage.sandbox.write("nest/CLAUDE.md", word).unwrap();
    session.register_repo_root(root(&nest)).await.unwrap();
    let listed = session.permission_rules().await.unwrap().state;
    let mut directories = listed.workspace_directories.iter();
    assert!(directories.any(|listed| Path::new(&listed.path) == nest));
    let (init, _) = turn(session, "Hello").await;
    assert!(stage.last_asked().to_string().contains(word));
    // The plugin of before.
    let commands = init["slash_commands"].as_array().unwrap();
    assert!(commands.contains(&"birds:sing".into()), "{init}");
}

async fn skill_and_style(stage: &Stage, session: &Session) {
    let skill = "---\nname: herons\ndescription: On herons\n---\nHerons.\n";
    stage
        .sandbox
        .write(".claude/skills/herons/SKILL.md", skill)
        .unwrap();
    let skills = session.reload_skills().await.unwrap();
    assert!(
        skills.iter().any(|skill| skill.name == "herons"),
        "{skills:?}"
    );
    let style = "---\nname: Terse\ndescription: Few words\n---\nBe brief.\n";
    stage
        .sandbox
        .write(".claude/output-styles/terse.md", style)
        .unwrap();
    let styles = session.reload_output_styles().await.unwrap();
    assert!(styles.contains(&"Terse".to_owned()), "{styles:?}");
}

async fn plugin(stage: &Stage, session: &Session) {
    let manifest = r#"{"name":"birds","version":"1.0.0"}"#;
    stage
        .sandbox
        .write("birds/.claude-plugin/plugin.json", manifest)
        .unwrap();
    let command = "---\ndescription: Sings\n---\nSing.\n";
    stage
        .sandbox
        .write("birds/commands/sing.md", command)
        .unwrap();
    let mut request = plugins();
    request.add_plugins = Some(vec![PluginConfig {
        kind: "local".into(),
        path: stage.path("birds").to_string_lossy().into_owned(),
        skip_mcp_discovery: None,
        extra: Extra::default(),
    }]);
    let reply = session.reload_plugins(request).await.unwrap();
    assert!(
        reply.plugins.iter().any(|plugin| plugin.name == "birds"),
        "{:?}",
        reply.plugins
    );
}

async fn title(stage: &Stage, session: &mut Session) {
    let title = "All about herons";
    session.rename_session(title).await.unwrap();
    let is_told =
        |line: &Value| line["subtype"] == "session_title_changed" && line["title"] == title;
    line(&mut session.events, "the title", is_told).await;
    until("the title in the transcript", || {
        stage.title().as_deref() == Some(title)
    })
    .await;
}

async fn settings(stage: &Stage, session: &Session) {
    let local = json!({"outputStyle": "Explanatory"});
    let written = session.update_settings(WritableSettings::LocalSettings, local.clone().into());
    written.await.unwrap();
    let user = json!({"effortLevel": "low"});
    let written = session.update_settings(WritableSettings::UserSettings, user.into());
    written.await.unwrap();
    let kept = stage.read(".claude/settings.local.json").unwrap();
    assert_eq!(serde_json::from_str::<Value>(&kept).unwrap(), local);
    // The level is kept by model.
    let kept = stage.read_home(".claude/settings.json").unwrap();
    assert!(kept.contains(r#""effortLevel": "low""#), "{kept}");
}

const PACED: &str = r#"
reply always
  pace 20ms
  chunk 4
  say "One two three four five six seven eight nine ten eleven twelve."
"#;

/// How many pieces an answer comes in.
async fn deltas(session: &mut Session) -> usize {
    lines(&mut session.events);
    let turn = session.send("Count").await.unwrap();
    soon("the result", turn).await.unwrap();
    let lines = lines(&mut session.events);
    let pieces = lines
        .iter()
        .filter(|line| line["event"]["type"] == "content_block_delta");
    pieces.count()
}
