//! Rules that people keep: from a client's words to rows, and back.
//!
//! Owns what makes a rule sound. Invariant: what policy cannot read is never stored.

use std::path::{Path, PathBuf};

use countersign_policy::{Disk as _, Origin, RealDisk, Rule, check};

use crate::control::approval::Scope;
use crate::control::{ChangeRule, Cmd, ControlError, NewRule, Result, RuleView};
use crate::desk::{KeptRule, Reach};
use crate::store::rules::{self, RuleRow};

/// The longest text of a rule.
const LONGEST_RULE: usize = 4_096;

/// The longest note.
const LONGEST_NOTE: usize = 1_000;

/// The row of a new rule.
pub(crate) fn sound(rule: NewRule, cmd: &Cmd, now: u64) -> Result<rules::NewRule> {
    let repository = placed(&rule)?;
    let row = rules::NewRule {
        scope: rule.scope,
        session: rule.session,
        repository,
        effect: rule.effect,
        rule: rule.rule.trim().to_owned(),
        expires: rule.expires,
        by: cmd.principal.clone(),
        client: cmd.client.clone(),
        at: now,
        approval: None,
        note: rule.note,
    };
    check_row(&row, now)?;
    Ok(row)
}

/// The row with what changes about it.
pub(crate) fn changed(
    old: rules::NewRule,
    change: &ChangeRule,
    now: u64,
) -> Result<rules::NewRule> {
    if *change == ChangeRule::default() {
        return Err(ControlError::invalid(
            "nothing is to change: name `effect`, `rule`, `expires` or `note`",
        ));
    }
    let row = rules::NewRule {
        effect: change.effect.unwrap_or(old.effect),
        rule: match &change.rule {
            Some(rule) => rule.trim().to_owned(),
            None => old.rule.clone(),
        },
        expires: change.expires.unwrap_or(old.expires),
        note: change.note.clone().unwrap_or_else(|| old.note.clone()),
        ..old
    };
    check_row(&row, now)?;
    Ok(row)
}

/// Where it holds: exactly what its scope needs.
fn placed(rule: &NewRule) -> Result<Option<String>> {
    match (rule.scope, rule.session, &rule.repository) {
        (Scope::Session, Some(_), None) | (Scope::Always, None, None) => Ok(None),
        (Scope::Repository, None, Some(folder)) => {
            let whole = folder.is_absolute() && folder.is_dir();
            let real = RealDisk.real(folder).filter(|_| whole);
            let text = real.and_then(|real| real.to_str().map(str::to_owned));
            text.map(Some).ok_or_else(|| {
                ControlError::invalid(format!(
                    "{} is no folder: name one that is there, from the root on",
                    folder.display()
                ))
            })
        }
        _ => Err(ControlError::invalid(
            "a rule of a session names `session`, one of a repository names `repository`, and one that always holds names neither",
        )),
    }
}

fn check_row(row: &rules::NewRule, now: u64) -> Result<()> {
    if row.expires.is_some_and(|end| end <= now) {
        return Err(ControlError::invalid(
            "`expires` has passed: microseconds of Unix time, or nothing for good",
        ));
    }
    let is_long = row.rule.len() > LONGEST_RULE
        || row
            .note
            .as_ref()
            .is_some_and(|note| note.len() > LONGEST_NOTE);
    if is_long {
        return Err(ControlError::invalid(format!(
            "a rule has at most {LONGEST_RULE} bytes, and its note {LONGEST_NOTE}"
        )));
    }
    let rule = parsed(row).map_err(|error| ControlError::invalid(error.to_string()))?;
    check::must_name_a_tool(&rule.matcher).map_err(|error| ControlError::invalid(error.to_string()))
}

fn parsed(row: &rules::NewRule) -> Result<Rule, countersign_policy::RuleError> {
    let base = row.repository.as_deref().unwrap_or("/");
    Rule::parse(row.effect.into(), &row.rule, Path::new(base), Origin::Kept)
}

