//! Seeds for the fuzz targets, taken from the recordings (what a real CLI said is the best place to start from) and,
//! for the policy, from its table of rules and calls.
//!
//! Written anew for each run, next to what earlier runs discovered; nothing of it is kept in the tree.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};

/// Longer lines slow the fuzzer down more than they show it.
const LONGEST: usize = 4096;

/// Writes the seeds of `target` below `into`; gives their folder. Targets without a rule here have none.
pub(crate) fn write(root: &Path, target: &str, into: &Path) -> io::Result<PathBuf> {
    let folder = into.join(target);
    fs::create_dir_all(&folder)?;
    let files = match target {
        "policy" => in_folder(&root.join("crates/policy/tests/table/cases"))?,
        _ => recordings(&root.join("fixtures/wire"))?,
    };
    for file in files {
        let text = fs::read_to_string(file)?;
        let seeds = match target {
            "policy" => of_table(&text),
            _ => of_recording(target, &text),
        };
        for seed in seeds {
            let mut name = DefaultHasher::new();
            seed.hash(&mut name);
            fs::write(folder.join(format!("{:016x}", name.finish())), seed)?;
        }
    }
    Ok(folder)
}

fn recordings(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for version in in_folder(folder)? {
        files.extend(in_folder(&version)?);
    }
    Ok(files)
}

fn in_folder(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?;
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<_>>()?;
    paths.sort();
    Ok(paths)
}

/// Each shell command of the table below the rules of its block.
fn of_table(text: &str) -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    let mut rules = String::new();
    let mut has_rows = false;
    for line in text.lines() {
        let is_rule = ["allow ", "ask ", "deny "]
            .iter()
            .any(|effect| line.starts_with(effect));
        match line.rsplit_once(" => ") {
            Some((command, _)) => {
                has_rows = true;
                seeds.push(format!("{rules}\n{command}").into_bytes());
            }
            None if is_rule => {
                if std::mem::take(&mut has_rows) {
                    rules.clear();
                }
                rules.push_str(line);
                rules.push('\n');
            }
            None => {}
        }
    }
    seeds
}

fn of_recording(target: &str, text: &str) -> Vec<Vec<u8>> {
    let lines: Vec<&str> = text
        .lines()
        .filter_map(message)
        .filter(|line| line.len() <= LONGEST)
        .collect();
    match target {
        "decode" => lines
            .into_iter()
            .map(|line| line.as_bytes().to_vec())
            .collect(),
        // Longest permitted line and chunk size, then a stream.
        "framing" => lines
            .chunks(4)
            .map(|lines| [b"\x20\x40", lines.join("\n").as_bytes()].concat())
            .collect(),
        _ => Vec::new(),
    }
}

/// The message inside an entry of a recording, which ends with it: `{"at":…,"dir":"…","line":{…}}`.
fn message(entry: &str) -> Option<&str> {
    let (_, line) = entry.split_once(r#","line":"#)?;
    line.strip_suffix('}')
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORDING: &str = r#"{"recording":1,"cli":"2.1.62","scenario":"s"}
{"at":0,"dir":"in","line":{"type":"user","x":{"line":1}}}
{"at":1,"dir":"err","text":"noise"}
{"at":2,"dir":"out","line":{"type":"result"}}
"#;

    #[test]
    fn each_recorded_message_is_a_seed_for_decoding() {
        let seeds = of_recording("decode", RECORDING);
        assert_eq!(
            seeds,
            [
                &br#"{"type":"user","x":{"line":1}}"#[..],
                br#"{"type":"result"}"#
            ]
        );
    }

    #[test]
    fn each_row_of_the_table_is_a_seed_with_its_rules() {
        let table =
            "# why\nallow A\ndeny B\n\nls => allow rule\nrm x => ask rule\nask C\nmv => ask rule\n";
        let seeds = of_table(table);
        assert_eq!(
            seeds,
            [
                &b"allow A\ndeny B\n\nls"[..],
                b"allow A\ndeny B\n\nrm x",
                b"ask C\n\nmv"
            ]
        );
    }

    #[test]
    fn some_messages_in_a_row_are_a_seed_for_framing() {
        let seeds = of_recording("framing", RECORDING);
        assert_eq!(seeds.len(), 1);
        assert!(seeds[0].ends_with(b"\n{\"type\":\"result\"}"));
    }
}
