//! `Glob`: files whose paths fit a pattern, the one changed longest ago first.

use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use ignore::WalkBuilder;
use serde_json::{Value, json};

use super::{REJECTED, patterns};
use crate::cli::act::paths::seen_from;
use crate::cli::act::ran::Ran;
use crate::cli::act::workbench::Workbench;

/// Files that are named.
const MOST: usize = 100;

/// Does it.
pub(in crate::cli::act) fn glob(bench: &Workbench, input: &Value) -> Ran {
    let began = Instant::now();
    let cwd = bench.cwd();
    let root = match input["path"].as_str() {
        Some(given) => bench.path(given),
        None => cwd.clone(),
    };
    if !root.exists() {
        let (root, cwd) = (root.display(), cwd.display());
        return Ran::failed(format!(
            "Directory does not exist: {root}. Note: your current working directory is {cwd}."
        ));
    }
    if !root.is_dir() {
        return Ran::failed(format!("Path is not a directory: {}", root.display()));
    }
    let pattern = input["pattern"].as_str().unwrap_or_default();
    let (root, pattern) = split(&root, pattern);
    let found = match files(&root, &pattern) {
        Ok(found) => found,
        Err(wrong) => return Ran::failed(format!("{REJECTED}{wrong}")),
    };
    let total = found.len();
    let names: Vec<String> = found
        .iter()
        .take(MOST)
        .map(|path| seen_from(&cwd, path))
        .collect();
    let truncated = total > MOST;
    let text = match (names.is_empty(), truncated) {
        (true, _) => "No files found".to_owned(),
        (false, false) => names.join("\n"),
        (false, true) => format!(
            "{}\n(Showing {MOST} of {total} matching files; {} more are not listed.)",
            names.join("\n"),
            total - MOST
        ),
    };
    let structured = json!({
        "filenames": names,
        "durationMs": u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        "numFiles": names.len(),
        "truncated": truncated,
        "totalMatches": total,
        "countIsComplete": true,
    });
    Ran::well(text, structured)
}

/// An absolute pattern is looked for from the folder before its first special letter.
fn split(root: &Path, pattern: &str) -> (PathBuf, String) {
    if !Path::new(pattern).is_absolute() {
        return (root.to_path_buf(), pattern.to_owned());
    }
    let special = pattern.find(['*', '?', '[', '{']).unwrap_or(pattern.len());
    let slash = pattern[..special].rfind('/').unwrap_or(0);
    let folder = if slash == 0 { "/" } else { &pattern[..slash] };
    (PathBuf::from(folder), pattern[slash + 1..].to_owned())
}

fn files(root: &Path, pattern: &str) -> Result<Vec<PathBuf>, String> {
    let fits = patterns(root, &[pattern])?;
    let mut walk = WalkBuilder::new(root);
    walk.standard_filters(false).overrides(fits);
    let mut found: Vec<(SystemTime, PathBuf)> = walk
        .build()
        .flatten()
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .map(|entry| {
            let changed = entry
                .metadata()
                .ok()
                .and_then(|found| found.modified().ok());
            (changed.unwrap_or(SystemTime::UNIX_EPOCH), entry.into_path())
        })
        .collect();
    found.sort();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}
