//! One command line: denied, asked about, or free.
//!
//! Owns the order in which the checks have their say: what is forbidden comes first, then removals that take too much,
//! then rules that ask, then touchy files, then rules that allow, then each simple command by itself. Invariant: a rule
//! that allows one part of a command line allows nothing of the others.

use std::path::PathBuf;

use serde_json::Value;

use super::super::ask::{Asked, Free, Kind, Verdict};
use super::super::decision::Refusal;
use super::super::rule::Behavior;
use super::super::rules::{Entry, Touch};
use super::merge::{self, Outcome, Weighed};
use super::touch::{Bench, PathAsk};
use super::{Command, Script, args, danger, forms, parse, readonly, unchecked};

const TOOL: &str = "Bash";
const OUTPUT: &str = "Output redirection";
/// Commands that files may be changed with where edits are free.
const EDITS: [&str; 7] = ["touch", "mkdir", "rm", "rmdir", "mv", "cp", "sed"];

const MOVED_WRITE: &str = "Compound command contains cd with write operation - which file is written depends on the \
                           folder it is in by then, so it has to be approved by hand";
const MOVED_WRITE_TOLD: &str = "Commands that change directories and perform write operations are approved by hand: the \
                                folder that a path starts from is not known before the command runs.";
const MOVED_OUTPUT: &str = "Compound command contains cd with output redirection - which file is written depends on the \
                            folder it is in by then, so it has to be approved by hand";
const MOVED_INPUT: &str =
    "Input redirection target is a glob or follows a cd - manual approval required";
const SED: &str = "sed command contains operations that require explicit approval (e.g., write commands, those that run \
                   a program, or those not known here)";

/// What is to become of a command line.
pub(in crate::cli::permit) fn judge(bench: &Bench<'_>, text: &str) -> Verdict {
    if bench.rules.whole(Behavior::Deny, TOOL).is_some() {
        return denied(text, Kind::Rule, None);
    }
    if let Some(entry) = bench.rules.exact(Behavior::Deny, text.trim()) {
        return denied(text, Kind::Rule, Some(entry));
    }
    let home = bench.places.home.to_string_lossy();
    match parse::read(text, &home) {
        Ok(script) => of_script(bench, text, &script),
        Err(stop) => of_unread(bench, text, &stop),
    }
}

/// A command line that cannot be checked: only its letters are looked at.
fn of_unread(bench: &Bench<'_>, text: &str, stop: &unchecked::Stop) -> Verdict {
    if piece_matches(bench, Behavior::Deny, text).is_some() {
        return denied(text, Kind::Rule, None);
    }
    if let Some(what) = danger::in_text(bench.places, bench.shell, text) {
        return dangerous(what, false);
    }
    if let Some(verdict) = asked_as_a_whole(bench, text) {
        return verdict;
    }
    let allowed = bench
        .rules
        .whole(Behavior::Allow, TOOL)
        .or_else(|| bench.rules.exact(Behavior::Allow, text.trim()));
    if let Some(entry) = allowed {
        return Verdict::Free(Free::Rule(entry.source));
    }
    let mut asked = Asked::because(&stop.reason, Kind::Other);
    asked.suggestions = Some(Vec::new());
    asked.matched =
        piece_matches(bench, Behavior::Ask, text).map(|entry| (entry.source, entry.rule.clone()));
    asked.verdict()
}

/// The rule that means any piece of a text that was not read.
fn piece_matches<'a>(bench: &'a Bench<'_>, behavior: Behavior, text: &str) -> Option<&'a Entry> {
    let home = bench.places.home.to_string_lossy();
    danger::pieces(text).into_iter().find_map(|piece| {
        let forms = match parse::read(piece, &home) {
            Ok(script) => script.commands.iter().flat_map(forms::forbidding).collect(),
            Err(_) => vec![piece.to_owned()],
        };
        bench.rules.command(behavior, &forms)
    })
}

fn asked_as_a_whole(bench: &Bench<'_>, text: &str) -> Option<Verdict> {
    let entry = bench
        .rules
        .whole(Behavior::Ask, TOOL)
        .or_else(|| bench.rules.exact(Behavior::Ask, text.trim()))?;
    Some(Asked::by_rule(entry.source, TOOL).verdict())
}

