//! Whether a rule means an act.
//!
//! Owns the table of which kind of rule speaks about which kind of act, for an allow and for a restriction. The two are
//! not the same: an allow must be certain and stays with its own tool; a denial reaches every way to do the same thing.
//! So `deny Read(.env)` also holds for `cat .env` and for writing the file, as in Claude Code.

use std::path::Path;

use crate::act::{Act, Named, NamedWhat};
use crate::call::Call;
use crate::elsewhere::{is_git_elsewhere, is_program_elsewhere, is_project_elsewhere};
use crate::fit::Fit;
use crate::path::{PathPattern, Target, Touch};
use crate::place::Place;
use crate::rule::{Content, Matcher, todays_name};
use crate::shell::{Side, Word};

/// Whether `matcher` means this act of this call.
pub(crate) fn means(
    matcher: &Matcher,
    call: &Call,
    act: &Act,
    place: &Place<'_>,
    side: Side,
) -> Fit {
    match &matcher.content {
        Content::Whole => means_whole(matcher, call, act, place, side),
        Content::Command(pattern) => match act {
            Act::Run(simple)
                if side == Side::Allow
                    && (is_git_elsewhere(simple, place)
                        || is_program_elsewhere(simple, place)
                        || is_project_elsewhere(simple, pattern.spells(simple), place)) =>
            {
                Fit::No
            }
            Act::Run(simple) if is_shell(&matcher.tool, &call.tool, side) => {
                pattern.fits(simple, side)
            }
            _ => Fit::No,
        },
        Content::Path(pattern) => means_path(&matcher.tool, pattern, call, act, place, side),
        Content::Domain(domain) => match act {
            Act::Fetch { host } if call.tool == matcher.tool => {
                means_host(domain, host.as_deref(), side)
            }
            _ => Fit::No,
        },
        Content::Text(text) => match todays_name(&call.tool) == matcher.tool {
            true => means_text(text, call, side),
            false => Fit::No,
        },
    }
}

/// A rule for commands holds for every tool that runs commands; as an allow for its own tool only.
fn is_shell(rule: &str, tool: &str, side: Side) -> bool {
    rule == tool || (side == Side::Restrict && matches!(tool, "Bash" | "Monitor"))
}

fn means_whole(matcher: &Matcher, call: &Call, act: &Act, place: &Place<'_>, side: Side) -> Fit {
    let tool = todays_name(&call.tool);
    if means_tool(&matcher.tool, tool) {
        return Fit::Yes;
    }
    // To forbid a tool that writes files is to forbid writing files, whoever does it.
    match side {
        Side::Allow => Fit::No,
        Side::Restrict => does_the_same(&matcher.tool, act, place),
    }
}

/// Commands whose work is to write files.
const WRITERS: [&str; 16] = [
    "tee", "cp", "mv", "ln", "install", "touch", "mkdir", "rmdir", "rm", "dd", "truncate", "patch",
    "sed", "rsync", "unlink", "shred",
];

/// Whether an act does what a forbidden tool would do, or may do it.
fn does_the_same(tool: &str, act: &Act, place: &Place<'_>) -> Fit {
    match (tool, act) {
        (
            "Edit" | "Write",
            Act::File {
                touch: Touch::Write,
                ..
            },
        ) => Fit::Yes,
        (
            "Read",
            Act::File {
                touch: Touch::Read, ..
            },
        ) => Fit::Yes,
        ("Read", Act::Search { shows_contents, .. }) => Fit::certain(*shows_contents),
        ("Bash", Act::Run(_)) => Fit::Yes,
        ("Edit" | "Write" | "Read", Act::Run(simple)) if simple.hides.is_some() => {
            Fit::Maybe("code that is handed to a program may touch any file".to_owned())
        }
        ("Edit" | "Write", Act::Run(simple)) => match simple.words.first() {
            Some(Word::Literal(program))
                if WRITERS.contains(&program.rsplit('/').next().unwrap_or(program)) =>
            {
                Fit::Maybe(format!("`{program}` writes files"))
            }
            _ => Fit::No,
        },
        ("Read", Act::Name(named)) => match &named.what {
            NamedWhat::Path(target) if place.disk.exists(&target.lexical) => {
                Fit::Maybe(format!("`{}` may be read", target.shown))
            }
            _ => Fit::No,
        },
        _ => Fit::No,
    }
}

