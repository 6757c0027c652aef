//! What may be chosen beside yes and no, in our words.
//!
//! Owns the sorting of the CLI's suggestions: rules belong to *always*, a mode and folders are choices of their own. What
//! *always* means is worded by policy; the CLI's update stands beside it only if it says the same. Invariants: no offer
//! mixes two kinds; bypass is never offered; where no rule can allow the call, *always* is not offered.

use countersign_client::Rule;
use countersign_client::options::{Capabilities, Version};
use countersign_policy::is_taken_everywhere;
use countersign_wire::permission::{PermissionUpdate, RuleBehavior, RuleDestination, RulesUpdate};
use countersign_wire::vocab::PermissionMode;
use serde_json::Value;

use super::Asked;
use crate::control::Mode;
use crate::control::approval::{Kind, Offer, OfferKind};

/// What may be chosen. `suggested_rules` are sets of our own rules that would allow the call, narrowest first.
pub fn offers(
    asked: &Asked,
    suggested_rules: Vec<Vec<String>>,
    version: Option<Version>,
) -> Vec<Offer> {
    if asked.kind != Kind::Tool {
        return Vec::new();
    }
    let mut offers = Vec::new();
    if asked.marks.first().is_none() {
        let rules = suggested_rules.into_iter().filter(|set| !set.is_empty());
        offers.extend(rules.map(|rules| always(asked, rules, version)));
    }
    offers.extend(asked.suggestions.iter().filter_map(other));
    offers
}

/// The same, with *accept edits* among them where that would have allowed the call. Under the rules that make the CLI ask
/// about everything it suggests nothing by itself (measured on 2.1.325).
pub fn with_edits(mut offers: Vec<Offer>, edits_would_do: bool) -> Vec<Offer> {
    let is_there = offers.iter().any(|offer| offer.mode == Some(Mode::Edits));
    if edits_would_do
        && !is_there
        && let Some((mode, label)) = mode_of(&PermissionMode::AcceptEdits)
    {
        offers.push(Offer {
            kind: OfferKind::Mode,
            label: label.to_owned(),
            rules: Vec::new(),
            update: None,
            note: None,
            mode: Some(mode),
            directories: Vec::new(),
        });
    }
    offers
}

fn always(asked: &Asked, rules: Vec<String>, version: Option<Version>) -> Offer {
    let names: Vec<String> = rules.iter().map(|rule| format!("`{rule}`")).collect();
    let own = asked.suggestions.iter().find_map(|update| match update {
        PermissionUpdate::AddRules(update) if says(update, &rules) => Some(update),
        _ => None,
    });
    let to = own.map_or(RuleDestination::LocalSettings, |update| {
        update.destination.clone()
    });
    Offer {
        kind: OfferKind::Always,
        label: format!("Always allow {}", names.join(" and ")),
        note: untaken(&rules).or_else(|| doubt(&rules, &to, version)),
        update: own.and_then(|update| value(&PermissionUpdate::AddRules(update.clone()))),
        mode: None,
        directories: Vec::new(),
        rules,
    }
}

/// A rule that cannot be written to the CLI's settings, in words.
fn untaken(rules: &[String]) -> Option<String> {
    let untaken = rules.iter().find(|rule| !is_taken_everywhere(rule))?;
    Some(format!(
        "`{untaken}` cannot be written to the CLI's own settings, which may not take it. Here it holds all the same."
    ))
}

/// Whether an update of the CLI allows exactly these rules.
fn says(update: &RulesUpdate, rules: &[String]) -> bool {
    let mut theirs: Vec<String> = update
        .rules
        .iter()
        .map(|rule| Rule::from(rule.clone()).to_string())
        .collect();
    let mut ours = rules.to_vec();
    theirs.sort_unstable();
    ours.sort_unstable();
    update.behavior == RuleBehavior::Allow && theirs == ours
}

/// A mode or folders, as a choice of its own.
fn other(update: &PermissionUpdate) -> Option<Offer> {
    let (kind, label, mode, directories) = match update {
        PermissionUpdate::SetMode(change) => {
            let (mode, label) = mode_of(&change.mode)?;
            (OfferKind::Mode, label.to_owned(), Some(mode), Vec::new())
        }
        PermissionUpdate::AddDirectories(folders) if !folders.directories.is_empty() => {
            let names: Vec<String> = folders
                .directories
                .iter()
                .map(|folder| format!("`{folder}`"))
                .collect();
            let label = format!(
                "Allow, and treat {} as part of the working folder from now on",
                names.join(" and ")
            );
            let folders = folders.directories.clone();
            (OfferKind::Directories, label, None, folders)
        }
        _ => return None,
    };
    Some(Offer {
        kind,
        label,
        rules: Vec::new(),
        update: value(update),
        note: None,
        mode,
        directories,
    })
}

/// A mode of the CLI in our words. Those that would take calls out of our sight have none.
fn mode_of(mode: &PermissionMode) -> Option<(Mode, &'static str)> {
    match mode {
        PermissionMode::AcceptEdits => Some((
            Mode::Edits,
            "Allow, and accept edits in this folder from now on",
        )),
        PermissionMode::Default => Some((Mode::Ask, "Allow, and ask about everything from now on")),
        PermissionMode::Plan => Some((Mode::Plan, "Allow, and only plan from now on")),
        _ => None,
    }
}

/// Why a version of the CLI may not honour these rules where it would keep them. Our own rules hold all the same.
pub(crate) fn doubt(
    rules: &[String],
    to: &RuleDestination,
    version: Option<Version>,
) -> Option<String> {
    let can = Capabilities::of(version);
    let name = version.map_or_else(
        || "This version of the CLI".to_owned(),
        |version| format!("Version {version} of the CLI"),
    );
    let is_honoured = match to {
        RuleDestination::LocalSettings => can.honours_local_rules_untrusted(),
        RuleDestination::ProjectSettings => can.honours_project_rules_untrusted(),
        _ => true,
    };
    if !is_honoured {
        return Some(format!(
            "{name} does not honour rules in the settings of a folder that was not trusted there: \
             in a terminal it asks again until it is."
        ));
    }
    let is_narrow_bash = |rule: &String| rule.starts_with("Bash(");
    (rules.iter().any(is_narrow_bash) && !can.bash_rule_covers_paths()).then(|| {
        format!(
            "{name} checks the paths in a command in spite of such a rule: in a terminal it asks again where a command \
             names a file."
        )
    })
}

fn value(update: &PermissionUpdate) -> Option<Value> {
    serde_json::to_value(update).ok()
}
