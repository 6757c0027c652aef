//! From a wish of a plan, which is prose, to rules that a person may grant.
//!
//! Owns which commands a wish can stand for: scripts and targets that the folder itself names, and commands that stand in
//! the plan. Invariants: each rule means one exact command and allows it by itself; nothing is offered for a command that
//! cannot be read, looks like another, destroys something, or runs unasked anyway; what fits no command is offered nothing.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::Path;

use countersign_policy::{
    Call, Effect, Harm, Origin, Place, Policy, Profile, RealDisk, Rule, harm,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::notify::is_invisible;

/// Maximum number of rules that are offered for one wish.
const MOST_OFFERS: usize = 6;

/// Maximum length of a command that is offered, in bytes.
const LONGEST_COMMAND: usize = 200;

/// Maximum number of bytes that are read of a file of the folder.
const MOST_BYTES: u64 = 256 * 1024;

/// A wish of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Wish {
    /// For which tool.
    pub tool: String,
    /// What for, in prose. It allows nothing by itself.
    pub prompt: String,
    /// Rules that would allow what it seems to mean. Empty: none could be found, and a person may write one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offers: Vec<WishOffer>,
}

/// A rule that a wish may stand for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WishOffer {
    /// The rule, in Claude Code's language. It means one exact command.
    pub text: String,
    /// Where the command was found.
    pub from: String,
}

/// What kind of work a word speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Topic {
    Test,
    Build,
    Lint,
    Format,
    Check,
}

/// Words that name a topic, in prose or as the name of a script.
const TOPICS: [(Topic, &[&str]); 5] = [
    (Topic::Test, &["test", "tests", "testing", "spec", "specs"]),
    (
        Topic::Build,
        &["build", "builds", "building", "compile", "compiling"],
    ),
    (
        Topic::Lint,
        &[
            "lint", "lints", "linter", "linters", "linting", "clippy", "eslint",
        ],
    ),
    (
        Topic::Format,
        &["format", "formatter", "formatting", "fmt", "prettier"],
    ),
    (
        Topic::Check,
        &["check", "checks", "typecheck", "types", "tsc"],
    ),
];

/// Words of prose that say nothing about which command is meant.
const FILLERS: [&str; 22] = [
    "the", "and", "for", "with", "all", "any", "run", "runs", "running", "use", "using", "command",
    "commands", "script", "scripts", "project", "this", "that", "from", "into", "npm", "cargo",
];

/// The rules that may be offered for a wish of an agent that works in `cwd`.
pub(crate) fn offers(wish: &Wish, plan: Option<&str>, cwd: &Path) -> Vec<WishOffer> {
    if wish.tool != "Bash" {
        return Vec::new();
    }
    let words = words_of(&wish.prompt);
    let topics = topics_of(&words);
    let mut found = of_plan(plan.unwrap_or_default(), &words, &topics);
    found.extend(of_package(cwd, &topics));
    found.extend(of_makefile(cwd, &topics));
    found.extend(of_cargo(cwd, &topics));
    let mut seen = BTreeSet::new();
    found
        .into_iter()
        .filter(|(command, _)| seen.insert(command.clone()))
        .filter_map(|(command, from)| {
            let text = rule_for(&command, cwd)?;
            Some(WishOffer { text, from })
        })
        .take(MOST_OFFERS)
        .collect()
}

