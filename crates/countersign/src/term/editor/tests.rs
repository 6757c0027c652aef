//! The keys of the editor, and where the cursor stands.

use super::*;

fn typed(editor: &mut Editor, text: &str) {
    for letter in text.chars() {
        assert_eq!(editor.key(Key::Char(letter)), Edited::Going);
    }
}

fn shown(editor: &Editor, width: u16) -> (Vec<String>, (u16, u16)) {
    let (lines, cursor) = editor.lines(width);
    (lines.iter().map(Line::text).collect(), cursor)
}

fn with_history(entries: &[&str]) -> Editor {
    let mut history = History::default();
    entries.iter().for_each(|entry| history.add(entry));
    Editor::new("> ").with_history(&history)
}

#[test]
fn enter_sends_and_the_other_ways_make_a_new_line() {
    let mut editor = Editor::new("> ");
    typed(&mut editor, "a\\");
    editor.key(Key::Enter);
    typed(&mut editor, "b");
    editor.key(Key::AltEnter);
    typed(&mut editor, "c");
    editor.key(Key::Ctrl('j'));
    typed(&mut editor, "d");
    assert_eq!(
        editor.key(Key::Enter),
        Edited::Done("a\nb\nc\nd".to_owned())
    );
    assert_eq!(editor.text(), "");
}

#[test]
fn a_paste_with_line_ends_is_one_text() {
    let mut editor = Editor::new("> ");
    editor.paste("one\r\ntwo\rthree\n");
    assert_eq!(editor.text(), "one\ntwo\nthree\n");
    assert_eq!(
        editor.key(Key::Enter),
        Edited::Done("one\ntwo\nthree\n".to_owned())
    );
}

#[test]
fn escape_and_control_d_leave_only_an_empty_line() {
    let mut editor = Editor::new("> ");
    assert_eq!(editor.key(Key::Ctrl('d')), Edited::Ended);
    assert_eq!(editor.key(Key::Esc), Edited::Cancelled);
    typed(&mut editor, "ab");
    assert_eq!(editor.key(Key::Esc), Edited::Going);
    editor.key(Key::Ctrl('a'));
    assert_eq!(editor.key(Key::Ctrl('d')), Edited::Going);
    assert_eq!(editor.text(), "b");
}

#[test]
fn the_usual_keys_cut_and_put_back() {
    let mut editor = Editor::new("> ").with_text("one two three");
    editor.key(Key::Ctrl('w'));
    editor.key(Key::Ctrl('a'));
    editor.key(Key::Ctrl('y'));
    assert_eq!(editor.text(), "threeone two ");
    editor.key(Key::Ctrl('k'));
    assert_eq!(editor.text(), "three");
    editor.key(Key::Alt('b'));
    editor.key(Key::Alt('d'));
    assert_eq!(editor.text(), "");
    editor.key(Key::Ctrl('y'));
    editor.key(Key::Ctrl('u'));
    assert_eq!(editor.text(), "");
}

#[test]
fn up_goes_through_lines_first_then_through_what_was_asked() {
    let mut editor = with_history(&["old", "first\nsecond"]);
    typed(&mut editor, "draft");
    editor.key(Key::Up);
    assert_eq!(editor.text(), "first\nsecond");
    editor.key(Key::Up);
    assert_eq!(editor.text(), "first\nsecond");
    editor.key(Key::Up);
    assert_eq!(editor.text(), "old");
    editor.key(Key::Up);
    assert_eq!(editor.text(), "old");
    editor.key(Key::Down);
    editor.key(Key::Down);
    assert_eq!(editor.text(), "draft");
    editor.key(Key::Down);
    assert_eq!(editor.text(), "draft");
}

#[test]
fn what_was_sent_is_the_newest_entry() {
    let mut editor = Editor::new("> ");
    typed(&mut editor, "hello");
    editor.key(Key::Enter);
    editor.key(Key::Up);
    assert_eq!(editor.text(), "hello");
}

#[test]
fn a_search_finds_older_and_older_entries() {
    let mut editor = with_history(&["cargo Test", "cargo build", "ls", "cargo test all"]);
    typed(&mut editor, "draft");
    editor.key(Key::Ctrl('r'));
    typed(&mut editor, "test");
    assert_eq!(editor.text(), "cargo test all");
    assert_eq!(shown(&editor, 40).0, ["search: test › cargo test all"]);
    editor.key(Key::Ctrl('r'));
    assert_eq!(editor.text(), "cargo Test");
    editor.key(Key::Ctrl('r'));
    assert_eq!(editor.text(), "cargo Test");
    typed(&mut editor, "x");
    assert!(shown(&editor, 40).0[0].starts_with("not found: testx"));
    editor.key(Key::Backspace);
    assert_eq!(editor.text(), "cargo test all");
    editor.key(Key::Esc);
    assert_eq!(editor.text(), "draft");
    editor.key(Key::Ctrl('r'));
    typed(&mut editor, "ls");
    assert_eq!(editor.key(Key::Enter), Edited::Done("ls".to_owned()));
}

#[test]
fn rows_are_broken_and_the_cursor_found() {
    let mut editor = Editor::new("> ");
    assert_eq!(shown(&editor, 10), (vec!["> ".to_owned()], (0, 2)));
    typed(&mut editor, "abcdefghij");
    assert_eq!(
        shown(&editor, 10),
        (vec!["> abcdefg".to_owned(), "  hij".to_owned()], (1, 5))
    );
    editor.key(Key::Home);
    assert_eq!(shown(&editor, 10).1, (0, 2));
    let editor = Editor::new("> ").with_text("a\n你好世界你");
    assert_eq!(
        shown(&editor, 10),
        (
            vec!["> a".into(), "  你好世".into(), "  界你".into()],
            (2, 6)
        )
    );
}

#[test]
fn a_long_prompt_stands_above_on_a_narrow_terminal() {
    let editor = Editor::new("a reason for the agent: ").with_text("no");
    let (rows, cursor) = shown(&editor, 12);
    assert_eq!(rows, ["a reason fo", "r the agent", ": no"]);
    assert_eq!(cursor, (2, 4));
}

#[test]
fn no_row_is_too_wide_and_the_cursor_stays_inside() {
    let text = "ab\t\u{1b}[2J 你好\n\u{202e}e\u{301}👩‍🚀 longer-than-the-row-is 世";
    for width in [4_u16, 7, 20, 80, 300] {
        let mut editor = Editor::new("❯ ").with_text(text);
        for _ in 0..80 {
            let (lines, (row, column)) = editor.lines(width);
            assert!(
                lines.iter().all(|line| line.width() <= usize::from(width)),
                "{width}: {lines:?}"
            );
            assert!(
                usize::from(row) < lines.len() && column < width,
                "{width}: {row} {column}"
            );
            editor.key(Key::Left);
        }
    }
}

#[test]
fn a_hint_stands_there_while_nothing_is_written() {
    let mut editor = Editor::new("> ").with_hint("what next?");
    assert_eq!(
        shown(&editor, 30),
        (vec!["> what next?".to_owned()], (0, 2))
    );
    assert_eq!(shown(&editor, 8).0, ["> what…"]);
    typed(&mut editor, "x");
    assert_eq!(shown(&editor, 30).0, ["> x"]);
}
