//! Shell commands, as far as their words tell what they would do.
//!
//! Cuts a command line into its parts and judges each by its name, its paths and the rules: reading inside of the
//! working folders is free, changing files there is as the mode says, all else is asked about. Invariants: a text that
//! has more in it than plain words is asked about as a whole, and a rule that allows one part allows nothing of the
//! others.

mod paths;
mod split;

use super::super::source::Source;
use super::ask::{Asked, Free, Kind, Verdict, suggest_rules};
use super::bench::Bench;
use super::decision::Refusal;
use super::rule::{Behavior, Rule};
use super::rules::{Entry, Touch};
use paths::PathAsk;
use split::{Part, pieces, split};

const TOOL: &str = "Bash";
const REQUIRED: &str = "This command requires approval";
/// Commands that change the files they name.
const EDITS: &str = "touch mkdir rm rmdir mv cp";
/// Commands that only look at the files they name, whatever their flags.
const READS: &str = "ls cat head tail wc grep stat du df cut diff cmp cd basename dirname realpath readlink nl tac md5sum \
                     sha1sum sha256sum hexdump od strings test [";
/// Commands that only say something and name no file.
const SAYS: &str = "echo printf sleep true false pwd whoami id uname seq which type expr";
/// What `git` only shows with, and the flags that leave it at that.
const SHOWS: &str = "status log diff show rev-parse blame ls-files";
const SHOWS_WITH: &str = "--oneline --stat --short --porcelain --cached --staged --name-only --name-status --graph \
                          --decorate --abbrev-ref --show-toplevel --is-inside-work-tree -s -n -p -- HEAD";
/// Commands that start the command in their arguments: a rule that denies or asks sees through them.
const WRAPPERS: &str = "sudo doas env nohup nice time timeout command builtin xargs stdbuf setsid exec if then else elif \
                        while until do !";
/// Commands whose next word says too little for a rule with a star.
const NO_PREFIX: &str = "sudo doas su env xargs nohup nice time timeout command builtin stdbuf exec eval bash sh zsh fish \
                         dash ksh pwsh cmd";

/// What one part comes to.
#[derive(Debug)]
enum Outcome {
    Free,
    /// A rule of this source asks.
    Rule(Source),
    /// A path asks.
    Path(PathAsk),
    /// It is not known to be harmless.
    Plain,
}

/// What is to become of a command line.
pub(super) fn judge(bench: &Bench<'_>, text: &str) -> Verdict {
    let rules = bench.rules;
    let exact = |behavior| rules.exact(behavior, text.trim());
    if rules.whole(Behavior::Deny, TOOL).is_some() {
        return denied(text, Kind::Rule, None);
    }
    if let Some(entry) = exact(Behavior::Deny) {
        return denied(text, Kind::Rule, Some(entry));
    }
    let parts = split(text);
    let read = parts.is_some();
    let parts = parts.unwrap_or_else(|| pieces(text));
    if parts.iter().any(|part| is_forbidden(bench, part)) {
        let kind = if read { Kind::Parts } else { Kind::Rule };
        return denied(text, kind, None);
    }
    if let Some((name, what)) = parts.iter().find_map(|part| removal(bench, part)) {
        return dangerous(&name, &what);
    }
    let asks = rules
        .whole(Behavior::Ask, TOOL)
        .or_else(|| exact(Behavior::Ask));
    if let Some(entry) = asks {
        return Asked::by_rule(entry.source, TOOL).verdict();
    }
    if let Some(entry) = rules.whole(Behavior::Allow, TOOL) {
        let touchy = parts.iter().find_map(|part| bench.touchy_part(part));
        return match touchy {
            Some(ask) => from_path(&ask, None).verdict(),
            None => Verdict::Free(Free::Rule(entry.source)),
        };
    }
    let ruled = exact(Behavior::Allow);
    let moves = parts.iter().filter(|part| part.name() == "cd").count();
    if !read || moves > 1 {
        return unread(bench, &parts).verdict();
    }
    let weighed: Vec<_> = parts
        .iter()
        .map(|part| weigh(bench, part, ruled.is_some(), moves > 0 && parts.len() > 1))
        .collect();
    match merged(bench.offer_rule.then_some(text), &parts, &weighed) {
        Some(asked) => asked.verdict(),
        None => Verdict::Free(ruled.map_or(Free::Parts, |entry| Free::Rule(entry.source))),
    }
}

