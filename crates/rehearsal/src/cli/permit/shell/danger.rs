//! Removals that would take far too much with them.
//!
//! Finds them in commands that were read, and by a rougher look in those that were not. No rule, no mode and no hook
//! lets one pass without a person.

use std::path::{Path, PathBuf};

use super::super::paths::{Places, tidy};
use super::{Command, Script, forms, parse};

/// What is wrong with a removal, in the CLI's words.
pub(super) fn in_script(places: &Places, shell: &Path, script: &Script) -> Option<String> {
    script
        .commands
        .iter()
        .find_map(|command| in_command(places, shell, command))
}

/// The same for a text that could not be read: every piece of it that could be a command.
pub(super) fn in_text(places: &Places, shell: &Path, text: &str) -> Option<String> {
    if let Some(what) = of_substitution(text) {
        return Some(what);
    }
    let home = places.home.to_string_lossy().into_owned();
    pieces(text)
        .into_iter()
        .find_map(|piece| match parse::read(piece, &home) {
            Ok(script) => in_script(places, shell, &script),
            Err(_) => by_letters(piece),
        })
}

/// A removal of what another command prints.
fn of_substitution(text: &str) -> Option<String> {
    text.split([';', '&', '|', '\n']).find_map(|chunk| {
        let name = chunk.split_whitespace().next()?.rsplit('/').next()?;
        let substituted = chunk.contains("$(") || chunk.contains('`');
        (matches!(name, "rm" | "rmdir") && substituted).then(|| {
            format!("Dangerous {name} operation on statically-unresolvable target: command substitution output")
        })
    })
}

/// A text cut wherever a command may begin or end.
pub(super) fn pieces(text: &str) -> Vec<&str> {
    text.split([';', '&', '|', '\n', '(', ')', '{', '}', '`'])
        .map(|piece| piece.trim().trim_end_matches('$').trim())
        .filter(|piece| !piece.is_empty())
        .collect()
}

/// A removal whose target is only known when it runs.
fn by_letters(piece: &str) -> Option<String> {
    let mut words = piece.split_whitespace();
    let name = words.next()?.rsplit('/').next()?;
    if name != "rm" && name != "rmdir" {
        return None;
    }
    let target = words.clone().find(|word| {
        let bare = word.trim_matches('"');
        bare.starts_with('$') && word.contains('/') && !bare.starts_with("$HOME")
    })?;
    let variable: String = target
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || *c == '_')
        .collect();
    let rest = &target[target.find('/')?..];
    Some(format!(
        "Dangerous {name} operation on possibly-empty variable path: {target} in `{piece}` \
         (rewrite it as \"${{{variable}:?}}\"{rest} or use a literal path)"
    ))
}

fn in_command(places: &Places, shell: &Path, command: &Command) -> Option<String> {
    let words = forms::core(&command.words);
    let name = words.first()?.text.rsplit('/').next()?;
    if matches!(name, "bash" | "sh" | "zsh" | "dash")
        && let Some(at) = words.iter().position(|word| word.text == "-c")
    {
        return in_text(places, shell, &words.get(at + 1)?.text);
    }
    if name != "rm" && name != "rmdir" {
        return None;
    }
    let mut flags = true;
    words[1..].iter().find_map(|word| {
        if flags && word.text.starts_with('-') {
            flags = word.text != "--";
            return None;
        }
        let what = of_target(places, shell, &word.text)?;
        Some(format!("Dangerous {name} operation on {what}"))
    })
}

fn of_target(places: &Places, shell: &Path, target: &str) -> Option<String> {
    let full = places.expanded(shell, target);
    let tidied = tidy(&full);
    let shown = match (target.ends_with('/'), target) {
        (true, "~/") => format!("{}/", tidied.display()),
        _ => tidied.display().to_string(),
    };
    if is_critical(places, &tidied) {
        return Some(format!("critical path: {shown}"));
    }
    let folder = match tidied.file_name().is_some_and(|name| name == "*") {
        true => tidied.parent().unwrap_or(&tidied).to_owned(),
        false => tidied.clone(),
    };
    let everything = folder != tidied;
    if everything && target.ends_with("*/") {
        return Some(format!("statically-unresolvable target: {shown}"));
    }
    if folder == shell
        || folder == places.root
        || !everything && (shell.starts_with(&folder) || places.root.starts_with(&folder))
    {
        return Some(format!("working directory or its ancestor: {shown}"));
    }
    if everything && (shell.starts_with(&folder) || places.root.starts_with(&folder)) {
        return Some(format!("statically-unresolvable target: {shown}"));
    }
    None
}

/// The root, what lies in it, home, and all that is in one of them.
fn is_critical(places: &Places, path: &Path) -> bool {
    let named_all = path.file_name().is_some_and(|name| name == "*");
    let folder: PathBuf = if named_all {
        path.parent().unwrap_or(path).to_owned()
    } else {
        path.to_owned()
    };
    let below_root = folder
        .parent()
        .is_none_or(|parent| parent.parent().is_none());
    let outside = !places.root.starts_with(&folder);
    (below_root && outside) || folder.parent().is_none() || folder == places.home
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::super::super::table::Ground;
    use super::*;

    fn danger(text: &str) -> Option<String> {
        let places = Ground::standard().places();
        let root = places.root.clone();
        in_text(&places, &root, text)
    }

    #[test]
    fn a_removal_of_all_is_found_wherever_it_hides() {
        for text in [
            "rm -rf /",
            "sudo x; rm -rf /",
            "rm -rf ~",
            "rm -rf /etc",
            "rm -rf /*",
            "rm -rf .",
            "rm -rf *",
            "rm -rf ..",
            "(rm -rf /)",
            "{ rm -rf /; }",
            "echo $(rm -rf /)",
            "bash -c 'rm -rf /'",
            "/bin/rm -rf /",
            "timeout 5 rm -rf /",
            "rm -rf $X/",
            "rm -rf \"$X\"/*",
            "\\rm -rf /",
            "rm -rf -- /",
            "echo `rm -rf ~`",
        ] {
            assert!(danger(text).is_some(), "{text}");
        }
        for text in [
            "rm -rf sub",
            "rm x",
            "echo 'rm -rf /'",
            "rm -rf /tmp/x",
            "ls /",
            "rm -rf ./sub",
        ] {
            assert_eq!(danger(text), None, "{text}");
        }
    }
}
