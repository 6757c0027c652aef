//! Shell commands, as far as their words tell what they would do.
//!
//! Cuts a command line into its parts and judges each by rules, by its name and by its paths: reading inside of the working
//! folders is free, changing files there is as the mode says, all else is asked about. Invariants: a text that has more in
//! it than plain words is asked about as a whole, and a rule that allows one part allows nothing of the others.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::calls::{Check, Touch};
use super::decision::{Accepted, Refusal};
use super::parts::{Part, pieces, split};
use super::question::{
    Firm, Question, Verdict, suggest_edits, suggest_folder, suggest_reading, suggest_rules,
};
use super::rule::{Behavior, Rule};
use crate::cli::source::Source;

const TOOL: &str = "Bash";
const REQUIRED: &str = "This command requires approval";
/// Commands that change the files they name.
const EDITS: &str = "touch mkdir rm rmdir mv cp";
/// Commands that only look at the files they name.
const READS: &str = "ls cat head tail wc grep stat du cut diff cmp cd nl find sort";
/// Commands that only say something and name no file.
const SAYS: &str = "echo printf sleep true false pwd whoami id uname date";
/// What `git` only shows with.
const SHOWS: &str = "status log diff show rev-parse blame ls-files";
/// Flags that make a command that looks do more.
const ACTS: &str = "-exec -execdir -delete -ok -fprint -o --output --ext-diff";
/// Commands that start the command in their arguments: a rule that denies or asks sees through them.
const WRAPPERS: &str =
    "sudo doas env nohup nice time timeout command xargs exec if then else while do !";

