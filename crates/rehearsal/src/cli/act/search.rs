//! `Glob`: files whose paths fit a pattern, the one changed longest ago first.

use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use ignore::WalkBuilder;
use ignore::overrides::{Override, OverrideBuilder};
use serde_json::{Value, json};

use super::paths::seen_from;
use super::ran::Ran;
use super::workbench::Workbench;

/// Files that are named.
const MOST: usize = 100;

/// Does it.
pub(super) fn glob(bench: &Workbench, input: &Value) -> Ran {
    let began = Instant::now();
    let cwd = bench.cwd();
    let root = bench.path(input["path"].as_str().unwrap_or_default());
    if !root.is_dir() {
        let (root, cwd) = (root.display(), cwd.display());
        return Ran::failed(format!(
            "Directory does not exist: {root}. Note: your current working directory is {cwd}."
        ));
    }
    let pattern = input["pattern"].as_str().unwrap_or_default();
    // An absolute pattern is looked for below the root of the file system that it names.
    let (root, pattern) = match pattern.strip_prefix(&*root.to_string_lossy()) {
        Some(below) => (root, below.trim_start_matches('/')),
        None => (root, pattern),
    };
    let found = match files(&root, pattern) {
        Ok(found) => found,
        Err(wrong) => return Ran::failed(wrong),
    };
    let total = found.len();
    let names = found.iter().take(MOST).map(|path| seen_from(&cwd, path));
    let names: Vec<String> = names.collect();
    let mut text = match names.is_empty() {
        true => "No files found".to_owned(),
        false => names.join("\n"),
    };
    if total > MOST {
        text.push_str(&format!(
            "\n(Showing {MOST} of {total} matching files; {} more are not listed.)",
            total - MOST
        ));
    }
    let structured = json!({
        "filenames": names,
        "durationMs": u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        "numFiles": names.len(),
        "truncated": total > MOST,
        "totalMatches": total,
        "countIsComplete": true,
    });
    Ran::well(text, structured)
}

fn files(root: &Path, pattern: &str) -> Result<Vec<PathBuf>, String> {
    let mut walk = WalkBuilder::new(root);
    walk.standard_filters(false)
        .overrides(patterns(root, pattern)?);
    let files = walk.build().flatten();
    let mut found: Vec<(SystemTime, PathBuf)> = files
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .map(|entry| (changed(entry.path()), entry.into_path()))
        .collect();
    found.sort();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

pub(super) fn changed(path: &Path) -> SystemTime {
    let changed = std::fs::metadata(path).and_then(|found| found.modified());
    changed.unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Patterns of paths as ripgrep takes them with `--glob`.
pub(super) fn patterns(root: &Path, globs: &str) -> Result<Override, String> {
    let mut builder = OverrideBuilder::new(root);
    for glob in globs.split_whitespace() {
        builder.add(glob).map_err(|error| error.to_string())?;
    }
    builder.build().map_err(|error| error.to_string())
}
