//! docs/run.md shows what is printed, and pictures of what is seen.

use std::path::Path;

use regex::Regex;

use crate::stage::{Stage, Which};

fn page() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(root.join("docs/run.md")).unwrap()
}

/// The blocks of a page that are fenced with this word.
fn blocks<'a>(page: &'a str, word: &str) -> Vec<&'a str> {
    let open = format!("```{word}\n");
    let blocks = page.split(open.as_str()).skip(1);
    blocks
        .map(|rest| rest.split("\n```").next().unwrap())
        .collect()
}

/// The text without what differs from run to run.
fn steady(text: &str) -> String {
    let mut text = text.to_owned();
    for (pattern, word) in [
        (
            r"(?s)Claude Code (\S+) · \S+ · session\s+[0-9a-f]{8}",
            "Claude Code $1",
        ),
        (r"· \d+\.\d s · ", "· (time) · "),
        (r#""at":"[^"]+""#, "(at)"),
        (r"toolu_\w+", "(id)"),
        (r#""session_id":"[^"]+""#, "(session)"),
    ] {
        let pattern = Regex::new(pattern).unwrap();
        text = pattern.replace_all(&text, word).into_owned();
    }
    text.trim_end().to_owned()
}

#[test]
fn the_commands_of_the_page_print_what_it_shows() {
    let page = page();
    let stage = Stage::new(Which::Plain, "").unwrap();
    let shown = blocks(&page, "console");
    assert!(shown.len() >= 6);
    for block in shown {
        let (line, wanted) = block.split_once('\n').unwrap();
        let ran = stage.shell(line.strip_prefix("$ ").unwrap());
        assert_eq!(steady(&ran.out), steady(wanted), "{line}\n{}", ran.err);
    }
}

#[test]
fn the_pictures_of_the_page_are_those_of_the_terminal() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tmux/snapshots");
    let files = std::fs::read_dir(folder).unwrap().flatten();
    let screens: Vec<String> = files
        .map(|file| std::fs::read_to_string(file.path()).unwrap())
        .collect();
    let page = page();
    let pictures = blocks(&page, "picture");
    assert!(pictures.len() >= 7);
    for picture in pictures {
        let is_seen = screens.iter().any(|screen| screen.contains(picture));
        assert!(is_seen, "nobody sees this:\n{picture}");
    }
}
