//! `Grep`: files in which an expression is found, the lines themselves, or how many there are.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use ignore::types::TypesBuilder;
use regex::bytes::{Regex, RegexBuilder};
use serde_json::{Value, json};

use super::paths::seen_from;
use super::ran::Ran;
use super::search::{changed, patterns};
use super::workbench::Workbench;

/// Entries that are shown unless the call says otherwise.
const MOST: u64 = 250;

/// Does it.
pub(super) fn grep(bench: &Workbench, input: &Value) -> Ran {
    let cwd = bench.cwd();
    let root = bench.path(input["path"].as_str().unwrap_or_default());
    if !root.exists() {
        let (root, cwd) = (root.display(), cwd.display());
        return Ran::failed(format!(
            "Path does not exist: {root}. Note: your current working directory is {cwd}."
        ));
    }
    let multiline = input["multiline"] == true;
    let expression = RegexBuilder::new(input["pattern"].as_str().unwrap_or_default())
        .case_insensitive(input["-i"] == true)
        .multi_line(true)
        .dot_matches_new_line(multiline)
        .build();
    let found = expression
        .map_err(|error| error.to_string())
        .and_then(|expression| {
            let files = files(&root, input)?;
            let matched = |path: PathBuf| Some((lines(&expression, &path, multiline)?, path));
            Ok(files.into_iter().filter_map(matched).collect::<Vec<_>>())
        });
    match found {
        Err(wrong) => Ran::failed(format!("Search failed — ripgrep rejected it: {wrong}")),
        Ok(found) => report(&cwd, &root, input, found),
    }
}

/// The text files that are searched, in the order of their paths.
fn files(root: &Path, input: &Value) -> Result<Vec<PathBuf>, String> {
    let mut walk = WalkBuilder::new(root);
    // What the user of this machine ignores is nothing to a rehearsal.
    walk.hidden(false)
        .git_global(false)
        .filter_entry(|entry| entry.depth() == 0 || entry.file_name() != ".git");
    if let Some(globs) = input["glob"].as_str() {
        walk.overrides(patterns(root, globs)?);
    }
    if let Some(kind) = input["type"].as_str() {
        let mut types = TypesBuilder::new();
        types.add_defaults().select(kind);
        walk.types(types.build().map_err(|error| error.to_string())?);
    }
    let entries = walk.build().flatten();
    let files = entries.filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    let mut files: Vec<PathBuf> = files.map(|entry| entry.into_path()).collect();
    files.sort();
    Ok(files)
}

/// The lines of a file, and whether the expression is on each; nothing if it is nowhere, or the file is not text.
fn lines(expression: &Regex, path: &Path, multiline: bool) -> Option<Vec<(bool, String)>> {
    let bytes = std::fs::read(path).ok().filter(|all| !all.contains(&0))?;
    let mut start = 0;
    let matches: Vec<_> = match multiline {
        true => expression
            .find_iter(&bytes)
            .map(|found| found.range())
            .collect(),
        false => Vec::new(),
    };
    let line = |line: &[u8]| {
        let range = start..start + line.len();
        start = range.end;
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let hit = match multiline {
            true => {
                (matches.iter()).any(|found| found.start < range.end && found.end > range.start)
            }
            false => expression.is_match(line),
        };
        (hit, String::from_utf8_lossy(line).into_owned())
    };
    let lines: Vec<(bool, String)> = bytes
        .split_inclusive(|byte| *byte == b'\n')
        .map(line)
        .collect();
    lines.iter().any(|(hit, _)| *hit).then_some(lines)
}

type Found = (Vec<(bool, String)>, PathBuf);

fn report(cwd: &Path, root: &Path, input: &Value, mut found: Vec<Found>) -> Ran {
    let hits = |lines: &[(bool, String)]| lines.iter().filter(|(hit, _)| *hit).count();
    let mode = input["output_mode"]
        .as_str()
        .unwrap_or("files_with_matches");
    if mode == "files_with_matches" {
        found.sort_by_key(|(_, path)| std::cmp::Reverse(changed(path)));
    }
    let (files, matches): (usize, usize) = (
        found.len(),
        found.iter().map(|(lines, _)| hits(lines)).sum(),
    );
    let name = |path: &Path| seen_from(cwd, path);
    let entries: Vec<String> = match mode {
        "content" => (found.iter())
            .flat_map(|(lines, path)| {
                // The only file searched is not named on its lines.
                let name = (path != root).then(|| name(path));
                shown(input, lines, name.as_deref())
            })
            .collect(),
        "count" => (found.iter())
            .map(|(lines, path)| format!("{}:{}", name(path), hits(lines)))
            .collect(),
        _ => found.iter().map(|(_, path)| name(path)).collect(),
    };
    let number = |key: &str| usize::try_from(input[key].as_u64().unwrap_or(0)).unwrap_or(0);
    let most = match input["head_limit"].as_u64().unwrap_or(MOST) {
        0 => usize::MAX,
        most => usize::try_from(most).unwrap_or(usize::MAX),
    };
    let total = entries.len();
    let page = entries.into_iter().skip(number("offset")).take(most);
    let page: Vec<String> = page.collect();
    let body = page.join("\n");
    let text = match mode {
        "content" if body.is_empty() => "No matches found".to_owned(),
        "content" => body.clone(),
        "count" => format!("{body}\n\nFound {matches} total occurrences across {files} files."),
        _ if body.is_empty() => "No files found".to_owned(),
        _ if page.len() == 1 => format!("Found 1 file\n{body}"),
        _ => format!("Found {} files\n{body}", page.len()),
    };
    let mut structured = match mode {
        "content" => json!({"numLines": page.len(), "totalLines": total, "content": body}),
        "count" => json!({"numMatches": matches, "content": body}),
        _ => json!({"filenames": page, "numFiles": page.len(), "totalFiles": total}),
    };
    structured["mode"] = mode.into();
    if mode != "files_with_matches" {
        structured["filenames"] = json!([]);
        structured["numFiles"] = if mode == "count" { files } else { 0 }.into();
    }
    Ran::well(text, structured)
}

/// The lines with the expression on them and those around, as ripgrep prints them.
fn shown(input: &Value, lines: &[(bool, String)], name: Option<&str>) -> Vec<String> {
    let number = |key: &str| {
        let number = input[key].as_u64();
        number.and_then(|number| usize::try_from(number).ok())
    };
    let around = number("context").or_else(|| number("-C"));
    let before = around.or_else(|| number("-B")).unwrap_or(0);
    let after = around.or_else(|| number("-A")).unwrap_or(0);
    let mut shown = Vec::new();
    for (index, (hit, text)) in lines.iter().enumerate() {
        let end = lines.len().min(index + before + 1);
        let near = &lines[index.saturating_sub(after)..end];
        if !near.iter().any(|(hit, _)| *hit) {
            continue;
        }
        let mark = if *hit { ':' } else { '-' };
        let mut line = name.map_or_else(String::new, |name| format!("{name}{mark}"));
        if input["-n"] != false {
            line.push_str(&format!("{}{mark}", index + 1));
        }
        shown.push(line + text);
    }
    shown
}