/// A rule as a client sees it.
pub(crate) fn view(row: RuleRow, now: u64) -> RuleView {
    let warning = match (parsed(&row.rule), row.rule.effect) {
        (Ok(rule), crate::control::RuleEffect::Allow) => check::why_dangerous(&rule.matcher),
        (Ok(_), _) => None,
        (Err(error), _) => Some(format!("It cannot be read: {error}")),
    };
    let RuleRow { id, rule } = row;
    RuleView {
        id,
        effect: rule.effect,
        rule: rule.rule,
        scope: rule.scope,
        session: rule.session,
        repository: rule.repository,
        is_over: rule.expires.is_some_and(|end| end <= now),
        expires: rule.expires,
        note: rule.note,
        by: rule.by,
        client: rule.client,
        at: rule.at,
        approval: rule.approval,
        warning,
    }
}

/// Rows as the desk of a session takes them, which works in `repository`.
pub(crate) fn kept_rules(rows: Vec<RuleRow>, repository: &Path) -> Vec<KeptRule> {
    let kept = |RuleRow { id, rule }: RuleRow| KeptRule {
        number: Some(id),
        effect: rule.effect.into(),
        text: rule.rule,
        reach: match rule.scope {
            Scope::Session => Reach::Session,
            Scope::Repository => Reach::Repository(
                rule.repository
                    .map_or_else(|| repository.to_owned(), PathBuf::from),
            ),
            Scope::Always => Reach::Always,
        },
        expires: rule.expires,
        note: rule.note,
    };
    rows.into_iter().map(kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{RuleEffect, SessionId};

    fn rule(scope: Scope, text: &str) -> NewRule {
        NewRule {
            effect: RuleEffect::Deny,
            rule: text.to_owned(),
            scope,
            session: None,
            repository: None,
            expires: None,
            note: None,
        }
    }

    #[test]
    fn what_policy_cannot_read_and_what_holds_nowhere_is_refused() {
        let cmd = Cmd::of("ann", "web");
        let refused = |rule: NewRule| sound(rule, &cmd, 10).unwrap_err().to_string();
        assert!(sound(rule(Scope::Always, "Bash(rm:*)"), &cmd, 10).is_ok());
        refused(rule(Scope::Always, "Bash(rm"));
        refused(rule(Scope::Always, ""));
        for text in ["Foo(*)", "foo", "bash(ls)", "Bashh(ls:*)"] {
            let why = refused(rule(Scope::Always, text));
            assert!(why.contains("Start with a tool name"), "{text}: {why}");
        }
        for text in ["mcp__git__push", "mcp__git__*", "WebFetch(domain:a.com)"] {
            assert!(sound(rule(Scope::Always, text), &cmd, 10).is_ok(), "{text}");
        }
        let over = NewRule {
            expires: Some(10),
            ..rule(Scope::Always, "Bash")
        };
        assert!(refused(over).contains("expires"));
        assert!(refused(rule(Scope::Session, "Bash")).contains("session"));
        let both = NewRule {
            session: Some(SessionId::fresh()),
            repository: Some("/".into()),
            ..rule(Scope::Session, "Bash")
        };
        assert!(refused(both).contains("neither"));
        let nowhere = NewRule {
            repository: Some("not/whole".into()),
            ..rule(Scope::Repository, "Bash")
        };
        assert!(refused(nowhere).contains("no folder"));
    }

    #[test]
    fn a_change_leaves_what_it_does_not_name_and_says_who_made_it() {
        let cmd = Cmd::of("ann", "web");
        let first = NewRule {
            note: Some("because".to_owned()),
            expires: Some(99),
            ..rule(Scope::Always, "Bash(rm:*)")
        };
        let old = sound(first, &cmd, 10).unwrap();
        let change: ChangeRule =
            serde_json::from_str(r#"{"effect":"ask","expires":null}"#).unwrap();
        let new = changed(old.clone(), &change, 11).unwrap();
        assert_eq!((new.effect, new.expires), (RuleEffect::Ask, None));
        assert_eq!(
            (new.note, new.rule, new.by),
            (old.note.clone(), old.rule.clone(), old.by.clone())
        );
        assert!(changed(old.clone(), &ChangeRule::default(), 11).is_err());
        let broken = ChangeRule {
            rule: Some("(".to_owned()),
            ..ChangeRule::default()
        };
        assert!(changed(old, &broken, 11).is_err());
    }
}