/// The question about a text that is more than plain words: no rule can be offered for it.
fn unread(bench: &Bench<'_>, parts: &[Part]) -> Asked {
    let matched = parts.iter().find_map(|part| ask_rule(bench, part));
    Asked {
        suggestions: Some(Vec::new()),
        matched: matched.map(|entry| (entry.source, entry.rule.clone())),
        ..Asked::because(REQUIRED, Kind::Other)
    }
}

fn among(list: &str, name: &str) -> bool {
    list.split_whitespace().any(|known| known == name)
}

/// The texts that a rule which denies or asks may mean: the part, and what is left of it behind each wrapper.
fn forms(part: &Part) -> Vec<String> {
    let mut forms = vec![part.text.clone()];
    let mut words = &part.words[..];
    while let Some((first, rest)) = words.split_first() {
        let name = first.rsplit('/').next().unwrap_or("");
        forms.push(words.join(" "));
        forms.push(format!("{name} {}", rest.join(" ")).trim_end().to_owned());
        let set = first.contains('=');
        let option = first.starts_with(|c: char| c == '-' || c.is_ascii_digit());
        if !set && !option && !among(WRAPPERS, name) {
            break;
        }
        words = rest;
    }
    forms
}

fn ask_rule<'a>(bench: &'a Bench<'_>, part: &Part) -> Option<&'a Entry> {
    bench.rules.command(Behavior::Ask, &forms(part))
}

/// Whether a rule denies the part, by its text or by a path in it. What may not be read may not be changed either.
fn is_forbidden(bench: &Bench<'_>, part: &Part) -> bool {
    let by_path = |word: &String, touches: &[Touch]| {
        let path = bench.places.absolute(bench.shell, word);
        let real = bench.places.leads(&path).unwrap_or_else(|| path.clone());
        [path, real].iter().any(|path| {
            touches.iter().any(|touch| {
                let rule = bench.rules.path(bench.places, Behavior::Deny, *touch, path);
                rule.is_some()
            })
        })
    };
    let edits = among(EDITS, part.name());
    let touches: &[Touch] = if edits {
        &[Touch::Read, Touch::Write]
    } else {
        &[Touch::Read]
    };
    let reads = edits || among(READS, part.name());
    bench.rules.command(Behavior::Deny, &forms(part)).is_some()
        || part.outs.iter().any(|word| by_path(word, &[Touch::Write]))
        || part.ins.iter().any(|word| by_path(word, &[Touch::Read]))
        || reads && part.operands().any(|word| by_path(word, touches))
}

/// A removal that would take far too much with it, and what of it would.
fn removal(bench: &Bench<'_>, part: &Part) -> Option<(String, String)> {
    let named = |word: &String| {
        let name = word.rsplit('/').next().unwrap_or("");
        matches!(name, "rm" | "rmdir").then(|| name.to_owned())
    };
    let (at, name) = part
        .words
        .iter()
        .enumerate()
        .find_map(|(at, word)| Some((at, named(word)?)))?;
    let mut targets = part.words[at + 1..]
        .iter()
        .filter(|word| !word.starts_with('-'));
    let what = targets.find_map(|target| bench.takes_too_much(target))?;
    Some((name, what))
}