/// `mcp__srv` means every tool of the server, `*` any run of characters.
fn means_tool(wanted: &str, tool: &str) -> bool {
    if wanted == tool {
        return true;
    }
    if !wanted.starts_with("mcp__") || !tool.starts_with("mcp__") {
        return false;
    }
    if wanted.contains('*') {
        return matches_stars(wanted, tool);
    }
    let is_server = !wanted["mcp__".len()..].contains("__");
    is_server
        && tool
            .strip_prefix(wanted)
            .is_some_and(|rest| rest.starts_with("__"))
}

/// Whether a text matches a pattern in which `*` stands for any run of characters.
fn matches_stars(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

fn means_path(
    tool: &str,
    pattern: &PathPattern,
    call: &Call,
    act: &Act,
    place: &Place<'_>,
    side: Side,
) -> Fit {
    match act {
        Act::File { touch, target } if speaks_of(tool, call, *touch, side) => {
            pattern.fits(target, place, side)
        }
        Act::Search {
            folder,
            shows_contents,
        } if speaks_of(tool, call, Touch::Read, side) => {
            let named = pattern.fits(folder, place, side);
            match side == Side::Restrict && *shows_contents && is_reading(tool) {
                true => named.or(|| is_found(pattern, folder, place)),
                false => named,
            }
        }
        // Code that is handed to a program may touch any file.
        Act::Run(simple) if side == Side::Restrict => {
            simple.hides.clone().map_or(Fit::No, Fit::Maybe)
        }
        Act::Name(named)
            if side == Side::Restrict && (is_reading(tool) || named.touch == Touch::Write) =>
        {
            means_named(tool, pattern, named, place)
        }
        _ => Fit::No,
    }
}

fn is_reading(tool: &str) -> bool {
    matches!(tool, "Read" | "Glob" | "Grep" | "LS" | "NotebookRead")
}

/// Whether path rules of `tool` speak of a file that is touched so.
fn speaks_of(tool: &str, call: &Call, touch: Touch, side: Side) -> bool {
    let is_own = tool == call.tool;
    match (touch, side) {
        // Who may not read a file may not write it either: an edit shows it.
        (Touch::Write, Side::Restrict) => !matches!(tool, "Glob" | "Grep" | "LS"),
        (Touch::Write, Side::Allow) => is_own || tool == "Edit",
        (Touch::Read, Side::Restrict) => is_reading(tool),
        // Who may edit a file may read it.
        (Touch::Read, Side::Allow) => is_own || matches!(tool, "Read" | "Edit"),
    }
}

/// A search would come upon what the pattern means: it may be shown, or not.
fn is_found(pattern: &PathPattern, folder: &Target, place: &Place<'_>) -> Fit {
    match pattern.is_below(folder, place) {
        Fit::Yes => Fit::Maybe(format!(
            "`{}` holds files that the rule is about",
            folder.shown
        )),
        other => other,
    }
}

fn means_named(tool: &str, pattern: &PathPattern, named: &Named, place: &Place<'_>) -> Fit {
    let unknown = || {
        Fit::Maybe(format!(
            "what `{}` names is not known before it runs",
            named.word
        ))
    };
    match &named.what {
        NamedWhat::Unknown => unknown(),
        NamedWhat::Perhaps(_) | NamedWhat::PerhapsPattern(_) => Fit::No,
        NamedWhat::Pattern(folder) => pattern.may_name(&named.word, folder, place),
        NamedWhat::Path(target) => {
            let fit = match pattern.fits(target, place, Side::Restrict) {
                Fit::Yes => is_path(
                    named,
                    target,
                    is_reading(tool),
                    place.disk.exists(&target.lexical),
                ),
                other => other,
            };
            match named.is_recursive && is_reading(tool) {
                true => fit.or(|| is_found(pattern, target, place)),
                false => fit,
            }
        }
    }
}

/// A word that would be a path that the rule means: is it one? `git log` does not read a file `log` that is not there.
fn is_path(named: &Named, target: &Target, is_read_rule: bool, exists: bool) -> Fit {
    let name = named.word.as_str();
    let looks_so =
        name.contains('/') || name.starts_with('.') || Path::new(name).extension().is_some();
    match (exists, is_read_rule, looks_so) {
        (true, ..) => Fit::Yes,
        (false, true, false) => Fit::No,
        (false, true, true) => Fit::Maybe(format!(
            "`{}` may be there by the time it runs",
            target.shown
        )),
        (false, false, true) => Fit::Yes,
        (false, false, false) => {
            Fit::Maybe(format!("`{}` may be a file that is made", target.shown))
        }
    }
}

fn means_host(domain: &str, host: Option<&str>, side: Side) -> Fit {
    let Some(host) = host else {
        return match side {
            Side::Allow => Fit::No,
            Side::Restrict => Fit::Maybe("the address cannot be read".to_owned()),
        };
    };
    let is_below = |parent: &str| {
        host.strip_suffix(parent)
            .is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
    };
    Fit::certain(match (domain.strip_prefix("*."), side) {
        (Some(parent), Side::Allow) => is_below(parent),
        (Some(parent), Side::Restrict) => is_below(parent) || host == parent,
        (None, Side::Allow) => host == domain,
        (None, Side::Restrict) => host == domain || is_below(domain),
    })
}

/// The fields by which calls of other tools are told apart.
fn telling_field(tool: &str) -> Option<&'static str> {
    match tool {
        "Agent" => Some("subagent_type"),
        "Skill" => Some("skill"),
        "SlashCommand" => Some("command"),
        "WebSearch" => Some("query"),
        _ => None,
    }
}