fn of_script(bench: &Bench<'_>, text: &str, script: &Script) -> Verdict {
    if let Some(verdict) = forbidden(bench, text, script) {
        return verdict;
    }
    if let Some(what) = danger::in_script(bench.places, bench.shell, script) {
        return dangerous(what, script.is_piped());
    }
    if let Some(verdict) = asked_as_a_whole(bench, text) {
        return verdict;
    }
    if let Some(entry) = bench.rules.whole(Behavior::Allow, TOOL) {
        let mut commands = script.commands.iter();
        if let Some(ask) = commands.find_map(|command| touchy(bench, command)) {
            return merge::from_path(&ask, None).verdict();
        }
        let free = Verdict::Free(Free::Rule(entry.source));
        return if script.background {
            backgrounded(script.is_piped()).verdict()
        } else {
            free
        };
    }
    if let Some(verdict) = structure(bench, script) {
        return verdict;
    }
    let ruled = bench.rules.exact(Behavior::Allow, text.trim());
    let weighed = weighed(bench, script, ruled.is_some());
    if sets_for_others(script) {
        return merge::unruled(script, &weighed).verdict();
    }
    let asked = merge::merged(bench.offer_rule.then_some(text), script, &weighed);
    match asked {
        Some(asked) if script.background => backgrounded_as_well(script, &weighed, asked).verdict(),
        Some(asked) => asked.verdict(),
        None if script.background => backgrounded(script.is_piped()).verdict(),
        None => Verdict::Free(ruled.map_or(Free::Parts, |entry| Free::Rule(entry.source))),
    }
}

/// A question about a command line of which a part goes on in the background: lasting rules are not offered with it.
fn backgrounded_as_well(script: &Script, weighed: &[Weighed], mut asked: Asked) -> Asked {
    let last = script
        .commands
        .iter()
        .rposition(|command| command.after_pipe);
    let free = |weighed: &Weighed| weighed.body == Outcome::Free;
    let quiet = last.is_some_and(|last| weighed[last..].iter().all(free));
    if quiet && !asked.touchy {
        let mut offers = asked.suggestions.unwrap_or_default();
        offers.retain(|offer| !merge::is_rules(offer));
        return Asked {
            suggestions: (!weighed.iter().all(free)).then_some(offers),
            part_ruled: asked.part_ruled,
            ..backgrounded(true)
        };
    }
    let offers_more = |offers: &Vec<Value>| offers.iter().any(|offer| !merge::is_rules(offer));
    if !asked.touchy {
        asked.suggestions = asked.suggestions.filter(offers_more);
    }
    asked
}

/// A part of the command line that a rule denies, by its text or by a path in it.
fn forbidden(bench: &Bench<'_>, text: &str, script: &Script) -> Option<Verdict> {
    let moved =
        !script.is_piped() && script.commands.len() > 1 && script.commands.iter().any(moves);
    for segment in script.segments() {
        for command in &segment {
            let by_text = bench
                .rules
                .command(Behavior::Deny, &forms::forbidding(command));
            let by_path = forbidden_path(bench, command);
            if by_text.is_none() && by_path.is_none() {
                continue;
            }
            let told = by_path.filter(|(what, _)| {
                script.subshell || moved || script.is_piped() && what == OUTPUT
            });
            if let Some((what, path)) = told.filter(|_| by_text.is_none()) {
                let text = format!("{what} to '{}' was blocked by a deny rule.", path.display());
                return Some(Verdict::Denied(Refusal::by_rule(text, "rule", None)));
            }
            let kind = if script.subshell {
                Kind::Rule
            } else {
                Kind::Parts
            };
            let shown = if script.is_piped() {
                spanned(text, &segment)
            } else {
                text.to_owned()
            };
            return Some(denied(&shown, kind, None));
        }
    }
    None
}

/// The path that a rule denies to a command, and what it would do to it.
fn forbidden_path(bench: &Bench<'_>, command: &Command) -> Option<(String, PathBuf)> {
    let outs: Vec<_> = command.outs.iter().collect();
    let ins: Vec<_> = command.ins.iter().collect();
    if let Some(path) = bench.forbidden(&[Touch::Write], &outs) {
        return Some((OUTPUT.to_owned(), path));
    }
    let name = command.name().to_owned();
    if let Some(path) = bench.forbidden(&[Touch::Read], &ins) {
        return Some((name, path));
    }
    let (touch, words) = args::paths(command)?;
    let both = [Touch::Read, Touch::Write];
    let touches = if touch == Touch::Write {
        &both[..]
    } else {
        &both[..1]
    };
    Some((name, bench.forbidden(touches, &words)?))
}

