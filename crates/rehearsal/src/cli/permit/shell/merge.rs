//! What the parts of a command line come to together.
//!
//! Owns the question that is asked and the rules that are suggested with it. One part that asks is asked about as it is;
//! several are asked about at once, and a rule is suggested for each, or none if one of them cannot be put into a rule.

use serde_json::Value;

use super::super::super::source::Source;
use super::super::ask::{Asked, Kind, suggest_rules};
use super::super::rule::Rule;
use super::touch::{Lasting, PathAsk};
use super::{Command, Script, forms};

/// What one simple command comes to.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Outcome {
    Free,
    /// A rule of this source asks.
    Rule(Source),
    /// A path asks.
    Path(PathAsk),
    /// It is not known to be harmless.
    Plain,
}

impl Outcome {
    /// A question because of the command's shape.
    pub(super) fn shape(reason: &str, message: &str, offers: Option<Vec<Value>>) -> Self {
        Outcome::Path(PathAsk::of_shape(reason, message, offers))
    }

    /// The question, if it is about a touchy file.
    pub(super) fn touchy(&self) -> Option<&PathAsk> {
        match self {
            Outcome::Path(ask) if matches!(ask.reason, Some((_, Kind::Safety))) => Some(ask),
            _ => None,
        }
    }
}

/// The question about one path; with the command line's text a rule for it is suggested too.
pub(super) fn from_path(ask: &PathAsk, whole: Option<&str>) -> Asked {
    let mut suggestions = ask.offers.clone();
    if let (Some(offers), Some(whole)) = (&mut suggestions, whole)
        && !offers.is_empty()
        && let Some(rule) = Rule::new("Bash", Some(&forms::suggested(whole)))
    {
        offers.insert(0, suggest_rules(&[rule], Source::Local));
    }
    let kind = ask.reason.as_ref().map(|(_, kind)| *kind);
    Asked {
        message: ask.message.clone(),
        reason: ask.reason.as_ref().map(|(reason, _)| reason.clone()),
        kind,
        suggestions,
        blocked_path: ask.blocked.clone(),
        approvable: (kind == Some(Kind::Safety)).then_some(ask.approvable),
        no_lasting_rule: !ask.approvable,
        ..Asked::default()
    }
}

/// What a command's arguments come to, and what its redirections ask for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Weighed {
    pub(super) body: Outcome,
    pub(super) out: Option<PathAsk>,
}

impl Weighed {
    /// The two as one. A rule that asks comes before a file that does.
    fn whole(&self) -> Outcome {
        match (&self.body, &self.out) {
            (Outcome::Rule(_), _) | (_, None) => self.body.clone(),
            (_, Some(ask)) => Outcome::Path(ask.clone()),
        }
    }
}

/// A command and what it asks.
type Asking<'a> = (&'a Command, Outcome);

/// The question that is left to ask, if any.
pub(super) fn merged(whole: Option<&str>, script: &Script, weighed: &[Weighed]) -> Option<Asked> {
    let piped = script.is_piped();
    let asking = |outcome: fn(&Weighed) -> Outcome| -> Vec<Asking<'_>> {
        let each = script.commands.iter().zip(weighed.iter().map(outcome));
        each.filter(|(_, outcome)| *outcome != Outcome::Free)
            .collect()
    };
    if !piped {
        let asking = asking(Weighed::whole);
        let (command, outcome) = asking.first()?;
        return Some(match asking.len() {
            1 => alone(whole, script, command, outcome),
            _ => together(&asking, at_once(&asking)),
        });
    }
    let bodies = asking(|weighed| weighed.body.clone());
    if bodies.is_empty() && !script.pipe_in_block {
        let out = weighed.iter().find_map(|weighed| weighed.out.as_ref())?;
        return Some(from_path(out, whole));
    }
    Some(together(&bodies, by_segment(whole, script, weighed)))
}

