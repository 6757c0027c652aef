//! docs/policy.md shows what is printed.

use std::fs;
use std::path::Path;

use crate::{Ground, recording};

/// The blocks of a page that are fenced with this word.
fn blocks<'a>(page: &'a str, word: &str) -> Vec<&'a str> {
    let open = format!("```{word}\n");
    let blocks = page.split(open.as_str()).skip(1);
    blocks
        .map(|rest| rest.split("```").next().unwrap())
        .collect()
}

#[test]
fn what_the_documentation_shows_is_what_is_printed() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/policy.md");
    let page = fs::read_to_string(page).unwrap();
    let files = blocks(&page, "toml");
    let ground = Ground::new(&[
        ("work/rules.toml", files[0]),
        ("work/broken.toml", files[1]),
    ]);
    let fixtures = Path::new(&recording("")).canonicalize().unwrap();
    std::os::unix::fs::symlink(
        fixtures.parent().unwrap(),
        ground.root.join("work/fixtures"),
    )
    .unwrap();
    let shown = blocks(&page, "console");
    assert!(shown.len() >= 5);
    for block in shown {
        let (line, wanted) = block.split_once('\n').unwrap();
        let arguments = line.strip_prefix("$ countersign policy ").unwrap();
        // Words as a shell cuts them; the page has no quotes but single ones.
        let pieces = arguments.split('\'').enumerate();
        let words = pieces.flat_map(|(index, piece)| match index % 2 {
            0 => piece.split_whitespace().collect(),
            _ => vec![piece],
        });
        let output = ground.run(&words.collect::<Vec<_>>());
        assert_eq!(
            ground.plain(&output.stdout).trim_end(),
            wanted.trim_end(),
            "{line}"
        );
    }
}