/// The text of the command line from the first of these commands to the last.
fn spanned(text: &str, segment: &[&Command]) -> String {
    let start = segment.first().map_or(0, |command| command.span.0);
    let end = segment.last().map_or(0, |command| command.span.1);
    text.chars()
        .skip(start)
        .take(end.saturating_sub(start))
        .collect()
}

/// What the shape of a command line asks for, whatever its parts do.
fn structure(bench: &Bench<'_>, script: &Script) -> Option<Verdict> {
    let ask = |reason: &str| {
        let mut asked = Asked::because(reason, Kind::Other);
        let mut matched = script
            .commands
            .iter()
            .filter_map(|command| ask_rule(bench, command));
        asked.matched = matched
            .next()
            .map(|entry| (entry.source, entry.rule.clone()));
        Some(asked.verdict())
    };
    if script.subshell {
        return ask("This command uses shell operators that require approval for safety");
    }
    let segments = script.segments();
    let goes = |segment: &Vec<&Command>| segment.iter().filter(|command| moves(command)).count();
    if segments.iter().any(|segment| goes(segment) > 1) && !script.pipe_in_block {
        return ask("Multiple directory changes in one command require approval for clarity");
    }
    let moves = segments.iter().map(goes).sum::<usize>();
    if moves > 0
        && script
            .commands
            .iter()
            .any(|command| command.name() == "git")
    {
        return ask(
            "This command changes directory before running a version-control command, and the folder it goes to may \
             bring hooks and settings of its own. Allow it only if you know that folder.",
        );
    }
    None
}

/// Whether a variable is set for the commands that follow: what they do may depend on it.
fn sets_for_others(script: &Script) -> bool {
    let own = || script.commands.iter().filter(|command| !command.nested);
    let sets = |command: &Command| command.words.is_empty() && !command.assigns.is_empty();
    own().count() > 1 && own().any(sets)
}

fn moves(command: &Command) -> bool {
    command.name() == "cd"
}

fn ask_rule<'a>(bench: &'a Bench<'_>, command: &Command) -> Option<&'a Entry> {
    bench
        .rules
        .command(Behavior::Ask, &forms::forbidding(command))
}

/// Every simple command by itself. A `cd` counts for what stands beside it between the same pipes.
fn weighed(bench: &Bench<'_>, script: &Script, exact: bool) -> Vec<Weighed> {
    let each = script.segments().into_iter().flat_map(|segment| {
        let moved = segment.iter().any(|command| moves(command));
        let weigh = move |command| Weighed {
            body: weigh(bench, command, exact, moved),
            out: redirected(bench, command, moved),
        };
        segment.into_iter().map(weigh).collect::<Vec<_>>()
    });
    each.collect()
}

/// What the redirections of a command ask for.
fn redirected(bench: &Bench<'_>, command: &Command, moved: bool) -> Option<PathAsk> {
    command
        .outs
        .iter()
        .find_map(|out| match bench.redirecting(out) {
            Some(ask) if ask.reason.is_some() => Some(ask),
            _ if moved && out.text != "/dev/null" => {
                Some(PathAsk::of_shape(MOVED_OUTPUT, MOVED_OUTPUT, None))
            }
            ask => ask,
        })
}

/// The touchy file that a command would change.
fn touchy(bench: &Bench<'_>, command: &Command) -> Option<PathAsk> {
    let is_touchy = |ask: &PathAsk| matches!(ask.reason, Some((_, Kind::Safety)));
    let out = redirected(bench, command, false).filter(is_touchy);
    out.or_else(|| {
        let (touch, words) = args::paths(command)?;
        let ask = (touch == Touch::Write).then(|| bench.writing(command.name(), &words, true))?;
        ask.filter(is_touchy)
    })
}

