//! Where relative paths lead after `cd`.
//!
//! Owns joining of folders as text, and the list of those that it may be where it cannot be said; links are for whoever has
//! a disk. Invariant: what a `cd` of the text leads to, if it succeeds or if it does not, is in the list.

use super::{Folder, Word, hide_git};

/// So many folders a command may be in. Each `cd` that may have failed doubles them.
pub(super) const MOST: usize = 64;

/// So many values of a variable are followed.
const MOST_VALUES: usize = 16;

/// The folder that `word` leads to from another.
pub(super) fn join(from: &Folder, word: &Word) -> Folder {
    let Some(to) = word.literal().filter(|to| !to.is_empty()) else {
        return somewhere(from);
    };
    match from {
        _ if is_rooted(to) => Folder::Into(to.to_owned()),
        Folder::Start => Folder::Into(to.to_owned()),
        Folder::Into(folder) => Folder::Into(format!("{}/{to}", folder.trim_end_matches('/'))),
        Folder::Unknown(_) => unknown(texts(from).iter().map(|from| step(from, to))),
    }
}

/// Nobody knows where. Most often it is near, and home is the worst of the usual places.
pub(super) fn somewhere(from: &Folder) -> Folder {
    either(from, &Folder::Into("~".to_owned()))
}

/// Where a `cd` with a variable leads by what the text gives to it.
pub(super) fn by_values(from: &Folder, words: &[Word], values: &[(String, Word)]) -> Vec<Folder> {
    let is_used = |name: &str| {
        let mut texts = words.iter().map(Word::shown);
        !name.is_empty() && texts.any(|text| text.contains('$') && text.contains(name))
    };
    let used = values.iter().filter(|(name, _)| is_used(name));
    let used = used.filter(|(_, value)| value.literal().is_some());
    used.take(MOST_VALUES)
        .map(|(_, value)| join(from, value))
        .collect()
}

/// One or the other, so it cannot be said.
pub(super) fn either(one: &Folder, other: &Folder) -> Folder {
    unknown(texts(one).into_iter().chain(texts(other)))
}

/// A folder in a loop, in its first round and in those that begin where the round before ended.
pub(super) fn again(folder: &Folder, end: &Folder) -> Folder {
    let (folders, ends) = (texts(folder), texts(end));
    let later = ends
        .iter()
        .flat_map(|end| folders.iter().map(move |folder| step(end, folder)));
    somewhere(&unknown(folders.iter().cloned().chain(later)))
}

fn is_rooted(to: &str) -> bool {
    to.starts_with('/') || to == "~" || to.starts_with("~/")
}

fn unknown(folders: impl Iterator<Item = String>) -> Folder {
    let mut list: Vec<String> = Vec::new();
    for folder in folders {
        if list.len() <= MOST && !list.contains(&folder) {
            list.push(folder);
        }
    }
    Folder::Unknown(list)
}

fn texts(folder: &Folder) -> Vec<String> {
    match folder {
        Folder::Start => vec![".".to_owned()],
        Folder::Into(path) => vec![path.clone()],
        Folder::Unknown(paths) => paths.clone(),
    }
}

/// Joins two texts. `cd` takes `..` by its letters, so that a way there and back is no new folder.
fn step(from: &str, to: &str) -> String {
    if is_rooted(to) {
        return to.to_owned();
    }
    let mut names: Vec<&str> = from.trim_end_matches('/').split('/').collect();
    for name in to.split('/') {
        let is_back =
            name == ".." && !matches!(names.last(), None | Some(&("" | "." | ".." | "~")));
        match name {
            "" | "." => {}
            _ if is_back => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    match &names[..] {
        [] => ".".to_owned(),
        [""] => "/".to_owned(),
        [".", rest @ ..] if !rest.is_empty() => rest.join("/"),
        names => names.join("/"),
    }
}

/// The folder in which a command takes its arguments: `git -C folder`, `make -C folder`.
pub(super) fn of(words: &[Word], base: &Folder) -> Folder {
    let Some(name) = words[0].literal() else {
        return base.clone();
    };
    let name = name.rsplit('/').next().unwrap_or(name);
    if !matches!(name, "git" | "make" | "gmake" | "tar" | "ninja") {
        return base.clone();
    }
    let mut folder = base.clone();
    let mut rest = words[1..].iter();
    while let Some(word) = rest.next() {
        let text = word.shown();
        if text == "-C" {
            folder = match rest.next() {
                Some(to) => join(&folder, to),
                None => somewhere(&folder),
            };
        } else if text.starts_with("-C")
            || text.starts_with("--directory")
            || text.starts_with("--work-tree")
        {
            let value = text.split_once('=').map(|(_, value)| value);
            let to = match word {
                Word::Literal(_) => Word::Literal(value.unwrap_or(&text[2..]).to_owned()),
                other => other.clone(),
            };
            folder = either(&folder, &join(&folder, &to));
        } else if name == "git" && hide_git::VALUED.contains(&text) {
            rest.next();
        } else if name == "git" && !text.starts_with('-') {
            break;
        }
    }
    folder
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_there_and_back_is_no_new_folder() {
        for (from, to, expected) in [
            (".", "a", "a"),
            (".", "..", ".."),
            ("a", "..", "."),
            ("a/b", "../c", "a/c"),
            ("..", "..", "../.."),
            ("~", ".ssh", "~/.ssh"),
            ("~/a", "..", "~"),
            ("~", "..", "~/.."),
            ("/", "home", "/home"),
            ("/home", "..", "/"),
            ("/", "..", "/.."),
            ("a", "~/b", "~/b"),
            ("a", "/b", "/b"),
            ("a", "./b/", "a/b"),
        ] {
            assert_eq!(step(from, to), expected, "{from} {to}");
        }
    }
}