/// One part. `moved`: a `cd` beside it changes where its paths start.
fn weigh(bench: &Bench<'_>, part: &Part, exact: bool, moved: bool) -> Outcome {
    if let Some(entry) = ask_rule(bench, part) {
        return Outcome::Rule(entry.source);
    }
    let name = part.name();
    let ruled = exact
        || bench
            .rules
            .command(Behavior::Allow, std::slice::from_ref(&part.text))
            .is_some();
    if let Some(ask) = part.outs.iter().find_map(|word| bench.redirecting(word)) {
        return Outcome::Path(ask);
    }
    if name == "cd" {
        let home = [String::from("~")];
        let target = part.operands().next().unwrap_or(&home[0]);
        return match bench.reading(name, std::iter::once(target)) {
            Some(ask) => Outcome::Path(ask),
            None if part.words.len() != 2 => Outcome::Plain,
            None => Outcome::Free,
        };
    }
    let edits = among(EDITS, name);
    let changes = edits || !part.outs.is_empty() || name == "git";
    let elsewhere = |word: &String| !word.starts_with('/');
    if moved && (changes || !part.ins.is_empty() || part.operands().any(elsewhere)) {
        return match ruled && !changes {
            true => Outcome::Free,
            false => Outcome::Plain,
        };
    }
    if let Some(ask) = bench.reading("Input redirection", part.ins.iter()) {
        return Outcome::Path(ask);
    }
    if edits && part.operands().next().is_some() {
        // A flag of these can name the folder that is written to.
        let flagged = matches!(name, "cp" | "mv") && part.operands().count() + 1 < part.words.len();
        return match bench.writing(name, part.operands(), ruled) {
            _ if flagged || part.hides_a_path() => Outcome::Plain,
            Some(ask) => Outcome::Path(ask),
            None if ruled || bench.edits_free => Outcome::Free,
            None => Outcome::Plain,
        };
    }
    if among(READS, name)
        && let Some(ask) = bench.reading(name, part.operands())
    {
        return Outcome::Path(ask);
    }
    match ruled || only_looks(bench, part) {
        true => Outcome::Free,
        false => Outcome::Plain,
    }
}

/// Whether a part only looks, and only at what its plain arguments name.
fn only_looks(bench: &Bench<'_>, part: &Part) -> bool {
    let name = part.name();
    if among(SAYS, name) {
        return true;
    }
    let bare = || part.words[1..].iter().all(|word| !word.starts_with('-'));
    let inside = || bench.reading(name, part.operands()).is_none();
    let known = match name {
        "sort" => bare() && inside(),
        "date" => part.words.len() == 1,
        "find" => {
            let harmless = ["-name", "-type", "-maxdepth", "-mindepth", "-print"];
            let mut flags = part.words[1..].iter().filter(|word| word.starts_with('-'));
            flags.all(|word| harmless.contains(&word.as_str())) && inside()
        }
        "git" => {
            let shows = part.words.get(1).is_some_and(|verb| among(SHOWS, verb));
            let known = |word: &String| {
                let count = word.trim_start_matches('-').parse::<u32>().is_ok();
                !word.starts_with('-') || count || among(SHOWS_WITH, word)
            };
            shows && part.words.iter().all(known) && inside()
        }
        _ => among(READS, name) && !part.words.iter().any(|word| word.starts_with("--")),
    };
    known && !part.hides_a_path()
}

/// The question that is left to ask, if any.
fn merged(whole: Option<&str>, parts: &[Part], weighed: &[Outcome]) -> Option<Asked> {
    let asking: Vec<_> = parts
        .iter()
        .zip(weighed)
        .filter(|(_, outcome)| !matches!(outcome, Outcome::Free))
        .collect();
    let rule = |part: &Part| Rule::new(TOOL, Some(&suggested(&part.text)));
    let (first, outcome) = asking.first()?;
    let one = asking.len() == 1;
    match outcome {
        Outcome::Rule(source) if one => return Some(Asked::by_rule(*source, TOOL)),
        Outcome::Path(ask) if one => {
            return Some(from_path(ask, whole.filter(|_| !ask.is_touchy())));
        }
        Outcome::Plain if one && parts.len() == 1 => {
            return Some(Asked {
                suggestions: Some(vec![suggest_rules(&[rule(first)?], Source::Local)]),
                ..Asked::because(REQUIRED, Kind::Other)
            });
        }
        _ => {}
    }
    let mut rules: Option<Vec<Rule>> = Some(Vec::new());
    for (part, outcome) in &asking {
        let own = match outcome {
            Outcome::Plain => rule(part),
            Outcome::Path(ask) if ask.lasts => ask.reading.clone().or_else(|| rule(part)),
            _ => None,
        };
        rules = rules.zip(own).map(|(mut rules, own)| {
            if !rules.contains(&own) {
                rules.push(own);
            }
            rules
        });
    }
    let touchy = asking.iter().find_map(|(_, outcome)| match outcome {
        Outcome::Path(ask) => ask.is_touchy().then_some(ask),
        _ => None,
    });
    let ruled = |(_, outcome): &(&Part, &Outcome)| matches!(outcome, Outcome::Rule(_));
    Some(Asked {
        message: parts_message(&asking),
        kind: Some(Kind::Parts),
        reason: touchy
            .and_then(|ask| ask.reason.clone())
            .map(|(reason, _)| reason),
        approvable: touchy.map(|_| true),
        touchy: touchy.is_some(),
        part_ruled: asking.iter().any(ruled),
        suggestions: match touchy {
            Some(_) => Some(Vec::new()),
            None => rules.map(|rules| vec![suggest_rules(&rules, Source::Local)]),
        },
        ..Asked::default()
    })
}