/// One simple command, without its redirections to files.
fn weigh(bench: &Bench<'_>, command: &Command, exact: bool, moved: bool) -> Outcome {
    if let Some(entry) = ask_rule(bench, command) {
        return Outcome::Rule(entry.source);
    }
    let forms = forms::allowing(command);
    let ruled = exact || bench.rules.command(Behavior::Allow, &forms).is_some();
    let ins: Vec<_> = command.ins.iter().collect();
    if let Some(word) = ins.iter().find(|word| word.expands || moved) {
        return Outcome::Path(PathAsk {
            blocked: Some(word.text.clone()),
            ..PathAsk::of_shape(MOVED_INPUT, MOVED_INPUT, None)
        });
    }
    if let Some(ask) = bench.reading("Input redirection", &ins) {
        return Outcome::Path(ask);
    }
    if let Some(outcome) = by_paths(bench, command, ruled, moved) {
        return outcome;
    }
    if ruled || readonly::is(command) {
        return Outcome::Free;
    }
    let name = command.name().rsplit('/').next().unwrap_or("");
    let edits = command.assigns.is_empty() && EDITS.contains(&name);
    let has_paths = || args::paths(command).is_some_and(|(_, words)| !words.is_empty());
    if bench.edits_free && edits && has_paths() {
        return Outcome::Free;
    }
    if name == "sed" {
        return Outcome::shape(SED, SED, None);
    }
    Outcome::Plain
}

/// What the paths in a command's arguments ask for.
fn by_paths(bench: &Bench<'_>, command: &Command, ruled: bool, moved: bool) -> Option<Outcome> {
    let name = command.name().rsplit('/').next().unwrap_or("");
    if args::goes_home(command) {
        let home = super::Word {
            text: "~".into(),
            ..super::Word::default()
        };
        return bench.reading("cd", &[&home]).map(Outcome::Path);
    }
    let (touch, words) = args::paths(command)?;
    if touch == Touch::Read {
        return bench.reading(name, &words).map(Outcome::Path);
    }
    let flagged = command
        .args()
        .iter()
        .any(|arg| arg.text.starts_with('-') && arg.text.len() > 1);
    if matches!(name, "cp" | "mv") && flagged {
        let reason = format!("{name} command with flags requires manual approval");
        let message = format!(
            "{name} with flags requires manual approval to ensure that no file elsewhere is written: flags can name a \
             target that is not among the plain arguments."
        );
        let offers = Some(bench.offered_edits());
        return Some(Outcome::shape(&reason, &message, offers));
    }
    if moved && !words.is_empty() {
        let offers = Some(bench.offered_edits());
        return Some(Outcome::shape(MOVED_WRITE, MOVED_WRITE_TOLD, offers));
    }
    bench.writing(name, &words, ruled).map(Outcome::Path)
}

impl Bench<'_> {
    fn offered_edits(&self) -> Vec<Value> {
        if self.offer_edits {
            vec![super::super::ask::suggest_edits()]
        } else {
            Vec::new()
        }
    }
}

fn dangerous(what: String, piped: bool) -> Verdict {
    let target = what.rsplit(": ").next().unwrap_or("");
    let name = what.split_whitespace().nth(1).unwrap_or("rm");
    let asked = Asked {
        message: format!(
            "Dangerous {name} operation detected: '{target}'\n\nThis command would remove more than is likely meant, and \
             no rule can allow it: a person has to."
        ),
        kind: Some(if piped { Kind::Parts } else { Kind::Safety }),
        suggestions: (!piped).then(Vec::new),
        approvable: Some(false),
        no_lasting_rule: true,
        danger: true,
        ..Asked::because(&what, Kind::Safety)
    };
    asked.verdict()
}

fn backgrounded(piped: bool) -> Asked {
    let reason = "This command uses the `&` background operator, which lets it go on after the checks made here. \
                  Allow it only if you know what it does.";
    Asked {
        approvable: Some(false),
        no_lasting_rule: true,
        ..Asked::because(reason, if piped { Kind::Parts } else { Kind::Safety })
    }
}

fn denied(text: &str, kind: Kind, entry: Option<&Entry>) -> Verdict {
    let text = format!("Permission to use {TOOL} with command {text} has been denied.");
    Verdict::Denied(Refusal::by_rule(
        text,
        kind.name(),
        entry.map(|entry| entry.source),
    ))
}
