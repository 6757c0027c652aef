//! Rules that would allow a call from now on: what *always* can mean.
//!
//! Owns the wording of such rules, from the narrowest to the widest that is still sensible. Invariant: every suggestion
//! was tried: with it, and nothing else changed, the call is allowed.

use jiff::Timestamp;

use crate::act::{self, Act};
use crate::call::Call;
use crate::decide::Policy;
use crate::glance::Glance;
use crate::path::{Target, Touch};
use crate::place::Place;
use crate::rule::{Effect, Origin, Rule, todays_name};
use crate::shell::{Simple, Word};
use crate::verdict::Why;

/// Sets of rules, each of which would allow the call, narrowest first. None where no rule may.
pub fn suggest(
    policy: &Policy,
    call: &Call,
    place: &Place<'_>,
    now: Timestamp,
) -> Vec<Vec<String>> {
    let glance = Glance::at(place.disk);
    let place = &place.on(&glance);
    let verdict = policy.decide(call, place, now);
    if verdict.effect != Effect::Ask || verdict.reason.why != Why::NoRule {
        return Vec::new();
    }
    let acts = act::acts(call, place);
    let missing: Vec<&Act> = acts
        .list
        .iter()
        .filter(|act| is_missing(policy, call, act, place, now))
        .collect();
    let mut found: Vec<Vec<String>> = Vec::new();
    for breadth in [Breadth::This, Breadth::Kind] {
        let Some(rules) = missing
            .iter()
            .map(|act| wording(call, act, place, breadth))
            .collect::<Option<Vec<_>>>()
        else {
            continue;
        };
        let mut rules: Vec<String> = rules;
        rules.dedup();
        if !found.contains(&rules) && allows(policy, call, place, now, &rules) {
            found.push(rules);
        }
    }
    found
}

/// How much more than this call a rule may mean.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Breadth {
    /// This very command, this very file.
    This,
    /// Calls like it.
    Kind,
}

fn is_missing(policy: &Policy, call: &Call, act: &Act, place: &Place<'_>, now: Timestamp) -> bool {
    let alone = act::Acts {
        list: vec![act.clone()],
        unclear: Vec::new(),
    };
    act.needs_allow() && policy.judge(call, &alone, place, now).effect != Effect::Allow
}

fn allows(
    policy: &Policy,
    call: &Call,
    place: &Place<'_>,
    now: Timestamp,
    rules: &[String],
) -> bool {
    let mut wider = policy.clone();
    for text in rules {
        match Rule::parse(Effect::Allow, text, place.cwd, Origin::Session) {
            Ok(rule) => wider.rules.push(rule),
            Err(_) => return false,
        }
    }
    wider.decide(call, place, now).effect == Effect::Allow
}

fn wording(call: &Call, act: &Act, place: &Place<'_>, breadth: Breadth) -> Option<String> {
    match act {
        Act::Run(simple) => command(simple, breadth),
        Act::File { touch, target } => Some(file(*touch, target, place, breadth)),
        Act::Search { folder, .. } => Some(file(Touch::Read, folder, place, Breadth::Kind)),
        Act::Fetch { host } => Some(format!("WebFetch(domain:{})", host.as_deref()?)),
        Act::Use => match (
            todays_name(&call.tool),
            call.text("subagent_type"),
            call.text("skill"),
        ) {
            ("Agent", Some(kind), _) if breadth == Breadth::This => {
                Some(format!("Agent({})", escaped(kind)))
            }
            ("Skill", _, Some(skill)) if breadth == Breadth::This => {
                Some(format!("Skill({})", escaped(skill)))
            }
            (tool, ..) => Some(tool.to_owned()),
        },
        Act::Name(_) => None,
    }
}

/// Programs whose first argument says what they do: a rule for one of their commands is not one for all.
const WITH_COMMANDS: [&str; 22] = [
    "git",
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "cargo",
    "go",
    "docker",
    "podman",
    "kubectl",
    "gh",
    "pip",
    "pip3",
    "uv",
    "poetry",
    "dotnet",
    "gradle",
    "mvn",
    "make",
    "just",
    "systemctl",
    "terraform",
];

