//! `Grep`: files in which an expression is found, the lines themselves, or how many there are.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ignore::WalkBuilder;
use ignore::types::TypesBuilder;
use regex::bytes::{Regex, RegexBuilder};
use serde_json::{Value, json};

use super::matched::{Form, Found, find};
use super::{REJECTED, patterns, plural};
use crate::cli::act::paths::seen_from;
use crate::cli::act::ran::Ran;
use crate::cli::act::workbench::Workbench;

/// Entries that are shown unless the call says otherwise.
const MOST: usize = 250;

/// A file in which something was found.
struct Hit {
    path: PathBuf,
    changed: SystemTime,
    found: Found,
}

/// Does it.
pub(in crate::cli::act) fn grep(bench: &Workbench, input: &Value) -> Ran {
    let cwd = bench.cwd();
    let root = match input["path"].as_str() {
        Some(given) => bench.path(given),
        None => cwd.clone(),
    };
    if !root.exists() {
        let (root, cwd) = (root.display(), cwd.display());
        return Ran::failed(format!(
            "Path does not exist: {root}. Note: your current working directory is {cwd}."
        ));
    }
    let form = form(input);
    let hits =
        match expression(input).and_then(|expression| search(&root, input, &expression, form)) {
            Ok(hits) => hits,
            Err(wrong) => return Ran::failed(format!("{REJECTED}{wrong}")),
        };
    let page = Page::of(input);
    match input["output_mode"]
        .as_str()
        .unwrap_or("files_with_matches")
    {
        "content" => content(&cwd, &root, hits, form, &page),
        "count" => count(&cwd, &hits, &page),
        _ => files(&cwd, hits, &page),
    }
}

fn form(input: &Value) -> Form {
    let lines = |key: &str| {
        input[key]
            .as_u64()
            .and_then(|lines| usize::try_from(lines).ok())
    };
    let around = lines("context").or_else(|| lines("-C"));
    let content = input["output_mode"] == "content";
    let shown = |lines: Option<usize>| if content { lines.unwrap_or(0) } else { 0 };
    Form {
        before: shown(around.or_else(|| lines("-B"))),
        after: shown(around.or_else(|| lines("-A"))),
        numbers: input["-n"] != false,
        only_matching: input["-o"] == true,
        across_lines: input["multiline"] == true,
    }
}

fn expression(input: &Value) -> Result<Regex, String> {
    let pattern = input["pattern"].as_str().unwrap_or_default();
    let multiline = input["multiline"] == true;
    let built = RegexBuilder::new(pattern)
        .case_insensitive(input["-i"] == true)
        .multi_line(true)
        .dot_matches_new_line(multiline)
        .build();
    built.map_err(|error| {
        let text = error.to_string();
        let why = text.lines().last().unwrap_or_default();
        // ripgrep shows the pattern as it wraps it, with a mark below where it begins.
        format!("regex parse error:\n    (?:{pattern})\n    ^\n{why}")
    })
}

fn search(root: &Path, input: &Value, expression: &Regex, form: Form) -> Result<Vec<Hit>, String> {
    let mut walk = WalkBuilder::new(root);
    // What the user of this machine ignores is nothing to a rehearsal.
    walk.hidden(false).git_global(false).filter_entry(|entry| {
        let folders = [".git", ".svn", ".hg", ".bzr", ".jj", ".sl"];
        entry.depth() == 0 || !folders.iter().any(|folder| entry.file_name() == *folder)
    });
    if let Some(glob) = input["glob"].as_str() {
        // Several may be given, apart by blanks or commas outside of braces.
        let globs: Vec<&str> = match glob.contains('{') {
            true => glob.split_whitespace().collect(),
            false => glob
                .split([' ', ','])
                .filter(|glob| !glob.is_empty())
                .collect(),
        };
        walk.overrides(patterns(root, &globs)?);
    }
    if let Some(kind) = input["type"].as_str() {
        let mut types = TypesBuilder::new();
        types.add_defaults().select(kind);
        walk.types(types.build().map_err(|error| error.to_string())?);
    }
    let mut hits: Vec<Hit> = walk
        .build()
        .flatten()
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .filter_map(|entry| {
            let path = entry.into_path();
            let found = find(expression, &std::fs::read(&path).ok()?, form)?;
            let changed = std::fs::metadata(&path).and_then(|found| found.modified());
            let changed = changed.unwrap_or(SystemTime::UNIX_EPOCH);
            Some(Hit {
                path,
                changed,
                found,
            })
        })
        .collect();
    hits.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(hits)
}

/// Which entries are shown.
struct Page {
    offset: usize,
    limit: Option<usize>,
}

