//! Makes the entries of a run fit to be stored: nothing of this machine, this moment or the vendor's
//! prose, and the same bytes for the same behaviour. Pure; the parts each do one thing.

use std::path::{Path, PathBuf};

use super::ids::Ids;
use super::{Dir, Entry, figures, prose, repeat};
use crate::json::Json;

/// What a run had to itself, to be replaced by fixed names.
#[derive(Debug, Clone)]
pub struct Places {
    /// Becomes `/project`.
    pub project: PathBuf,
    /// Becomes `/home/user`.
    pub home: PathBuf,
    /// Becomes `/tmp`.
    pub tmp: PathBuf,
    /// The unpacked CLI; becomes `/opt/claude`.
    pub cli: PathBuf,
    /// The key; becomes `dummy-key`.
    pub key: String,
}

/// The entries as they are stored.
pub fn normalise(entries: &[Entry], places: &Places) -> Vec<Entry> {
    let literals = Literals::new(places);
    let mut ids = Ids::default();
    let lines: Vec<Option<Json>> = entries
        .iter()
        .map(|entry| Json::parse_object(&entry.bytes))
        .collect();
    lines.iter().flatten().for_each(|line| ids.learn(line));
    let settle = |text: String, ids: &mut Ids| {
        if repeat::is_run(&text) {
            return text;
        }
        ids.replace(figures::settle_text(plan_file(literals.replace(text))))
    };
    entries
        .iter()
        .zip(lines)
        .map(|(entry, line)| {
            let text = match line {
                Some(line) => {
                    let line = line.map_strings(&mut |text| settle(text, &mut ids));
                    prose::cut(figures::settle(line)).to_string()
                }
                None => {
                    let text = String::from_utf8_lossy(&entry.bytes).into_owned();
                    let text = settle(text, &mut ids);
                    // The flags are the scenario's own, whatever their length.
                    if entry.dir == Dir::Run {
                        text
                    } else {
                        prose::cut_line(text)
                    }
                }
            };
            // Stderr is read beside stdout, so its place among the lines is chance.
            let at = if entry.dir == Dir::Run {
                0
            } else {
                entry.at / 10 * 10
            };
            Entry {
                at,
                dir: entry.dir,
                bytes: text.into_bytes(),
            }
        })
        .collect()
}

/// Texts that are replaced wherever they stand, longest first.
struct Literals(Vec<(String, String)>);

impl Literals {
    fn new(places: &Places) -> Self {
        let mut pairs = Vec::new();
        for (path, fixed) in [
            (&places.project, "/project"),
            (&places.home, "/home/user"),
            (&places.tmp, "/tmp"),
            (&places.cli, "/opt/claude"),
        ] {
            pairs.push((path.to_string_lossy().into_owned(), fixed.to_owned()));
            // The CLI names folders after paths: every character but letters and digits is a dash.
            pairs.push((dashed(path), dashed(Path::new(fixed))));
        }
        pairs.push((places.key.clone(), "dummy-key".to_owned()));
        pairs.sort_by_key(|(from, _)| std::cmp::Reverse(from.len()));
        Literals(pairs)
    }

    fn replace(&self, text: String) -> String {
        let text = self.0.iter().fold(text, |text, (from, to)| {
            if text.contains(from) {
                text.replace(from, to)
            } else {
                text
            }
        });
        let text = number_after(text, "127.0.0.1:", "8080");
        let text = number_after(text, "/cc-socks/", "4242");
        // The user's number.
        number_after(text, "/tmp/claude-", "1000")
    }
}

fn dashed(path: &Path) -> String {
    path.to_string_lossy()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect()
}

/// Replaces the digits that follow a text: a port, a process id.
fn number_after(text: String, before: &str, fixed: &str) -> String {
    let Some(start) = text.find(before).map(|found| found + before.len()) else {
        return text;
    };
    let rest = text[start..].trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == text.len() - start {
        return text;
    }
    format!("{}{fixed}{rest}", &text[..start])
}

/// Plan files are named by chance: `…/.claude/plans/three-random-words.md` becomes `…/plans/the-plan.md`.
fn plan_file(text: String) -> String {
    const FOLDER: &str = "/.claude/plans/";
    let Some(start) = text.find(FOLDER).map(|found| found + FOLDER.len()) else {
        return text;
    };
    match text[start..].find(".md") {
        Some(length) if !text[start..start + length].contains(['/', ' ', '\n']) => {
            format!(
                "{}the-plan{}",
                &text[..start],
                plan_file(text[start + length..].to_owned())
            )
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> Places {
        Places {
            project: "/var/t/countersign-Ab1/project".into(),
            home: "/var/t/countersign-Ab1/home".into(),
            tmp: "/var/t/countersign-Ab1/tmp".into(),
            cli: "/home/user/.cache/countersign/claude/2.0.75".into(),
            key: "not-a-key".into(),
        }
    }

    fn normalised(line: &str) -> String {
        let entry = Entry {
            at: 1234,
            dir: Dir::Out,
            bytes: line.as_bytes().to_vec(),
        };
        String::from_utf8(normalise(&[entry], &places()).remove(0).bytes).unwrap()
    }

    #[test]
    fn paths_become_fixed_ones_also_in_the_form_of_folder_names() {
        assert_eq!(
            normalised(
                r#"{"cwd":"/var/t/countersign-Ab1/project/a","t":"/var/t/countersign-Ab1/home/.claude/projects/-var-t-countersign-Ab1-project/x"}"#
            ),
            r#"{"cwd":"/project/a","t":"/home/user/.claude/projects/-project/x"}"#
        );
    }

    #[test]
    fn key_port_and_plan_name_are_replaced() {
        assert_eq!(
            normalised(
                r#"{"a":"http://127.0.0.1:34567/v1 not-a-key","p":"/x/.claude/plans/merry-blue-fox.md"}"#
            ),
            r#"{"a":"http://127.0.0.1:8080/v1 dummy-key","p":"/x/.claude/plans/the-plan.md"}"#
        );
    }

    #[test]
    fn a_number_is_replaced_only_where_one_stands() {
        let fixed = |text: &str| number_after(text.into(), "/tmp/claude-", "1000");
        assert_eq!(fixed("/tmp/claude-0/x"), "/tmp/claude-1000/x");
        assert_eq!(fixed("/tmp/claude-x"), "/tmp/claude-x");
    }

    #[test]
    fn a_line_that_is_no_json_is_treated_as_text() {
        assert_eq!(
            normalised("warning: /var/t/countersign-Ab1/home is new"),
            "warning: /home/user is new"
        );
    }

    #[test]
    fn the_same_input_gives_the_same_output_twice() {
        let line = r#"{"id":"0f8fad5b-d9cb-469f-a165-70867728950e","duration_ms":87}"#;
        assert_eq!(normalised(&normalised(line)), normalised(line));
    }
}