impl Part {
    fn name(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    /// The arguments that are no flags.
    fn operands(&self) -> impl Iterator<Item = &String> {
        let words = self.words.iter().skip(1);
        words.filter(|word| !word.starts_with('-'))
    }

    fn edits(&self) -> bool {
        is_among(EDITS, self.name())
    }

    /// Whether it only looks, going by its name and flags.
    fn only_looks(&self) -> bool {
        let shows = self.words.get(1).is_some_and(|verb| is_among(SHOWS, verb));
        let known = match self.name() {
            "git" => shows,
            name => is_among(READS, name) || is_among(SAYS, name),
        };
        let acts = |word: &String| is_among(ACTS, word.split('=').next().unwrap_or(word));
        known && !self.words[1..].iter().any(acts)
    }
}

fn is_among(list: &str, name: &str) -> bool {
    list.split_whitespace().any(|known| known == name)
}

/// Whether a command line changes nothing, going by its names and flags.
pub(in crate::cli) fn only_looks(text: &str) -> bool {
    let looks = |part: &Part| part.outs.is_empty() && part.only_looks();
    split(text).is_some_and(|parts| !parts.is_empty() && parts.iter().all(looks))
}

/// What one part comes to.
enum Outcome {
    Free,
    Asked(Question),
}

/// What is to become of a command line.
pub(super) fn judge(check: &Check<'_>, text: &str) -> Verdict {
    let rules = check.rules;
    let whole = [text.trim().to_owned()];
    let rule = |behavior| {
        let all = rules.whole(behavior, TOOL);
        all.or_else(|| {
            rules
                .command(behavior, &whole)
                .filter(|_| split(text).is_none_or(|parts| parts.len() == 1))
        })
    };
    let split = split(text);
    let parts = split.clone().unwrap_or_else(|| pieces(text));
    let denied = rules.whole(Behavior::Deny, TOOL).is_some();
    if denied || parts.iter().any(|part| is_forbidden(check, part)) {
        let text = format!("Permission to use {TOOL} with command {text} has been denied.");
        let kind = match split.is_some() && !denied {
            true => "subcommandResults",
            false => "rule",
        };
        return Verdict::Denied(Refusal::by_rule(text, kind));
    }
    if let Some(asked) = parts.iter().find_map(|part| removal(check, part)) {
        return Verdict::Asked(asked);
    }
    if let Some(source) = rule(Behavior::Ask) {
        return Verdict::Asked(Question::by_rule(source, TOOL));
    }
    let touchy = || parts.iter().find_map(|part| touchy(check, part));
    if let Some(source) = rules.whole(Behavior::Allow, TOOL) {
        return match touchy() {
            Some(asked) => Verdict::Asked(asked),
            None => Verdict::Free(Accepted::by_rule(source)),
        };
    }
    let Some(parts) = split else {
        let asks = parts
            .iter()
            .any(|part| rules.command(Behavior::Ask, &forms(part)).is_some());
        let firm = if asks { Firm::Rule } else { Firm::Usual };
        return Verdict::Asked(Question::because(REQUIRED, "other", Vec::new()).firm(firm));
    };
    let moves = parts.len() > 1 && parts.iter().any(|part| part.name() == "cd");
    let weighed: Vec<Outcome> = parts
        .iter()
        .map(|part| weigh(check, part, moves, &whole[0]))
        .collect();
    let is_exact = |content: &str| content.strip_suffix(":*").unwrap_or(content) == whole[0];
    let exact = rules.fitting(Behavior::Allow, TOOL, is_exact);
    match merged(&parts, weighed) {
        Some(asked) => Verdict::Asked(asked),
        None => Verdict::Free(exact.map_or(Accepted::PARTS, Accepted::by_rule)),
    }
}

/// The texts that a rule which denies or asks may mean: the part, and what is left of it behind each wrapper.
fn forms(part: &Part) -> Vec<String> {
    let mut forms = vec![part.text.clone()];
    let mut words = &part.words[..];
    while let Some((first, rest)) = words.split_first() {
        let name = first.rsplit('/').next().unwrap_or("");
        forms.push(format!("{name} {}", rest.join(" ")).trim_end().to_owned());
        let option = first.starts_with(|c: char| c == '-' || c.is_ascii_digit());
        if !first.contains('=') && !option && !is_among(WRAPPERS, name) {
            break;
        }
        words = rest;
    }
    forms
}

/// Whether a rule denies the part, by its text or by a path in it. What may not be read may not be changed either.
fn is_forbidden(check: &Check<'_>, part: &Part) -> bool {
    let denies = |touch: Touch, word: &String| {
        let path = check.places.absolute(word);
        check.path_rule(Behavior::Deny, touch, &path).is_some()
    };
    let named = part.edits() || is_among(READS, part.name());
    let operands: Vec<&String> = part.operands().filter(|_| named).collect();
    check.rules.command(Behavior::Deny, &forms(part)).is_some()
        || part.outs.iter().any(|word| denies(Touch::Write, word))
        || part
            .ins
            .iter()
            .chain(operands.iter().copied())
            .any(|word| denies(Touch::Read, word))
        || part.edits() && operands.iter().any(|word| denies(Touch::Write, word))
}

/// The question about a removal that would take far too much with it.
fn removal(check: &Check<'_>, part: &Part) -> Option<Question> {
    let is_removal = |word: &String| matches!(word.rsplit('/').next(), Some("rm" | "rmdir"));
    let at = part.words.iter().position(is_removal)?;
    let targets = part.words[at + 1..]
        .iter()
        .filter(|word| !word.starts_with('-'));
    let path = targets
        .map(|target| check.places.absolute(target.trim_end_matches("/*")))
        .find(|path| check.places.root.starts_with(path) || *path == check.places.home)?;
    let shown = path.display();
    let mut asked = Question::because(
        &format!("Dangerous rm operation on critical path: {shown}"),
        "safetyCheck",
        Vec::new(),
    );
    asked.message = format!("Dangerous rm operation detected: '{shown}'");
    let asked = asked.with("classifier_approvable", false);
    Some(
        asked
            .with("suppress_always_allow_rule", true)
            .firm(Firm::Danger),
    )
}

/// The question about a file that a part changes although it is touchy.
fn touchy(check: &Check<'_>, part: &Part) -> Option<Question> {
    let operands = part.operands().filter(|_| part.edits());
    part.outs.iter().chain(operands).find_map(|word| {
        let path = check.places.absolute(word);
        let reason = check.places.touchy(&path)?;
        let asked = Question::because(&reason, "safetyCheck", change_offers(check, part, &path));
        let asked = asked.with("blocked_path", path.to_string_lossy());
        Some(asked.with("classifier_approvable", true).firm(Firm::Safety))
    })
}

/// One part of the whole. `moved`: a `cd` beside it changes where its paths start.
fn weigh(check: &Check<'_>, part: &Part, moved: bool, whole: &str) -> Outcome {
    if let Some(source) = check.rules.command(Behavior::Ask, &forms(part)) {
        return Outcome::Asked(Question::by_rule(source, TOOL));
    }
    if let Some(asked) = touchy(check, part) {
        return Outcome::Asked(asked);
    }
    let text = std::slice::from_ref(&part.text);
    let ruled = check.rules.command(Behavior::Allow, text).is_some();
    let changes = part.edits() || !part.outs.is_empty();
    if moved && (changes || part.name() == "git") {
        return Outcome::Asked(plain(part));
    }
    let operands = part.operands().filter(|_| part.edits() && !ruled);
    let changed = part
        .outs
        .iter()
        .chain(operands)
        .filter(|word| *word != "/dev/null");
    if let Some(asked) = changed
        .filter_map(|word| changing(check, part, word, whole))
        .next()
    {
        return Outcome::Asked(asked);
    }
    let looks = part.only_looks();
    let named = part
        .operands()
        .filter(|_| looks && !ruled && is_among(READS, part.name()));
    if let Some(asked) = part
        .ins
        .iter()
        .chain(named)
        .find_map(|word| reading(check, part, word, whole))
    {
        return Outcome::Asked(asked);
    }
    match ruled || looks || part.edits() && check.edits_free {
        true => Outcome::Free,
        false => Outcome::Asked(plain(part)),
    }
}

/// The question about a part that is not known to be harmless.
fn plain(part: &Part) -> Question {
    Question::because(
        REQUIRED,
        "other",
        own_rule(&part.text).into_iter().collect(),
    )
}

/// The suggestion of a rule for a command.
fn own_rule(text: &str) -> Option<Value> {
    let rule = Rule::new(TOOL, Some(&suggested(text)))?;
    Some(suggest_rules(&[rule], Source::Local))
}

/// The question about changing a file, if there is one.
fn changing(check: &Check<'_>, part: &Part, word: &str, whole: &str) -> Option<Question> {
    let path = check.places.absolute(word);
    let inside = check.is_inside(&path);
    let allowed = check
        .path_rule(Behavior::Allow, Touch::Write, &path)
        .is_some();
    if allowed || check.places.is_plan(&path) || inside && check.edits_free {
        return None;
    }
    let side = if inside { "inside" } else { "outside" };
    let message = format!(
        "{} in '{}' needs approval. The path is {side} the working directories for this session ('{}').",
        part.name(),
        path.display(),
        check.places.root.display()
    );
    let mut offers = change_offers(check, part, &path);
    offers.splice(0..0, own_rule(whole));
    Some(blocked(message, offers, &path))
}

fn change_offers(check: &Check<'_>, part: &Part, path: &Path) -> Vec<Value> {
    let edits = check.offers_edits && part.outs.is_empty();
    let folder = suggest_folder(&check.places.folder_of(path));
    std::iter::once(folder)
        .chain(edits.then(suggest_edits))
        .collect()
}

/// The question about reading a file outside, if there is one.
fn reading(check: &Check<'_>, part: &Part, word: &str, whole: &str) -> Option<Question> {
    let path: PathBuf = check.places.absolute(word);
    let allowed = check
        .path_rule(Behavior::Allow, Touch::Read, &path)
        .is_some();
    if allowed || check.is_inside(&path) {
        return None;
    }
    let message = format!(
        "{} in '{}' was blocked. For security, Claude Code may only use files in the working directories of this \
         session: '{}'.",
        part.name(),
        path.display(),
        check.places.root.display()
    );
    let mut offers: Vec<Value> = own_rule(whole).into_iter().collect();
    offers.extend(suggest_reading(&check.places.folder_of(&path)));
    Some(blocked(message, offers, &path))
}

fn blocked(message: String, offers: Vec<Value>, path: &Path) -> Question {
    let fields = json!({
        "permission_suggestions": offers, "blocked_path": path.to_string_lossy(),
    });
    Question::new(message, fields)
}

/// The question that is left to ask, if any: that of the one part that asks, or one about all that do.
fn merged(parts: &[Part], weighed: Vec<Outcome>) -> Option<Question> {
    let mut asking: Vec<(&Part, Question)> = parts
        .iter()
        .zip(weighed)
        .filter_map(|(part, outcome)| match outcome {
            Outcome::Free => None,
            Outcome::Asked(asked) => Some((part, asked)),
        })
        .collect();
    let plain = |asked: &Question| asked.kind() == Some("other");
    if asking.len() == 1 && (parts.len() == 1 || !plain(&asking[0].1)) {
        return asking.pop().map(|(_, asked)| asked);
    }
    let firm = asking.iter().map(|(_, asked)| asked.firm).max()?;
    let verb = match asking.len() {
        1 => "part requires",
        _ => "parts require",
    };
    let texts: Vec<&str> = asking.iter().map(|(part, _)| part.text.as_str()).collect();
    let message = format!(
        "This Bash command contains multiple operations. The following {verb} approval: {}",
        texts.join(", ")
    );
    let mut rules: Vec<Rule> = Vec::new();
    for text in texts {
        let rule = Rule::new(TOOL, Some(&suggested(text)));
        rules.extend(rule.filter(|rule| !rules.contains(rule)));
    }
    let mut fields = json!({"decision_reason_type": "subcommandResults"});
    let reason = asking.iter().find(|(_, asked)| asked.firm == Firm::Safety);
    if let Some((_, touchy)) = reason {
        fields["decision_reason"] = touchy.fields["decision_reason"].clone();
        fields["classifier_approvable"] = true.into();
    }
    if firm == Firm::Usual {
        fields["permission_suggestions"] = json!([suggest_rules(&rules, Source::Local)]);
    }
    Some(Question::new(message, fields).firm(firm))
}

/// The content of the rule that is suggested for a command: its first two words and a star, or all of it.
fn suggested(text: &str) -> String {
    let text = text.trim();
    let mut words = text.split_whitespace();
    let (name, verb) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_verb = verb.starts_with(|c: char| c.is_ascii_lowercase()) && verb.chars().all(plain);
    let runs_another = is_among(WRAPPERS, name) || matches!(name, "bash" | "sh" | "zsh");
    match is_verb && !name.contains('=') && !runs_another {
        true => format!("{name} {verb} *"),
        false => text.to_owned(),
    }
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
            "nice -n 5 foo x",
        ] {
            let parts = split(text).unwrap();
            assert!(forms(&parts[0]).contains(&"foo x".to_owned()), "{text}");
        }
    }
}
