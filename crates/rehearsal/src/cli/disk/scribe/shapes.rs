//! For tests: the shape of transcripts, measured and written: kinds, keys in order, and who hangs on whom.
//!
//! `measured.txt` was made from files that claude 2.1.325 left when the scenarios of its headings were played on it.

use std::collections::HashMap;

use super::Node;
use crate::cli::disk::stage::Stage;

pub(super) const MEASURED: &str = include_str!("measured.txt");

/// What a heading of the file holds.
pub(super) fn measured(scenario: &str) -> Vec<String> {
    let heading = format!("\n[{scenario}]\n");
    let (_, rest) = MEASURED.split_once(&*heading).expect(scenario);
    let lines = rest.lines().take_while(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}

pub(super) const NOTES: [&str; 5] = [
    "last-prompt",
    "custom-title",
    "agent-name",
    "mode",
    "cost-state",
];

/// The same for what a stage left.
fn shapes(stage: &Stage) -> Vec<String> {
    let mut ids: HashMap<String, usize> = HashMap::new();
    let mut shapes = Vec::new();
    let mut sessions = 0;
    for path in stage.transcripts() {
        let is_agent = path
            .parent()
            .is_some_and(|folder| folder.ends_with("subagents"));
        sessions += usize::from(!is_agent);
        let file = match (is_agent, sessions) {
            (true, _) => "agent".to_owned(),
            (false, 1) => "main".to_owned(),
            (false, n) => format!("main{n}"),
        };
        for line in std::fs::read_to_string(&path).unwrap().lines() {
            let record: Node = serde_json::from_str(line).unwrap();
            let kind = kind(&record);
            if NOTES.contains(&&*kind) {
                continue;
            }
            let link = match record.text("uuid") {
                None => "-".to_owned(),
                Some(uuid) => {
                    let next = ids.len() + 1;
                    let id = *ids.entry(uuid.to_owned()).or_insert(next);
                    let parent = record.text("parentUuid").map_or(0, |parent| ids[parent]);
                    format!("{id}<-{parent}")
                }
            };
            shapes.push(format!("{file} {kind} {link} {}", keys(&record)));
        }
    }
    shapes
}

pub(super) fn kind(record: &Node) -> String {
    let of = |outer: &str, key: &str| {
        record
            .get(outer)
            .and_then(|node| node.text(key))
            .unwrap_or_default()
            .to_owned()
    };
    let kind = record.text("type").unwrap();
    match kind {
        "attachment" => format!("{kind}/{}", of("attachment", "type")),
        "system" => format!("{kind}/{}", record.text("subtype").unwrap()),
        "queue-operation" => format!("{kind}/{}", record.text("operation").unwrap()),
        "user" | "assistant" => match record
            .get("message")
            .and_then(|message| message.get("content"))
        {
            Some(Node::Array(blocks)) => {
                let kinds: Vec<&str> = blocks
                    .iter()
                    .filter_map(|block| block.text("type"))
                    .collect();
                format!("{kind}/{}", kinds.join("+"))
            }
            _ => format!("{kind}/text"),
        },
        other => other.to_owned(),
    }
}

pub(super) fn keys(record: &Node) -> String {
    let Node::Object(entries) = record else {
        panic!("{record:?}")
    };
    let keys: Vec<&str> = entries.iter().map(|(key, _)| &**key).collect();
    let keys = keys.join(",");
    let keys = keys.replace(
        "userType,entrypoint,cwd,sessionId,version,gitBranch",
        "TAIL",
    );
    let keys = keys.replace("parentUuid,isSidechain", "HEAD");
    keys.replace(
        "apiBlockIndex,requestRef,requestedModel,promptCacheRequested",
        "API",
    )
}

pub(super) fn check(scenario: &str, play: impl FnOnce(&mut Stage)) {
    let mut stage = Stage::new();
    play(&mut stage);
    stage.end();
    assert_eq!(shapes(&stage), measured(scenario), "{scenario}");
}