fn parts_message(asking: &[(&Part, &Outcome)]) -> String {
    let parts: Vec<&str> = asking.iter().map(|(part, _)| part.text.as_str()).collect();
    let verb = match parts.len() {
        1 => "part requires",
        _ => "parts require",
    };
    format!(
        "This Bash command contains multiple operations. The following {verb} approval: {}",
        parts.join(", ")
    )
}

/// The question about one path; with the command line's text a rule for it is suggested too.
fn from_path(ask: &PathAsk, whole: Option<&str>) -> Asked {
    let mut suggestions = ask.offers.clone();
    if let (Some(offers), Some(whole)) = (&mut suggestions, whole)
        && !offers.is_empty()
        && let Some(rule) = Rule::new(TOOL, Some(&suggested(whole)))
    {
        offers.insert(0, suggest_rules(&[rule], Source::Local));
    }
    Asked {
        message: ask.message.clone(),
        reason: ask.reason.as_ref().map(|(reason, _)| reason.clone()),
        kind: ask.reason.as_ref().map(|(_, kind)| *kind),
        suggestions,
        blocked_path: Some(ask.blocked.clone()),
        approvable: ask.is_touchy().then_some(ask.approvable),
        no_lasting_rule: !ask.approvable,
        ..Asked::default()
    }
}

/// The content of the rule that is suggested for a command: its first two words and a star, or all of it.
fn suggested(text: &str) -> String {
    let text = text.trim();
    let mut words = text.split_whitespace();
    let (name, verb) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let plain = verb.starts_with(|c: char| c.is_ascii_lowercase())
        && verb.split('-').all(|part| {
            let mut letters = part.chars();
            !part.is_empty() && letters.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        });
    match plain && !name.contains('=') && !among(NO_PREFIX, name) {
        true => format!("{name} {verb} *"),
        false => text.to_owned(),
    }
}

fn dangerous(name: &str, what: &str) -> Verdict {
    let target = what.rsplit(": ").next().unwrap_or("");
    let asked = Asked {
        message: format!(
            "Dangerous {name} operation detected: '{target}'\n\nThis command would remove more than is likely meant, and \
             no rule can allow it: a person has to."
        ),
        suggestions: Some(Vec::new()),
        approvable: Some(false),
        no_lasting_rule: true,
        danger: true,
        ..Asked::because(
            &format!("Dangerous {name} operation on {what}"),
            Kind::Safety,
        )
    };
    asked.verdict()
}

fn denied(text: &str, kind: Kind, entry: Option<&Entry>) -> Verdict {
    let text = format!("Permission to use {TOOL} with command {text} has been denied.");
    Verdict::Denied(Refusal::by_rule(
        text,
        kind.name(),
        entry.map(|entry| entry.source),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suggestion_is_two_plain_words_and_a_star_or_the_whole() {
        for (text, expected) in [
            ("npm run test -- --x", "npm run *"),
            ("git -C x status", "git -C x status"),
            ("FOO=1 npm test", "FOO=1 npm test"),
            ("sudo npm test", "sudo npm test"),
            ("touch a.txt", "touch a.txt"),
        ] {
            assert_eq!(suggested(text), expected, "{text}");
        }
    }

    #[test]
    fn a_rule_that_denies_sees_through_wrappers() {
        for text in [
            "sudo foo x",
            "env A=1 foo x",
            "/bin/foo x",
            "\"foo\" x",
            "nohup nice -n 5 foo x",
        ] {
            let parts = split(text).unwrap();
            assert!(forms(&parts[0]).contains(&"foo x".to_owned()), "{text}");
        }
    }
}
