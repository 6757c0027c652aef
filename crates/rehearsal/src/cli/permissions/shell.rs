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
/// Commands that start the command in their arguments: no rule is suggested that would allow them all.
const WRAPPERS: &str = "sudo doas env nohup nice time timeout command xargs exec bash sh zsh";

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

/// What is to become of a command line.
pub(super) fn judge(check: &Check<'_>, text: &str) -> Verdict {
    let rules = check.rules;
    let whole = text.trim();
    let split = split(text);
    let is_one = split.as_ref().is_none_or(|parts| parts.len() == 1);
    let rule = |behavior| {
        let all = rules.whole(behavior, TOOL);
        all.or_else(|| rules.command(behavior, whole).filter(|_| is_one))
    };
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
            .any(|part| rules.command(Behavior::Ask, &part.text).is_some());
        let firm = if asks { Firm::Rule } else { Firm::Usual };
        return Verdict::Asked(Question::because(REQUIRED, "other", Vec::new()).firm(firm));
    };
    let moves = parts.len() > 1 && parts.iter().any(|part| part.name() == "cd");
    let weighed = parts.iter().filter_map(|part| {
        let asked = weigh(check, part, moves, whole)?;
        Some((part, asked))
    });
    let is_exact = |content: &str| content.strip_suffix(":*").unwrap_or(content) == whole;
    let exact = rules.fitting(Behavior::Allow, TOOL, is_exact);
    match merged(parts.len(), weighed.collect()) {
        Some(asked) => Verdict::Asked(asked),
        None => Verdict::Free(exact.map_or(Accepted::PARTS, Accepted::by_rule)),
    }
}

/// Whether a rule denies the part, by its text or by a path in it. What may not be read may not be changed either.
fn is_forbidden(check: &Check<'_>, part: &Part) -> bool {
    let denies = |touch: Touch, word: &String| {
        let path = check.places.absolute(word);
        check.path_rule(Behavior::Deny, touch, &path).is_some()
    };
    let named = part.edits() || is_among(READS, part.name());
    let operands: Vec<&String> = part.operands().filter(|_| named).collect();
    check.rules.command(Behavior::Deny, &part.text).is_some()
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

/// The question about one part of the whole, if there is one. `moved`: a `cd` beside it changes where its paths start.
fn weigh(check: &Check<'_>, part: &Part, moved: bool, whole: &str) -> Option<Question> {
    if let Some(source) = check.rules.command(Behavior::Ask, &part.text) {
        return Some(Question::by_rule(source, TOOL));
    }
    if let Some(asked) = touchy(check, part) {
        return Some(asked);
    }
    let ruled = check.rules.command(Behavior::Allow, &part.text).is_some();
    let changes = part.edits() || !part.outs.is_empty();
    if moved && (changes || part.name() == "git") {
        return Some(plain(part));
    }
    let operands = part.operands().filter(|_| part.edits() && !ruled);
    let changed = part.outs.iter().chain(operands);
    let mut changed = changed.filter(|word| *word != "/dev/null");
    if let Some(asked) = changed.find_map(|word| changing(check, part, word, whole)) {
        return Some(asked);
    }
    let looks = part.only_looks();
    let named = part
        .operands()
        .filter(|_| looks && !ruled && is_among(READS, part.name()));
    let mut read = part.ins.iter().chain(named);
    if let Some(asked) = read.find_map(|word| reading(check, part, word, whole)) {
        return Some(asked);
    }
    match ruled || looks || part.edits() && check.edits_free {
        true => None,
        false => Some(plain(part)),
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
fn merged(parts: usize, mut asking: Vec<(&Part, Question)>) -> Option<Question> {
    if asking.len() == 1 && (parts == 1 || asking[0].1.kind() != Some("other")) {
        return asking.pop().map(|(_, asked)| asked);
    }
    let firm = asking.iter().map(|(_, asked)| asked.firm).max()?;
    let texts: Vec<&str> = asking.iter().map(|(part, _)| part.text.as_str()).collect();
    let message = format!(
        "This Bash command contains multiple operations. The following parts require approval: {}",
        texts.join(", ")
    );
    let mut rules: Vec<Rule> = Vec::new();
    for text in texts {
        let rule = Rule::new(TOOL, Some(&suggested(text)));
        rules.extend(rule.filter(|rule| !rules.contains(rule)));
    }
    let mut fields = json!({"decision_reason_type": "subcommandResults"});
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
    match is_verb && !name.contains('=') && !is_among(WRAPPERS, name) {
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
}
