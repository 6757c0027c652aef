//! Where relative paths lead after `cd`.
//!
//! Owns joining of folders as text; links are for whoever has a disk.

use super::{Folder, Word};

/// The folder that `word` leads to from another.
pub(super) fn join(from: &Folder, word: &Word) -> Folder {
    let Some(to) = word.literal() else {
        return Folder::Unknown;
    };
    let is_rooted = to.starts_with('/') || to == "~" || to.starts_with("~/");
    match from {
        _ if to.is_empty() => Folder::Unknown,
        _ if is_rooted => Folder::Into(to.to_owned()),
        Folder::Unknown => Folder::Unknown,
        Folder::Start => Folder::Into(to.to_owned()),
        Folder::Into(folder) => Folder::Into(format!("{}/{to}", folder.trim_end_matches('/'))),
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
            folder = rest.next().map_or(Folder::Unknown, |to| join(&folder, to));
        } else if text.starts_with("-C")
            || text.starts_with("--directory")
            || text.starts_with("--work-tree")
        {
            folder = Folder::Unknown;
        } else if name == "git" && !text.starts_with('-') {
            break;
        }
    }
    folder
}
