//! Who may depend on whom, and whether the map shows every crate. Dependencies are followed all the
//! way down: a forbidden one is no better when it comes through another.

use std::collections::HashMap;
use std::path::Path;

use super::Finding;
use crate::workspace::{Metadata, Resolve};

/// A crate of ours and what must not be below it, with the reason.
const FORBIDDEN: &[(&str, &[&str], &str)] = &[
    (
        "countersign-wire",
        RUNTIMES,
        "the wire has no runtime and does no I/O",
    ),
    (
        "countersign-journal",
        RUNTIMES,
        "the keeper writes the journal on one thread, without a runtime",
    ),
    (
        "countersign-transcript",
        RUNTIMES,
        "the fold is pure: records in, entries out",
    ),
    ("countersign-policy", RUNTIMES, "a verdict waits for nobody"),
];

const RUNTIMES: &[&str] = &["tokio", "mio", "async-std", "smol", "futures-executor"];

pub(super) fn forbidden_dependencies(metadata: &Metadata) -> Vec<Finding> {
    let names = metadata
        .packages
        .iter()
        .map(|package| (package.id.as_str(), package.name.as_str()));
    let graph = Graph {
        names: names.collect(),
        resolve: metadata.resolve.as_ref(),
    };
    let mut findings = Vec::new();
    for (from, forbidden, reason) in FORBIDDEN {
        for path in forbidden.iter().filter_map(|to| graph.path(from, to)) {
            let message = format!("{}: {reason}", path.join(" → "));
            findings.push(Finding::in_file(Path::new("Cargo.toml"), message));
        }
    }
    findings
}

pub(super) fn crates_on_the_map(crates: &[String], architecture: &str) -> Vec<Finding> {
    let missing = crates.iter().filter(|name| !is_named(name, architecture));
    let map = Path::new("ARCHITECTURE.md");
    missing
        .map(|name| {
            Finding::in_file(
                map,
                format!("crates/{name} is not on the map: say what it is for"),
            )
        })
        .collect()
}

/// As `name` in backticks, with or without its folder, or as a line of a tree.
fn is_named(name: &str, text: &str) -> bool {
    let quoted = [
        format!("`{name}`"),
        format!("`{name}/`"),
        format!("crates/{name}"),
    ];
    let in_words = quoted.iter().any(|form| {
        text.match_indices(form.as_str()).any(|(at, _)| {
            let next = text[at + form.len()..].chars().next();
            form.ends_with('`')
                || !next.is_some_and(|c| c.is_alphanumeric() || c == '-' || c == '_')
        })
    });
    let branch = format!("{name}/");
    in_words
        || text
            .lines()
            .any(|line| line.split_whitespace().any(|word| word == branch))
}

struct Graph<'a> {
    names: HashMap<&'a str, &'a str>,
    resolve: Option<&'a Resolve>,
}

impl<'a> Graph<'a> {
    /// One way from a package to another over normal dependencies.
    fn path(&self, from: &str, to: &str) -> Option<Vec<&'a str>> {
        let nodes = &self.resolve?.nodes;
        let edges: HashMap<&str, Vec<&'a str>> = nodes
            .iter()
            .map(|node| {
                let normal = node
                    .deps
                    .iter()
                    .filter(|dep| dep.dep_kinds.iter().any(|kind| kind.kind.is_none()));
                (
                    node.id.as_str(),
                    normal.map(|dep| dep.pkg.as_str()).collect(),
                )
            })
            .collect();
        let start = nodes.iter().find(|node| self.name(&node.id) == from)?;
        let mut came_from: HashMap<&'a str, &'a str> = HashMap::new();
        let mut waiting = vec![start.id.as_str()];
        while let Some(id) = waiting.pop() {
            if self.name(id) == to {
                return Some(self.trace(&came_from, id));
            }
            for &next in edges.get(id).into_iter().flatten() {
                if next != start.id && !came_from.contains_key(next) {
                    came_from.insert(next, id);
                    waiting.push(next);
                }
            }
        }
        None
    }

    fn trace(&self, came_from: &HashMap<&'a str, &'a str>, end: &'a str) -> Vec<&'a str> {
        let steps = std::iter::successors(Some(end), |id| came_from.get(id).copied());
        let mut path: Vec<&str> = steps
            .map(|id| self.names.get(id).copied().unwrap_or(id))
            .collect();
        path.reverse();
        path
    }

    fn name<'b>(&self, id: &'b str) -> &'b str
    where
        'a: 'b,
    {
        self.names.get(id).copied().unwrap_or(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(edges: &[(&str, &str, Option<&str>)]) -> Metadata {
        let mut names: Vec<&str> = edges
            .iter()
            .flat_map(|(from, to, _)| [*from, *to])
            .collect();
        names.sort_unstable();
        names.dedup();
        let packages: Vec<_> = names
            .iter()
            .map(|name| serde_json::json!({"id": name, "name": name, "targets": []}))
            .collect();
        let nodes: Vec<_> = names
            .iter()
            .map(|name| {
                let deps = edges.iter().filter(|(from, ..)| from == name).map(
                    |(_, to, kind)| serde_json::json!({"pkg": to, "dep_kinds": [{"kind": kind}]}),
                );
                serde_json::json!({"id": name, "deps": deps.collect::<Vec<_>>()})
            })
            .collect();
        serde_json::from_value(serde_json::json!({
            "packages": packages, "resolve": {"nodes": nodes},
            "workspace_root": "/", "target_directory": "/",
        }))
        .unwrap()
    }

    #[test]
    fn a_runtime_under_the_wire_is_found_through_another_crate() {
        let graph = metadata(&[
            ("countersign-wire", "middle", None),
            ("middle", "tokio", None),
            ("middle", "countersign-wire", Some("dev")),
        ]);
        let findings = forbidden_dependencies(&graph);
        assert_eq!(findings.len(), 1);
        let text = findings[0].to_string();
        assert!(text.contains("countersign-wire → middle → tokio"), "{text}");
    }

    #[test]
    fn tests_may_use_what_the_crate_may_not() {
        let graph = metadata(&[
            ("countersign-wire", "tokio", Some("dev")),
            ("countersign-wire", "memchr", None),
            ("countersign", "tokio", None),
        ]);
        assert_eq!(forbidden_dependencies(&graph), []);
    }

    #[test]
    fn a_crate_is_on_the_map_in_words_or_in_a_tree() {
        let crates = ["wire".to_owned()];
        for map in [
            "the `wire` crate",
            "see crates/wire.",
            "crates/\n  wire/   types",
            "`wire/`",
        ] {
            assert_eq!(crates_on_the_map(&crates, map), [], "{map}");
        }
        for map in ["", "crates/wire-derive", "`wired`", "the wire"] {
            assert_eq!(crates_on_the_map(&crates, map).len(), 1, "{map}");
        }
    }
}
