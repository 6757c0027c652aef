//! Requests about files: write, create, edit, replace, read.

use serde_json::{Value, json};

use super::phrase::{self, Named, after, content, cut, cut_last, name};
use super::{Deed, Scene, path, plain, quote};

/// "write FILE: CONTENT", "write `CONTENT` to FILE".
pub(super) fn written(text: &str, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    let rest = after(text, "write|save|put")?;
    if let Some((inner, follows)) = quote::leading(rest)
        && let Some(target) = after(follows, "to|into|in")
    {
        let target = phrase::file(target)?;
        return write(scene, target.file, &phrase::unescaped(inner));
    }
    let named = phrase::file(rest)?;
    if named.colon {
        return write(scene, named.file, &content(named.rest));
    }
    if let Some(said) = said_to_hold(&named).filter(|_| named.sure) {
        return write(scene, named.file, &content(said));
    }
    let (said, target) = cut_last(rest, " to | into ")?;
    let target = phrase::file(target).filter(|target| target.sure && target.rest.is_empty())?;
    write(scene, target.file, &content(said))
}

/// "create FILE with CONTENT".
pub(super) fn created(text: &str, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    let named = phrase::file(after(text, "create|make|add")?)?;
    if !named.sure && after(text, "create").is_none() {
        return None;
    }
    if named.colon {
        return write(scene, named.file, &content(named.rest));
    }
    match said_to_hold(&named) {
        Some(said) => write(scene, named.file, &content(said)),
        None if named.sure && phrase::is_ending(named.rest) => write(scene, named.file, ""),
        None => None,
    }
}

fn said_to_hold<'a>(named: &Named<'a>) -> Option<&'a str> {
    const FORMS: &str = "with the content:|with the content|with content:|with content|with the text|\
        with the contents|containing exactly the text|containing the text|containing|that says|saying|\
        with";
    after(named.rest, FORMS)
}

fn write(scene: &Scene<'_>, file: &str, text: &str) -> Option<Vec<Deed>> {
    let file = path::absolute(scene.request.cwd, file);
    let input = json!({"file_path": file, "content": plain(text)});
    Some(vec![scene.use_tool("Write", input)])
}

/// "edit FILE: replace `A` with `B`".
pub(super) fn edited(text: &str, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    let named = phrase::file(after(text, "edit|change|update|in")?)?;
    let rest = phrase::without_courtesy(named.rest);
    let change = after(rest, "replace|change")?;
    edit(scene, named.file, change)
}

/// "replace `A` with `B` in FILE".
pub(super) fn replaced(text: &str, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    let rest = after(text, "replace")?;
    let (change, target) = cut_last(rest, " in ")?;
    let target = phrase::file(target).filter(|target| target.rest.is_empty())?;
    edit(scene, target.file, change)
}

/// Reads first, as the tool demands, and changes only what could be read.
fn edit(scene: &Scene<'_>, file: &str, change: &str) -> Option<Vec<Deed>> {
    let every = after(change, "all|every|each");
    let (old, new) = old_and_new(every.unwrap_or(change))?;
    let (new, everywhere) = match cut_last(new, " everywhere") {
        Some((new, rest)) if phrase::is_ending(rest) => (new, true),
        _ => (new, every.is_some()),
    };
    let file = path::absolute(scene.request.cwd, file);
    let mut input = json!({
        "file_path": file,
        "old_string": plain(&content(old)),
        "new_string": plain(&content(new)),
    });
    if everywhere {
        input["replace_all"] = Value::Bool(true);
    }
    let mut deeds = Vec::new();
    if let Deed::Call(read) = scene.use_tool("Read", json!({"file_path": file})) {
        deeds.push(Deed::Gate(read));
    }
    deeds.push(scene.use_tool("Edit", input));
    Some(deeds)
}

fn old_and_new(change: &str) -> Option<(&str, &str)> {
    let (old, new) = cut(change, " with | by | to ")?;
    (!old.is_empty()).then_some((old, new))
}

/// "read FILE", "read it back".
pub(super) fn read(text: &str, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    let rest = after(text, "read|show me|show|open|print|what is in|what's in")?;
    let back = "it back|it|the file back|the file|that file|it again";
    if phrase::is_one_of(rest, back) {
        let file = scene.file?;
        return Some(vec![scene.use_tool("Read", json!({"file_path": file}))]);
    }
    let named = phrase::file(rest)?;
    let plain_read = after(text, "read").is_some();
    if !phrase::is_ending(named.rest) || !(named.sure || plain_read) {
        return None;
    }
    let file = path::absolute(scene.request.cwd, name(named.file));
    Some(vec![scene.use_tool("Read", json!({"file_path": file}))])
}
