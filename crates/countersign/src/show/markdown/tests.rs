//! Markdown as lines, whole and in pieces.

use super::*;

fn shown(text: &str, width: usize) -> Vec<String> {
    let rows = markdown(text, width)
        .into_iter()
        .flat_map(|line| line.rows(width));
    rows.map(|row| row.text().trim_end().to_owned()).collect()
}

#[test]
fn each_kind_of_block_has_its_looks() {
    let table: &[(&str, &[&str])] = &[
        ("# Title\ntext", &["Title", "", "text"]),
        ("Title\n=====\n\ntext", &["Title", "", "text"]),
        ("one\ntwo", &["one two"]),
        ("one  \ntwo", &["one", "two"]),
        ("a\n\nb", &["a", "", "b"]),
        (
            "- a\n- b\n  - c\n    - d\n- e",
            &["• a", "• b", "  ◦ c", "    ◦ d", "• e"],
        ),
        ("- a\n\n- b", &["• a", "", "• b"]),
        ("1. a\n1. b\n1. c", &["1. a", "2. b", "3. c"]),
        ("7) a\n8) b", &["7. a", "8. b"]),
        ("9. a\n10. b", &["9. a", "10. b"]),
        (
            "- a\n\n  more of a\n- b",
            &["• a", "", "  more of a", "• b"],
        ),
        ("- a\nlazy\n\nafter", &["• a lazy", "", "after"]),
        ("- [x] done\n- [ ] open", &["[x] done", "[ ] open"]),
        (
            "text:\n- a\n- b\n\nafter",
            &["text:", "", "• a", "• b", "", "after"],
        ),
        (
            "```rust\nfn main() {}\n\n  x\n```\nafter",
            &["│ fn main() {}", "│", "│   x", "", "after"],
        ),
        ("text\n```\ncode\n```", &["text", "", "│ code"]),
        ("~~~\n```\n~~~", &["│ ```"]),
        ("````\n```\n````", &["│ ```"]),
        ("```\nnever closed", &["│ never closed"]),
        ("    indented", &["│ indented"]),
        (
            "- a\n  ```\n  code\n  ```\n- b",
            &["• a", "  │ code", "• b"],
        ),
        (
            "> quoted\n> text\n>\n> more",
            &["▎ quoted text", "▎", "▎ more"],
        ),
        ("> a\n> > b", &["▎ a", "▎", "▎ ▎ b"]),
        (
            "a\n\n---\n\nb",
            &["a", "", "────────────────────────", "", "b"],
        ),
        ("* * *", &["────────────────────────"]),
        (
            "see [here](http://x.y/z) now",
            &["see here (http://x.y/z) now"],
        ),
        ("[http://x.y](http://x.y)", &["http://x.y"]),
        ("<http://x.y>", &["http://x.y"]),
        ("![alt](p.png)", &["[image: alt] (p.png)"]),
        ("a <b>bold</b> c", &["a <b>bold</b> c"]),
        ("<div>\nhtml\n</div>", &["<div>", "html", "</div>"]),
        ("`code` **bold** *soft* ~~gone~~", &["code bold soft gone"]),
        (
            "snake_case_name and 2 * 3 * 4",
            &["snake_case_name and 2 * 3 * 4"],
        ),
        ("a\r\nb\r\n\r\nc", &["a b", "", "c"]),
        ("", &[]),
        ("\n\n\n", &[]),
        ("-", &["•"]),
        ("- a\n1. b", &["• a", "", "1. b"]),
        ("- a\n# head", &["• a", "", "head"]),
    ];
    for (text, lines) in table {
        assert_eq!(shown(text, 40), *lines, "{text:?}");
    }
}

#[test]
fn tables_are_fitted() {
    let text = "| name | what it is |\n|---|---:|\n| a | one |\n| longer | two words |\n";
    assert_eq!(
        shown(text, 40),
        [
            "name   │ what it is",
            "───────┼───────────",
            "a      │        one",
            "longer │  two words"
        ]
    );
    assert_eq!(
        shown(text, 16),
        [
            "name   │ what it",
            "       │      is",
            "───────┼────────",
            "a      │     one",
            "longer │     two",
            "       │   words"
        ]
    );
}