/// The rule for one exact command, if it would do what it says.
fn rule_for(command: &str, cwd: &Path) -> Option<String> {
    // A star or `:*` in a rule would mean more than this command.
    let means_more = command.contains(['*', '\n']);
    if command.len() > LONGEST_COMMAND || means_more || command.contains(is_invisible) {
        return None;
    }
    let escaped = command
        .replace('\\', "\\\\")
        .replace('(', "\\(")
        .replace(')', "\\)");
    let text = format!("Bash({escaped})");
    let rule = Rule::parse(Effect::Allow, &text, cwd, Origin::Session).ok()?;
    let place = Place {
        cwd,
        add_dirs: &[],
        home: None,
        own: &[],
        disk: &RealDisk,
    };
    let call = Call::new("Bash", json!({"command": command}));
    let with = |rules| Policy {
        profile: Profile::Careful,
        rules,
    };
    let decide = |policy: Policy| policy.decide(&call, &place, Timestamp::UNIX_EPOCH).effect;
    let is_needed = decide(with(Vec::new())) == Effect::Ask;
    let is_enough = decide(with(vec![rule])) == Effect::Allow;
    (is_needed && is_enough && harm(&call, &place) == Harm::None).then_some(text)
}

/// The words of a text, in lower case.
fn words_of(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

fn topics_of(words: &[String]) -> BTreeSet<Topic> {
    let has = |names: &[&str]| words.iter().any(|word| names.contains(&word.as_str()));
    let topics = TOPICS.iter().filter(|(_, names)| has(names));
    topics.map(|(topic, _)| *topic).collect()
}

/// Commands that stand in the plan as code and speak of the same as the wish.
fn of_plan(plan: &str, words: &[String], topics: &BTreeSet<Topic>) -> Vec<(String, String)> {
    let mut code: Vec<&str> = Vec::new();
    let mut is_fenced = false;
    for line in plan.lines() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        } else if is_fenced {
            code.push(line);
        } else {
            // Every second piece stands between backticks.
            let pieces: Vec<&str> = line.split('`').collect();
            let closed = pieces.len() - usize::from(pieces.len().is_multiple_of(2));
            code.extend(pieces[..closed].iter().skip(1).step_by(2));
        }
    }
    code.into_iter()
        .map(|line| line.trim().trim_start_matches("$ ").trim())
        .filter(|command| command.contains(' ') && is_about(command, words, topics))
        .map(|command| (command.to_owned(), "written in the plan".to_owned()))
        .collect()
}

/// Whether a command speaks of what a wish speaks of.
fn is_about(command: &str, words: &[String], topics: &BTreeSet<Topic>) -> bool {
    let of_command = words_of(command);
    let shares_word = of_command
        .iter()
        .any(|word| word.len() > 2 && !FILLERS.contains(&word.as_str()) && words.contains(word));
    shares_word || topics_of(&of_command).intersection(topics).next().is_some()
}