/// Programs that run whatever they are given, or destroy: only the very command is offered.
const NEVER_BY_KIND: &[&str] = &[
    "sh",
    "bash",
    "zsh",
    "dash",
    "ksh",
    "fish",
    "pwsh",
    "busybox",
    "python",
    "python2",
    "python3",
    "node",
    "deno",
    "bun",
    "tsx",
    "perl",
    "ruby",
    "php",
    "lua",
    "tclsh",
    "osascript",
    "awk",
    "gawk",
    "mawk",
    "sed",
    "eval",
    "exec",
    "source",
    ".",
    "trap",
    "command",
    "builtin",
    "env",
    "sudo",
    "doas",
    "su",
    "nohup",
    "nice",
    "timeout",
    "setsid",
    "stdbuf",
    "time",
    "watch",
    "find",
    "xargs",
    "parallel",
    "ssh",
    "scp",
    "rsync",
    "nc",
    "socat",
    "npx",
    "bunx",
    "tar",
    "zip",
    "vim",
    "vi",
    "ed",
    "ex",
    "emacs",
    "nano",
    "less",
    "man",
    "gdb",
    "lldb",
    "strace",
    "expect",
    "script",
    "screen",
    "tmux",
    "at",
    "crontab",
    "rm",
    "rmdir",
    "mv",
    "dd",
    "mkfs",
    "shred",
    "chmod",
    "chown",
    "chgrp",
    "truncate",
    "kill",
    "pkill",
    "curl",
    "wget",
];

fn command(simple: &Simple, breadth: Breadth) -> Option<String> {
    let words: Option<Vec<&str>> = simple.words.iter().map(literal).collect();
    let text = match breadth {
        Breadth::This => words?
            .iter()
            .map(|word| quoted(word))
            .collect::<Option<Vec<_>>>()?
            .join(" "),
        Breadth::Kind => {
            let mut known = simple.words.iter().map_while(literal);
            let program = known.next()?;
            if simple.hides.is_some() || NEVER_BY_KIND.contains(&program) || program.contains('/') {
                return None;
            }
            let head = match WITH_COMMANDS.contains(&program) {
                true => {
                    let second = known.next().filter(|word| !word.starts_with('-'))?;
                    let third = match (program, second) {
                        ("npm" | "pnpm" | "yarn" | "bun", "run") => {
                            known.next().map(|word| format!(" {word}"))
                        }
                        _ => None,
                    };
                    format!("{program} {second}{}", third.unwrap_or_default())
                }
                false => program.to_owned(),
            };
            format!("{head}:*")
        }
    };
    Some(format!("Bash({})", escaped(&text)))
}

fn literal(word: &Word) -> Option<&str> {
    match word {
        Word::Literal(text) => Some(text),
        _ => None,
    }
}

/// A word as it can stand in a rule. Words that need quotes have no exact form.
fn quoted(word: &str) -> Option<String> {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=:,@%+".contains(c);
    (!word.is_empty() && word.chars().all(is_plain)).then(|| word.to_owned())
}

fn file(touch: Touch, target: &Target, place: &Place<'_>, breadth: Breadth) -> String {
    let tool = match touch {
        Touch::Read => "Read",
        Touch::Write => "Edit",
    };
    let path = match breadth {
        Breadth::This => target.lexical.as_path(),
        Breadth::Kind if touch == Touch::Read && place.disk.list(&target.lexical).is_some() => {
            &target.lexical
        }
        Breadth::Kind => target.lexical.parent().unwrap_or(&target.lexical),
    };
    let inside = path.strip_prefix(place.cwd).ok();
    let shown = match inside {
        Some(rest) => rest.to_string_lossy().into_owned(),
        None => format!("/{}", path.display()),
    };
    let content = match (breadth, shown.as_str()) {
        (Breadth::This, "") | (Breadth::Kind, "") => "**".to_owned(),
        (Breadth::This, shown) if inside.is_some() => format!("./{shown}"),
        (Breadth::This, shown) => shown.to_owned(),
        (Breadth::Kind, shown) => format!("{}/**", shown.trim_end_matches('/')),
    };
    format!("{tool}({})", escaped(&content))
}

fn escaped(content: &str) -> String {
    content
        .replace('\\', "\\\\")
        .replace('(', "\\(")
        .replace(')', "\\)")
}
