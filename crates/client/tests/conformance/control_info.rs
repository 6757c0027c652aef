//! Control requests that only tell something: what they tell must be what is.

use countersign_client::wire::Json;
use countersign_client::wire::control::ListedRule;
use countersign_client::{Session, TurnResult};
use serde_json::{Value, json};

use crate::absent::{lacking, older, show};
use crate::harness::{Cli, Verdicts};
use crate::stage::{Stage, answer, turn};

cases! {
    what_is {
        "control/get_binary_version" => "the version of the CLI that runs",
        "control/get_session_cost" => "the cost that the result told, as text",
        "control/get_usage" => "cost and tokens as the result told them",
        "control/list_models" => "the models of the greeting",
        "control/get_context_usage" => "the model in use, and what fills its context",
        "control/get_settings" => "the settings of the command line, and where they come from",
        "control/get_hooks_listing" => "the hook of the project's settings",
        "control/list_permission_rules" => "the rules of the command line and of the settings",
        "control/file_suggestions" => "the file that fits what was typed",
        "control/read_file" => "the file's contents",
    }
}

const SCRIPT: &str = "reply\n  say \"Well.\"\n  usage input=1000 output=200\n";

async fn what_is(cli: Cli) -> Verdicts {
    if !cli.is_newest() {
        return not_told(&cli).await;
    }
    let stage = cli.stage(SCRIPT).await;
    stage.sandbox.git_init().unwrap();
    let write = |path: &str, text: &str| stage.sandbox.write(path, text).unwrap();
    write("src/heron.txt", "a grey bird\n");
    let hook = json!([{"hooks": [{"type": "command", "command": "true # on stop"}]}]);
    write(
        ".claude/settings.json",
        &json!({"hooks": {"Stop": hook}}).to_string(),
    );
    let claude = stage
        .claude()
        .settings(json!({"cleanupPeriodDays": 77, "permissions": {"deny": ["Bash(rm:*)"]}}))
        .allowed_tools(["Bash(git log:*)"]);
    let mut session = claude.connect().await.unwrap();
    let (_, result) = turn(&mut session, "Hello").await;
    assert_eq!(
        session.binary_version().await.unwrap().version,
        cli.version()
    );
    figures(&session, &result).await;
    settings(&session).await;
    files(&session, &stage).await;
    Verdicts::all(features::what_is())
}

async fn not_told(cli: &Cli) -> Verdicts {
    let (stage, session) = older(cli).await;
    let file = stage.path("x");
    let requests = vec![
        lacking("control/get_binary_version", session.binary_version()),
        lacking("control/get_session_cost", session.session_cost()),
        lacking("control/get_usage", session.usage()),
        lacking("control/list_models", session.models()),
        lacking("control/get_context_usage", session.context_usage(None)),
        lacking("control/get_settings", session.settings()),
        lacking("control/get_hooks_listing", session.hooks_listing()),
        lacking("control/list_permission_rules", session.permission_rules()),
        lacking("control/file_suggestions", session.file_suggestions("x")),
        lacking("control/read_file", session.read_file(&file)),
    ];
    show(cli, &session, requests).await
}

async fn figures(session: &Session, result: &TurnResult) {
    let told = result.message().unwrap();
    let cost = result.total_cost_usd().unwrap();
    assert!(cost > 0.0);
    let text = session.session_cost().await.unwrap();
    assert!(text.contains(&format!("${cost:.4}")), "{cost} in {text}");
    let totals = session.usage().await.unwrap().session;
    assert_eq!(totals.total_cost_usd, told.total_cost_usd);
    assert_eq!(told.usage.input_tokens.unwrap().as_u64(), 1000);
    let models = session.models().await.unwrap();
    assert_eq!(models, session.initialize_reply().unwrap().models);
    let context = session.context_usage(None).await.unwrap();
    assert_eq!(Some(context.model.as_str()), session.model().as_deref());
    let used = context
        .categories
        .iter()
        .filter(|share| share.kind.as_str() == "used");
    let sum: u64 = used.map(|share| share.tokens.as_u64()).sum();
    assert!(
        sum > 0 && context.total_tokens.as_u64() >= sum,
        "{context:?}"
    );
}

async fn settings(session: &Session) {
    let value = |json: &Json| json.to_value().unwrap();
    let settings = session.settings().await.unwrap();
    assert_eq!(value(&settings.effective)["cleanupPeriodDays"], 77);
    let layer = |source: &str| -> Value {
        let mut layers = settings.sources.iter();
        let found = layers.find(|layer| layer.source.as_str() == source);
        value(
            &found
                .unwrap_or_else(|| panic!("{source} in {settings:?}"))
                .settings,
        )
    };
    assert_eq!(layer("flagSettings")["cleanupPeriodDays"], 77);
    assert!(layer("projectSettings")["hooks"]["Stop"].is_array());
    let listing = session.hooks_listing().await.unwrap();
    let [hook] = &listing.hooks[..] else {
        panic!("{listing:?}")
    };
    let command = (hook.event.as_str(), hook.command_text.as_str());
    assert_eq!(command, ("Stop", "true # on stop"));
    let rules = session.permission_rules().await.unwrap().state.rules;
    let is = |rule: &ListedRule, words: [&str; 3]| {
        words == [rule.behavior.as_str(), rule.source.as_str(), &rule.rule]
    };
    for words in [
        ["allow", "cliArg", "Bash(git log:*)"],
        ["deny", "flagSettings", "Bash(rm:*)"],
    ] {
        assert!(
            rules.iter().any(|rule| is(rule, words)),
            "{words:?} in {rules:?}"
        );
    }
}

async fn files(session: &Session, stage: &Stage) {
    let path = stage.path("src/heron.txt");
    let read = session.read_file(&path).await.unwrap();
    assert_eq!(read.contents, "a grey bird\n");
    // The CLI looks through the folder in the background; until then it suggests nothing.
    let suggested = || async {
        let reply = session.file_suggestions("heron").await.unwrap();
        let mut files = reply.suggestions.into_iter();
        files.find(|file| file.path.ends_with("src/heron.txt"))
    };
    answer("a suggestion", suggested).await;
}