fn read(cwd: &Path, name: &str) -> Option<String> {
    let path = cwd.join(name);
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    let file = std::fs::File::open(path).ok()?;
    file.take(MOST_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Scripts of `package.json`, for the package manager whose lock file is there.
fn of_package(cwd: &Path, topics: &BTreeSet<Topic>) -> Vec<(String, String)> {
    let text = read(cwd, "package.json").unwrap_or_default();
    let package: Value = serde_json::from_str(&text).unwrap_or_default();
    let manager = [
        ("pnpm-lock.yaml", "pnpm"),
        ("yarn.lock", "yarn"),
        ("bun.lock", "bun"),
        ("bun.lockb", "bun"),
    ];
    let manager = manager.iter().find(|(lock, _)| cwd.join(lock).is_file());
    let manager = manager.map_or("npm", |(_, manager)| manager);
    let scripts = package["scripts"].as_object().into_iter().flatten();
    let mut found = Vec::new();
    for (name, _) in scripts.filter(|(name, _)| is_target(name, topics)) {
        let from = format!("the script `{name}` of package.json");
        if name == "test" && manager != "bun" {
            found.push((format!("{manager} test"), from.clone()));
        }
        found.push((format!("{manager} run {name}"), from));
    }
    found
}

/// Whether a script or target is named after one of the topics, and after nothing a shell would read.
fn is_target(name: &str, topics: &BTreeSet<Topic>) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ":_-.".contains(c);
    let first = name.split([':', '_', '-', '.']).next();
    let first = first.unwrap_or_default().to_lowercase();
    name.chars().all(is_plain) && topics_of(&[first]).intersection(topics).next().is_some()
}

fn of_makefile(cwd: &Path, topics: &BTreeSet<Topic>) -> Vec<(String, String)> {
    let text = read(cwd, "Makefile").unwrap_or_default();
    let mut found = Vec::new();
    for line in text.lines() {
        let Some((name, rest)) = line.split_once(':') else {
            continue;
        };
        if !name.is_empty() && !rest.starts_with('=') && is_target(name, topics) {
            let from = format!("the target `{name}` of the Makefile");
            found.push((format!("make {name}"), from));
        }
    }
    found
}

fn of_cargo(cwd: &Path, topics: &BTreeSet<Topic>) -> Vec<(String, String)> {
    if !cwd.join("Cargo.toml").is_file() {
        return Vec::new();
    }
    let command = |topic: &Topic| match topic {
        Topic::Test => "cargo test",
        Topic::Build => "cargo build",
        Topic::Lint => "cargo clippy",
        Topic::Format => "cargo fmt",
        Topic::Check => "cargo check",
    };
    let found = topics.iter().map(command);
    found
        .map(|command| (command.to_owned(), "Cargo.toml is here".to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(prompt: &str, plan: &str, files: &[(&str, &str)]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let wish = Wish {
            tool: "Bash".to_owned(),
            prompt: prompt.to_owned(),
            offers: Vec::new(),
        };
        let cwd = folder.path().canonicalize().unwrap();
        let offers = offers(&wish, Some(plan), &cwd);
        offers.into_iter().map(|offer| offer.text).collect()
    }

    const PACKAGE: (&str, &str) = (
        "package.json",
        r#"{"scripts": {"test": "vitest", "test:unit": "vitest unit", "deploy": "x", "test; rm -rf x": "y"}}"#,
    );

    #[test]
    fn a_wish_offers_the_commands_that_the_folder_names_for_it() {
        let npm = [
            "Bash(npm test)",
            "Bash(npm run test)",
            "Bash(npm run test:unit)",
        ];
        assert_eq!(offered("run tests", "", &[PACKAGE]), npm);
        let yarn = offered("run the tests", "", &[PACKAGE, ("yarn.lock", "")]);
        assert_eq!(yarn[0], "Bash(yarn test)");
        let make = (
            "Makefile",
            "CFLAGS := -O2\nlint: src\n\techo\ntest:\n\techo\n",
        );
        assert_eq!(offered("lint", "", &[make]), ["Bash(make lint)"]);
        let cargo = ("Cargo.toml", "[package]");
        let both = offered("Build and run tests", "", &[cargo]);
        assert_eq!(both, ["Bash(cargo test)", "Bash(cargo build)"]);
    }

    #[test]
    fn a_wish_offers_commands_that_stand_in_the_plan() {
        let plan =
            "1. Run `python3 manage.py migrate`, then `ls`.\n```sh\n$ npm run test:unit\n```\n";
        assert_eq!(
            offered("run the migrate step", plan, &[]),
            ["Bash(python3 manage.py migrate)"]
        );
        assert_eq!(offered("run tests", plan, &[]), ["Bash(npm run test:unit)"]);
        assert_eq!(offered("look around", plan, &[]), [""; 0]);
    }

    #[test]
    fn nothing_is_offered_that_destroys_is_wider_or_cannot_be_read() {
        let plan = "`sh \u{202e}x test`, `npm\u{200b} test`, `rm -rf test`, `npm test *`, `npm test:*`, `$X test`, `npm test && rm -rf x`, open ` test";
        assert_eq!(offered("run tests", plan, &[]), [""; 0]);
        let wish = Wish {
            tool: "WebFetch".to_owned(),
            prompt: "run tests".to_owned(),
            offers: Vec::new(),
        };
        assert_eq!(offers(&wish, Some("`npm run test`"), Path::new("/")), []);
    }
}