fn means_text(wanted: &str, call: &Call, side: Side) -> Fit {
    let unknown = |why: &str| match side {
        Side::Allow => Fit::No,
        Side::Restrict => Fit::Maybe(why.to_owned()),
    };
    let Some(field) = telling_field(todays_name(&call.tool)) else {
        return unknown("calls of this tool cannot be told apart");
    };
    let Some(text) = call.text(field) else {
        return unknown("the call does not say which it is");
    };
    let text = text.trim_start_matches('/');
    let wanted = wanted.trim_start_matches('/');
    Fit::certain(
        match wanted
            .strip_suffix(":*")
            .or_else(|| wanted.strip_suffix(" *"))
        {
            Some(start) => text
                .strip_prefix(start)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ':'])),
            None => text == wanted,
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_rule_means_its_tools_and_no_other_servers() {
        for (wanted, tool, expected) in [
            ("mcp__srv", "mcp__srv__add", true),
            ("mcp__srv", "mcp__srv2__add", false),
            ("mcp__srv__*", "mcp__srv__add", true),
            ("mcp__srv__add", "mcp__srv__add", true),
            ("mcp__srv__add", "mcp__srv__add_all", false),
            ("mcp__srv__ad*", "mcp__srv__add", true),
            ("mcp__*__read*", "mcp__a__read_x", true),
            ("mcp__*__read*", "mcp__a__write", false),
            ("mcp__*", "Bash", false),
            ("Bash", "mcp__Bash", false),
        ] {
            assert_eq!(means_tool(wanted, tool), expected, "{wanted} {tool}");
        }
    }

    #[test]
    fn a_domain_is_allowed_by_itself_and_denied_with_all_below_it() {
        for (domain, host, allow, restrict) in [
            ("a.example", "a.example", true, true),
            ("a.example", "b.a.example", false, true),
            ("a.example", "ba.example", false, false),
            ("*.a.example", "b.a.example", true, true),
            ("*.a.example", "a.example", false, true),
            ("a.example", "a.example.evil", false, false),
        ] {
            assert_eq!(
                means_host(domain, Some(host), Side::Allow).is_yes(),
                allow,
                "{domain} {host}"
            );
            assert_eq!(
                means_host(domain, Some(host), Side::Restrict).is_yes(),
                restrict,
                "{domain} {host}"
            );
        }
        assert!(means_host("a.example", None, Side::Allow).is_no());
        assert!(matches!(
            means_host("a.example", None, Side::Restrict),
            Fit::Maybe(_)
        ));
    }
}