impl Page {
    fn of(input: &Value) -> Self {
        let number = |key: &str| {
            input[key]
                .as_u64()
                .and_then(|number| usize::try_from(number).ok())
        };
        Self {
            offset: number("offset").unwrap_or(0),
            limit: Some(number("head_limit").unwrap_or(MOST)).filter(|limit| *limit > 0),
        }
    }

    /// The entries of this page, and the limit if it left something out.
    fn cut<T>(&self, entries: Vec<T>) -> (Vec<T>, Option<usize>) {
        let left = entries.len().saturating_sub(self.offset);
        let applied = self.limit.filter(|limit| left > *limit);
        let most = self.limit.unwrap_or(usize::MAX);
        (
            entries.into_iter().skip(self.offset).take(most).collect(),
            applied,
        )
    }

    /// `limit: 3, offset: 2`
    fn words(&self, applied: Option<usize>) -> String {
        let limit = applied.map(|limit| format!("limit: {limit}"));
        let offset = (self.offset > 0).then(|| format!("offset: {}", self.offset));
        [limit, offset]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(", ")
    }

    fn note(&self, structured: &mut Value, applied: Option<usize>) {
        if let Some(limit) = applied {
            structured["appliedLimit"] = limit.into();
        }
        if self.offset > 0 {
            structured["appliedOffset"] = self.offset.into();
        }
    }
}

fn files(cwd: &Path, mut hits: Vec<Hit>, page: &Page) -> Ran {
    hits.sort_by(|a, b| b.changed.cmp(&a.changed).then_with(|| a.path.cmp(&b.path)));
    let total = hits.len();
    let names: Vec<String> = hits.iter().map(|hit| seen_from(cwd, &hit.path)).collect();
    let (names, applied) = page.cut(names);
    let words = page.words(applied);
    let text = match names.len() {
        0 => "No files found".to_owned(),
        count => {
            let head = format!("Found {} {words}", plural(count, "file"));
            format!("{}\n{}", head.trim_end(), names.join("\n"))
        }
    };
    let mut structured = json!({
        "mode": "files_with_matches",
        "filenames": names,
        "numFiles": names.len(),
        "totalFiles": total,
    });
    page.note(&mut structured, applied);
    Ran::well(text, structured)
}

fn content(cwd: &Path, root: &Path, hits: Vec<Hit>, form: Form, page: &Page) -> Ran {
    let mut lines = Vec::new();
    for (index, hit) in hits.into_iter().enumerate() {
        if index > 0 && form.before + form.after > 0 {
            lines.push("--".to_owned());
        }
        // The only file searched is not named on its lines.
        let name = (hit.path != root).then(|| seen_from(cwd, &hit.path));
        for line in hit.found.shown {
            let Some((number, is_hit, text)) = line else {
                lines.push("--".to_owned());
                continue;
            };
            let mark = if is_hit { ':' } else { '-' };
            let name = name
                .as_ref()
                .map(|name| format!("{name}{mark}"))
                .unwrap_or_default();
            let number = if form.numbers {
                format!("{number}{mark}")
            } else {
                String::new()
            };
            lines.push(format!("{name}{number}{text}"));
        }
    }
    let total = lines.len();
    let (lines, applied) = page.cut(lines);
    let body = lines.join("\n");
    let words = page.words(applied);
    let text = match (body.is_empty(), words.is_empty()) {
        (true, _) => "No matches found".to_owned(),
        (false, true) => body.clone(),
        (false, false) => format!("{body}\n\n[Showing results with pagination = {words}]"),
    };
    let mut structured = json!({
        "mode": "content",
        "numFiles": 0,
        "filenames": [],
        "content": body,
        "numLines": lines.len(),
        "totalLines": total,
    });
    page.note(&mut structured, applied);
    Ran::well(text, structured)
}

fn count(cwd: &Path, hits: &[Hit], page: &Page) -> Ran {
    let matches: usize = hits.iter().map(|hit| hit.found.count).sum();
    let lines = hits
        .iter()
        .map(|hit| format!("{}:{}", seen_from(cwd, &hit.path), hit.found.count));
    let (lines, applied) = page.cut(lines.collect());
    let body = lines.join("\n");
    let shown = if body.is_empty() {
        "No matches found"
    } else {
        &body
    };
    let occurrences = plural(matches, "total occurrence");
    let words = page.words(applied);
    let pages = if words.is_empty() {
        words
    } else {
        format!(" with pagination = {words}")
    };
    let text = format!(
        "{shown}\n\nFound {occurrences} across {}.{pages}",
        plural(hits.len(), "file")
    );
    let mut structured = json!({
        "mode": "count",
        "numFiles": hits.len(),
        "filenames": [],
        "content": body,
        "numMatches": matches,
    });
    page.note(&mut structured, applied);
    Ran::well(text, structured)
}