/// One question about several parts. A touchy file among them is the reason, and takes the rules out of the offers.
fn together(asking: &[Asking<'_>], suggestions: Option<Vec<Value>>) -> Asked {
    let touchy = asking.iter().find_map(|(_, outcome)| outcome.touchy());
    let asked = Asked {
        message: parts_message(asking),
        kind: Some(Kind::Parts),
        part_ruled: asking
            .iter()
            .any(|(_, outcome)| matches!(outcome, Outcome::Rule(_))),
        suggestions,
        ..Asked::default()
    };
    let Some(ask) = touchy else {
        return asked;
    };
    Asked {
        reason: ask.reason.as_ref().map(|(reason, _)| reason.clone()),
        approvable: Some(ask.approvable),
        no_lasting_rule: !ask.approvable,
        suggestions: Some(asked.suggestions.unwrap_or_default()),
        touchy: true,
        ..asked
    }
}

/// The question about a command line for which no rule can be suggested.
pub(super) fn unruled(script: &Script, weighed: &[Weighed]) -> Asked {
    let asked = merged(None, script, weighed).unwrap_or_default();
    let nested = script.commands.iter().any(|command| command.nested);
    let several = nested || asked.kind == Some(Kind::Parts);
    Asked {
        kind: Some(if several { Kind::Parts } else { Kind::Other }),
        reason: (!several).then(|| "This command requires approval".to_owned()),
        message: "This command requires approval".to_owned(),
        part_ruled: asked.ruled(),
        ..Asked::default()
    }
}

fn alone(whole: Option<&str>, script: &Script, command: &Command, outcome: &Outcome) -> Asked {
    match outcome {
        Outcome::Rule(source) => Asked::by_rule(*source, "Bash"),
        Outcome::Path(ask) => from_path(ask, whole.filter(|_| outcome.touchy().is_none())),
        Outcome::Plain | Outcome::Free => {
            let rule = Rule::new("Bash", Some(&forms::suggested(&command.text)));
            let suggestions = Some(
                rule.iter()
                    .map(|rule| suggest_rules(std::slice::from_ref(rule), Source::Local))
                    .collect(),
            );
            let set_only =
                |command: &&Command| !command.assigns.is_empty() && command.words.is_empty();
            let others = script.commands.len() - script.commands.iter().filter(set_only).count();
            if others <= 1 {
                return Asked {
                    suggestions,
                    ..Asked::because("This command requires approval", Kind::Other)
                };
            }
            Asked {
                message: parts_message(&[(command, Outcome::Plain)]),
                kind: Some(Kind::Parts),
                suggestions,
                ..Asked::default()
            }
        }
    }
}

fn parts_message(asking: &[Asking<'_>]) -> String {
    let parts: Vec<&str> = asking
        .iter()
        .map(|(command, _)| command.text.as_str())
        .collect();
    let verb = if parts.len() == 1 {
        "part requires"
    } else {
        "parts require"
    };
    format!(
        "This Bash command contains multiple operations. The following {verb} approval: {}",
        parts.join(", ")
    )
}

/// One suggestion with a rule for each part.
fn at_once(asking: &[Asking<'_>]) -> Option<Vec<Value>> {
    let mut rules: Vec<Rule> = Vec::new();
    for (command, outcome) in asking {
        let own = || Rule::new("Bash", Some(&forms::suggested(&command.text)));
        let rule = match outcome {
            Outcome::Plain => own()?,
            Outcome::Path(PathAsk {
                lasting: Lasting::Reading(rule),
                ..
            }) => rule.clone(),
            Outcome::Path(PathAsk {
                lasting: Lasting::Command,
                ..
            }) => own()?,
            _ => return None,
        };
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    Some(vec![suggest_rules(&rules, Source::Local)])
}

/// The offers of each part between pipes, one after the other. A part that stands there twice counts once.
fn by_segment(whole: Option<&str>, script: &Script, weighed: &[Weighed]) -> Option<Vec<Value>> {
    let mut segments = asking_segments(script, weighed);
    let touchy = weighed
        .iter()
        .any(|weighed| weighed.body.touchy().is_some());
    let redirected = weighed.iter().any(|weighed| weighed.out.is_some());
    // A block that is cut by a pipe has no last part that could be read by itself.
    if script.pipe_in_block {
        segments.pop();
    }
    let mut offers: Vec<Value> = Vec::new();
    let whole_segments = script.segments();
    let mut seen: Vec<Vec<&str>> = Vec::new();
    for (at, segment) in segments.iter().enumerate() {
        let texts: Vec<&str> = whole_segments[at]
            .iter()
            .map(|command| command.text.as_str())
            .collect();
        let by_rule = matches!(segment[..], [(_, Outcome::Rule(_))]);
        if segment.is_empty() || by_rule || seen.contains(&texts) {
            continue;
        }
        seen.push(texts);
        let own = match &segment[..] {
            [(_, Outcome::Path(ask))] => ask.offers.clone(),
            several => at_once(several),
        };
        let own = own.filter(|own| touchy || !own.is_empty());
        let mut own = own.or_else(|| touchy.then(Vec::new))?;
        // The first part of such a block cannot be read by itself either: no rule would mean it.
        if script.pipe_in_block && at == 0 {
            own.retain(|offer| !is_rules(offer));
        }
        offers.extend(own);
    }
    if touchy {
        offers.retain(|offer| !is_rules(offer));
        return Some(offers);
    }
    if redirected {
        offers.retain(|offer| !means_bash(offer));
    }
    if offers.is_empty() {
        return None;
    }
    if let Some(whole) = whole
        && !offers.iter().any(means_bash)
    {
        let rule = Rule::new("Bash", Some(&forms::suggested(whole)))?;
        offers.insert(0, suggest_rules(&[rule], Source::Local));
    }
    Some(offers)
}

/// What asks, between pipes.
fn asking_segments<'a>(script: &'a Script, weighed: &[Weighed]) -> Vec<Vec<Asking<'a>>> {
    let mut segments = vec![Vec::new()];
    for (command, weighed) in script.commands.iter().zip(weighed) {
        if command.after_pipe {
            segments.push(Vec::new());
        }
        if weighed.body != Outcome::Free
            && let Some(segment) = segments.last_mut()
        {
            segment.push((command, weighed.body.clone()));
        }
    }
    segments
}

/// Whether an offer is one of rules.
pub(super) fn is_rules(offer: &Value) -> bool {
    offer["type"] == "addRules"
}

fn means_bash(offer: &Value) -> bool {
    let mut rules = offer["rules"].as_array().into_iter().flatten();
    rules.any(|rule| rule["toolName"] == "Bash")
}
