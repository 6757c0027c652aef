//! Tools that work on files: `Read`, `Glob`, `Grep` and `Write`, `Edit`, `NotebookEdit`.
//!
//! Inside of the working folders reading is free and writing is asked about; outside both are. Touchy files are asked
//! about whatever a rule allows.

use std::path::{Path, PathBuf};

use super::super::source::Source;
use super::ask::{
    Asked, Free, Kind, Verdict, reading_rule, suggest_edits, suggest_folder, suggest_rules,
};
use super::bench::Bench;
use super::decision::Refusal;
use super::rule::{Behavior, Rule};
use super::rules::Touch;
use super::wish::{Wish, path_key};

const DENIED: &str = "<tool_use_error>File is in a directory that is denied by your permission settings.</tool_use_error>";
const UNREADABLE: &str = "<tool_use_error>File is covered by a Read deny rule in your permission settings and so may not \
                          be written either.</tool_use_error>";
const OUTSIDE: &str = "Path is outside allowed working directories";

/// What a file tool does to its path.
pub(super) fn touch_of(tool: &str) -> Option<Touch> {
    match tool {
        "Read" | "Glob" | "Grep" => Some(Touch::Read),
        "Write" | "Edit" | "NotebookEdit" => Some(Touch::Write),
        _ => None,
    }
}

/// The path a call works on.
pub(super) fn target(bench: &Bench<'_>, wish: &Wish<'_>) -> PathBuf {
    let root = &bench.places.root;
    if let Some(key) = path_key(wish.tool) {
        return bench.places.absolute(root, wish.text(key));
    }
    let folder = bench.places.absolute(root, wish.text("path"));
    let pattern = wish.text("pattern");
    if wish.tool != "Glob" || !pattern.starts_with('/') {
        return folder;
    }
    let start = pattern.find(['*', '?', '[', '{']).unwrap_or(pattern.len());
    let folder = pattern[..start]
        .rfind('/')
        .map_or("/", |end| if end == 0 { "/" } else { &pattern[..end] });
    bench.places.absolute(root, folder)
}

/// What is to become of a call of a file tool.
pub(super) fn judge(bench: &Bench<'_>, wish: &Wish<'_>, touch: Touch) -> Verdict {
    let path = target(bench, wish);
    let rule = |behavior, touch| {
        let own = bench.rules.path(bench.places, behavior, touch, &path);
        own.or_else(|| {
            let real = bench
                .places
                .leads(&path)
                .filter(|real| *real != path && behavior != Behavior::Allow)?;
            bench.rules.path(bench.places, behavior, touch, &real)
        })
    };
    if bench.rules.whole(Behavior::Deny, wish.tool).is_some()
        || rule(Behavior::Deny, touch).is_some()
    {
        return denied(DENIED);
    }
    if touch == Touch::Write && rule(Behavior::Deny, Touch::Read).is_some() {
        return denied(UNREADABLE);
    }
    let asks = bench
        .rules
        .whole(Behavior::Ask, wish.tool)
        .or_else(|| rule(Behavior::Ask, touch));
    if let Some(entry) = asks {
        let asked = Asked {
            message: wanted(touch, &path),
            ..Asked::by_rule(entry.source, wish.tool)
        };
        return asked.verdict();
    }
    if touch == Touch::Write && bench.places.is_own(&path) {
        return Verdict::Free(Free::Own);
    }
    if touch == Touch::Write
        && let Some(reason) = bench.places.touchy(&path)
    {
        return touchy(bench, &path, &reason).verdict();
    }
    if let Some(entry) = bench
        .rules
        .whole(Behavior::Allow, wish.tool)
        .or_else(|| rule(Behavior::Allow, touch))
    {
        return Verdict::Free(Free::Rule(entry.source));
    }
    let inside = bench.places.inside(bench.dirs, &path);
    match touch {
        Touch::Read if inside || bench.places.is_own(&path) => Verdict::Free(Free::Mode),
        Touch::Read => read_outside(bench, wish, &path).verdict(),
        Touch::Write if inside && bench.edits_free => Verdict::Free(Free::Mode),
        Touch::Write => write(bench, wish, &path, inside).verdict(),
    }
}

fn denied(text: &str) -> Verdict {
    Verdict::Denied(Refusal {
        text: text.to_owned(),
        event: None,
        source: "config",
        reason_type: Some("rule"),
        kind: None,
    })
}

fn wanted(touch: Touch, path: &Path) -> String {
    let doing = match touch {
        Touch::Read => "read from",
        Touch::Write => "write to",
    };
    format!(
        "Claude requested permissions to {doing} {}, but you haven't granted it yet.",
        path.display()
    )
}

fn read_outside(bench: &Bench<'_>, wish: &Wish<'_>, path: &Path) -> Asked {
    let rule = reading_rule(&bench.places.folder_of(path));
    let offers = rule
        .iter()
        .map(|rule| suggest_rules(std::slice::from_ref(rule), Source::Session))
        .collect();
    Asked {
        message: wanted(Touch::Read, path),
        suggestions: Some(offers),
        policy: (wish.tool == "Read").then_some(true),
        ..Asked::because(OUTSIDE, Kind::WorkingDir)
    }
}

fn write(bench: &Bench<'_>, wish: &Wish<'_>, path: &Path, inside: bool) -> Asked {
    Asked {
        message: wanted(Touch::Write, path),
        reason: (!inside).then(|| OUTSIDE.to_owned()),
        kind: (!inside).then_some(Kind::WorkingDir),
        suggestions: Some(offers(bench, path)),
        policy: (wish.tool != "NotebookEdit").then_some(true),
        ..Asked::default()
    }
}

fn touchy(bench: &Bench<'_>, path: &Path, reason: &str) -> Asked {
    let suggestions = match skill_rule(bench, path) {
        Some(rule) => vec![suggest_rules(&[rule], Source::Session)],
        None => offers(bench, path),
    };
    Asked {
        suggestions: Some(suggestions),
        approvable: Some(true),
        ..Asked::because(reason, Kind::Safety)
    }
}

/// One skill of the project can be let go as a whole.
fn skill_rule(bench: &Bench<'_>, path: &Path) -> Option<Rule> {
    let rest = path
        .strip_prefix(bench.places.root.join(".claude/skills"))
        .ok()?;
    let mut names = rest.components();
    let skill = names.next()?.as_os_str().to_string_lossy().into_owned();
    names.next()?;
    Rule::new("Edit", Some(&format!("/.claude/skills/{skill}/**")))
}

fn offers(bench: &Bench<'_>, path: &Path) -> Vec<serde_json::Value> {
    let mut offers = Vec::new();
    if bench.offer_edits {
        offers.push(suggest_edits());
    }
    if !bench.places.inside(bench.dirs, path) {
        let folder = path
            .parent()
            .map_or_else(|| path.to_owned(), Path::to_owned);
        offers.push(suggest_folder(&folder));
    }
    offers
}