#[test]
fn a_table_with_no_room_for_columns_becomes_a_list_of_its_rows() {
    let text = "| name | what |\n|---|---|\n| a | one |\n| longer | two words |\n";
    assert_eq!(
        shown(text, 9),
        [
            "name: a",
            "what: one",
            "",
            "name:",
            "  longer",
            "what: two",
            "  words"
        ]
    );
}

#[test]
fn the_last_block_is_the_tail_until_it_is_complete() {
    let mut markdown = Markdown::new(40);
    let text = |lines: Vec<Line>| lines.iter().map(Line::text).collect::<Vec<_>>();
    assert_eq!(text(markdown.push("Hello **wor")), [""; 0]);
    assert_eq!(text(markdown.tail()), ["Hello **wor"]);
    assert_eq!(text(markdown.push("ld**\n\n- a\n- b")), ["Hello world"]);
    assert_eq!(text(markdown.tail()), ["", "• a", "• b"]);
    assert_eq!(
        text(markdown.push("\n\n```\none\ntw")),
        ["", "• a", "• b", "", "│ one"]
    );
    assert_eq!(text(markdown.tail()), ["│ tw"]);
    assert_eq!(text(markdown.push("o\n``")), ["│ two"]);
    assert_eq!(text(markdown.finish()), ["│ ``"]);
    assert_eq!(text(markdown.tail()), [""; 0]);
}

#[test]
fn an_open_code_block_goes_out_line_by_line() {
    let mut markdown = Markdown::new(40);
    markdown.push("```\n");
    for number in 0..10_000 {
        let lines = markdown.push(&format!("line {number}\n"));
        assert_eq!(lines.len(), 1);
        assert!(markdown.tail().is_empty());
    }
}

#[test]
fn a_block_too_long_to_wait_for_goes_out_as_it_is() {
    let row = "| a | b |\n";
    let text = format!("| x | y |\n|---|---|\n{}\nafter", row.repeat(20_000));
    let mut markdown = Markdown::new(40);
    let early = markdown.push(&text[..100_000]);
    assert!(early.len() > 5_000, "{}", early.len());
    markdown.push(&text[100_000..]);
    assert_eq!(markdown.finish().last().unwrap().text(), "after");
}

#[test]
fn emphasis_and_code_have_tones() {
    use crate::term::style::Tone;
    let line = &markdown("a **b** `c` *d* [e](f)", 40)[0];
    let tones: Vec<(&str, Tone)> = line
        .spans
        .iter()
        .map(|span| (span.text.as_str(), span.tone))
        .collect();
    assert_eq!(
        tones,
        [
            ("a ", Tone::Plain),
            ("b", Tone::Strong),
            (" ", Tone::Plain),
            ("c", Tone::Code),
            (" ", Tone::Plain),
            ("d", Tone::Soft),
            (" ", Tone::Plain),
            ("e", Tone::Link),
            (" (f)", Tone::Dim),
        ]
    );
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]

    #[test]
    fn blocks_one_by_one_are_the_blocks_of_the_whole(
        blocks in proptest::collection::vec(proptest::sample::select(BLOCKS), 0..8),
    ) {
        let text = blocks.join("\n\n");
        let rows = |lines: Vec<Line>| -> Vec<String> {
            let rows = lines.iter().map(|line| line.text().trim_end().to_owned());
            rows.filter(|row| !matches!(row.trim(), "" | "│")).collect()
        };
        proptest::prop_assert_eq!(rows(markdown(&text, 60)), rows(render(&text, 60, None)), "{}", text);
    }
}

const BLOCKS: &[&str] = &[
    "# Title",
    "Some words\nin two rows",
    "- a\n- b",
    "- a\n\n- b",
    "1. one\n2. two",
    "3. three",
    "- a\n  - b\n    - c",
    "```\ncode\n\nmore\n```",
    "> quote\n> more",
    "| a | b |\n|---|---|\n| c | d |",
    "---",
    "- a\n  ```\n  code\n\n  x\n  ```",
    "- a\n\n  para",
    "    indented",
    "text with `code` and **bold**",
    "* star\n* list",
    "- [x] done",
    "Title\n===",
    "  ```\n  fenced\n  ```",
    "1. one\n   - sub\n   - sub\n2. two",
    "> - a\n> - b",
    "- > q",
];
