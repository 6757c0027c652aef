//! Templates and drafts: what of them is sound. Folders: which were worked in lately.
//!
//! Pure.

use std::collections::HashMap;
use std::path::PathBuf;

use crate::control::approval::Comment;
use crate::control::session::Setup;
use crate::control::{ControlError, Mode, RecentFolder, Result, Template};

/// The longest name of a template.
const LONGEST_NAME: usize = 64;

/// The most templates, the most comments on one plan, and the longest of either.
pub(crate) const MOST_TEMPLATES: usize = 256;
const MOST_COMMENTS: usize = 500;
const LONGEST_COMMENT: usize = 10_000;
const LONGEST_TEMPLATE: usize = 256 * 1024;

/// So many folders are named.
const MOST_FOLDERS: usize = 30;

/// Whether a template can be kept under this name.
pub(crate) fn check_template(name: &str, template: &Template) -> Result<()> {
    let is_plain = |c: char| !c.is_control() && c != '/';
    if name.trim().is_empty() || name.chars().count() > LONGEST_NAME || !name.chars().all(is_plain)
    {
        return Err(ControlError::invalid(format!(
            "the name of a template has 1 to {LONGEST_NAME} letters, and no `/`"
        )));
    }
    if matches!(template.mode, Some(Mode::HandsOff { .. })) {
        return Err(ControlError::invalid(
            "no session begins hands-off: choose it when its agent runs",
        ));
    }
    let folders = template.cwd.iter().chain(&template.add_dirs);
    if let Some(folder) = folders.into_iter().find(|folder| !folder.is_absolute()) {
        return Err(ControlError::invalid(format!(
            "{} is no whole path: name it from the root on",
            folder.display()
        )));
    }
    crate::money::budget::sound(template.budget_usd)?;
    crate::desk::check_extras(&Setup {
        effort: template.effort.clone(),
        max_thinking_tokens: template.max_thinking_tokens,
        max_turns: template.max_turns,
        hooks: template.hooks.clone(),
        agents: template.agents.clone(),
        ..Setup::default()
    })?;
    let length = serde_json::to_string(template).map_or(0, |text| text.len());
    if length > LONGEST_TEMPLATE {
        return Err(ControlError::invalid(format!(
            "a template has at most {LONGEST_TEMPLATE} bytes"
        )));
    }
    Ok(())
}

/// Whether these comments can be kept.
pub(crate) fn check_comments(comments: &[Comment]) -> Result<()> {
    let is_sound = |one: &Comment| one.line > 0 && one.text.len() <= LONGEST_COMMENT;
    match comments.len() <= MOST_COMMENTS && comments.iter().all(is_sound) {
        true => Ok(()),
        false => Err(ControlError::invalid(format!(
            "at most {MOST_COMMENTS} comments of at most {LONGEST_COMMENT} bytes, on lines from 1"
        ))),
    }
}

/// The folders that sessions worked in, by when they last did.
pub(crate) fn recent(worked: impl IntoIterator<Item = (PathBuf, u64)>) -> Vec<RecentFolder> {
    let mut by_path: HashMap<PathBuf, (u64, u32)> = HashMap::new();
    for (path, last) in worked {
        let known = by_path.entry(path).or_default();
        *known = (known.0.max(last), known.1.saturating_add(1));
    }
    let folders = by_path
        .into_iter()
        .map(|(path, (last, sessions))| RecentFolder {
            path,
            last,
            sessions,
        });
    let mut folders: Vec<RecentFolder> = folders.collect();
    folders.sort_by(|one, other| (other.last, &one.path).cmp(&(one.last, &other.path)));
    folders.truncate(MOST_FOLDERS);
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_named_once_newest_first() {
        let worked = [("/a", 1), ("/b", 5), ("/a", 9)];
        let folders = recent(worked.map(|(path, last)| (PathBuf::from(path), last)));
        let seen: Vec<_> = folders
            .iter()
            .map(|one| (one.path.to_str().unwrap(), one.last, one.sessions))
            .collect();
        assert_eq!(seen, [("/a", 9, 2), ("/b", 5, 1)]);
    }

    #[test]
    fn a_template_that_could_start_nothing_is_refused() {
        let sound = Template::default();
        assert!(check_template("nightly", &sound).is_ok());
        assert!(check_template("", &sound).is_err());
        assert!(check_template("a/b", &sound).is_err());
        let hands_off = Template {
            mode: Some(Mode::HandsOff { until: 9 }),
            ..Template::default()
        };
        assert!(check_template("x", &hands_off).is_err());
        let relative = Template {
            cwd: Some("here".into()),
            ..Template::default()
        };
        assert!(check_template("x", &relative).is_err());
    }

    #[test]
    fn comments_stand_on_lines() {
        let on = |line| Comment {
            line,
            text: "why?".to_owned(),
        };
        assert!(check_comments(&[on(1)]).is_ok());
        assert!(check_comments(&[on(0)]).is_err());
        assert!(check_comments(&vec![on(1); MOST_COMMENTS + 1]).is_err());
    }
}
