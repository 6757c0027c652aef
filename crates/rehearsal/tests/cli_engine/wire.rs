//! What the scripted CLI says is what the wire types know: nothing in it is unknown, broken or lost.

use std::collections::BTreeSet;

use countersign_wire::CliMessage;
use countersign_wire::control::{self, Request};
use countersign_wire::decode::decode;
use countersign_wire::inspect::{At, Inspect, Novelty};
use serde_json::{Value, json};

use super::Run;

const VERSIONS: [&str; 4] = ["2.1.325", "2.1.197", "2.1.62", "2.0.75"];
const EVERYTHING: &str = r#"
flags --include-partial-messages --replay-user-messages
turn
  think "Hm."
  say "Text."
  stream "A longer text, in several pieces."
  ask Bash {"command":"ls","description":"Look"} gives "out"
  ask Write {"file_path":"/a","content":"b"}
  hook PreToolUse {"tool_name":"Bash","tool_input":{}}
  mcp calc {"method":"tools/call","params":{"name":"add","arguments":{}}}
  elicit calc "Name?" {"type":"object"}
  dialog pick {"title":"Where?"}
  ask Bash as gone nowait
  cancel gone
  flood 3 20
turn
  wait user
  fold
  result error_max_turns
turn
  result error_max_budget_usd
turn
  result error_max_structured_output_retries
turn
  ask Bash
"#;

fn novelties(value: &impl Inspect) -> Vec<String> {
    let mut found = Vec::new();
    value.inspect(&At::ROOT, &mut |at, novelty| {
        found.push(match novelty {
            Novelty::Carried(_) | Novelty::Kept(_) => return,
            Novelty::Field(name) => format!("unknown field `{name}` at `{at}`"),
            Novelty::Variant { tag, name } => format!("unknown {tag} `{name}` at `{at}`"),
            Novelty::Value(word) => format!("unknown word `{word}` at `{at}`"),
            _ => "unknown novelty".to_owned(),
        });
    });
    found
}

/// Plays the scenario with a host that allows the first call, denies the second and answers everything else.
fn lines(version: &str) -> Vec<Value> {
    let user =
        |uuid: &str| json!({"type":"user","uuid":uuid,"message":{"role":"user","content":"x"}});
    let request = |body: Value| json!({"type":"control_request","request_id":"h","request":body});
    let hooks = json!({"PreToolUse":[{"matcher":"Bash","hookCallbackIds":["cb"]}]});
    let mode = |mode: &str| request(json!({"subtype":"set_permission_mode","mode":mode}));
    let mut run = Run::new(&format!("version {version}\n{EVERYTHING}"));
    let (mut heard, mut asked) = (0, 0);
    for line in [
        request(json!({"subtype":"initialize","sdkMcpServers":["calc"],"hooks":hooks})),
        user("a"),
        user("b"),
        user("b2"),
        user("b"),
        mode("plan"),
        mode("bypassPermissions"),
        request(json!({"subtype":"no_such_request"})),
        user("c"),
        user("d"),
        user("e"),
        request(json!({"subtype":"interrupt"})),
    ] {
        run.line(&line.to_string());
        while let Some(line) = run.lines.get(heard).cloned() {
            heard += 1;
            let response = match line["request"]["subtype"].as_str() {
                Some("can_use_tool") => {
                    asked += 1;
                    match asked {
                        1 => {
                            json!({"behavior":"allow","updatedInput":line["request"]["input"],"updatedPermissions":[{"type":"setMode","mode":"acceptEdits","destination":"session"}]})
                        }
                        2 => json!({"behavior":"deny","message":"no"}),
                        // The interrupt withdraws the last one.
                        _ => continue,
                    }
                }
                Some(_) => json!({}),
                None => continue,
            };
            run.answer(line["request_id"].as_str().unwrap(), response);
        }
    }
    run.lines
}

#[test]
fn every_line_is_a_known_message_with_nothing_unknown() {
    for version in VERSIONS {
        let lines = lines(version);
        assert!(lines.len() > 40, "{version}: {}", lines.len());
        for line in &lines {
            let message: CliMessage = decode(line.to_string().as_bytes())
                .unwrap_or_else(|error| panic!("{version}: {error}\n{line}"));
            assert_eq!(novelties(&message), [""; 0], "{version}: {line}");
            assert_eq!(serde_json::to_value(&message).unwrap(), *line);
        }
        let kind = |line: &Value| {
            let word = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
            format!("{}/{}", word("type"), word("subtype"))
        };
        let kinds: BTreeSet<String> = lines.iter().map(kind).collect();
        let is_new = version == "2.1.325";
        assert_eq!(kinds.contains("system/status"), version != "2.0.75");
        assert_eq!(
            kinds.contains("command_lifecycle/"),
            is_new || version == "2.1.197"
        );
        let results = ["success", "error_during_execution", "error_max_turns"];
        let results = results.map(|subtype| format!("result/{subtype}"));
        assert!(results.iter().all(|kind| kinds.contains(kind)), "{kinds:?}");
    }
}

macro_rules! replies {
    ($run:expr, $($request:ty),* $(,)?) => {$({
        let subtype = <$request as Request>::SUBTYPE;
        $run.lines.clear();
        let line = $run.request(subtype, json!({"subtype":subtype})).lines[0].clone();
        assert_eq!(line["response"]["subtype"], "success", "{subtype}: {line}");
        let reply: <$request as Request>::Reply = serde_json::from_value(line["response"]["response"].clone())
            .unwrap_or_else(|error| panic!("{subtype}: {error}\n{line}"));
        assert_eq!(novelties(&reply), Vec::<String>::new(), "{subtype}");
    })*};
}

// `read_file` and `rewind_files` are answered by the shell, which looks at files; the suites of the SDKs see them.
#[test]
fn replies_with_a_body_are_what_their_types_say() {
    let mut run = Run::new("");
    replies!(
        run,
        control::Initialize,
        control::Interrupt,
        control::SetModel,
        control::McpStatus,
        control::GetContextUsage,
        control::GetSessionCost,
        control::ListModels,
        control::GetUsage,
        control::GetBinaryVersion,
        control::FileSuggestions,
        control::CancelAsyncMessage,
        control::McpSetServers,
        control::ReloadPlugins,
        control::ReloadSkills,
        control::ReloadOutputStyles,
        control::BackgroundTasks,
        control::GetSettings,
        control::GetHooksListing,
        control::ListPermissionRules,
    );
}
