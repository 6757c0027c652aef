//! What is on the screen after these bytes.

use std::num::NonZero;

use super::*;
use crate::term::style::Tone;

const SIZE: Size = Size {
    columns: 20,
    rows: 6,
};

fn lines(texts: &[&str]) -> Vec<Line> {
    texts.iter().map(Line::plain).collect()
}

fn count(number: u16) -> NonZero<u16> {
    NonZero::new(number).unwrap()
}

/// A screen and the terminal that shows it.
struct Stage {
    screen: Screen<Vec<u8>>,
    terminal: vt100::Parser,
}

impl Stage {
    fn new(size: Size) -> Self {
        Self {
            screen: Screen::new(Vec::new(), size, true),
            terminal: vt100::Parser::new(count(size.rows), count(size.columns), 10_000),
        }
    }

    /// What was written since the last time, after the terminal has read it.
    fn play(&mut self) -> String {
        let bytes = std::mem::take(&mut self.screen.out);
        self.terminal.process(&bytes);
        String::from_utf8(bytes).unwrap()
    }

    fn print(&mut self, texts: &[&str]) {
        self.screen.print(&lines(texts)).unwrap();
        self.play();
    }

    fn live(&mut self, texts: &[&str], cursor: Option<(u16, u16)>) -> String {
        self.screen.live(&lines(texts), cursor).unwrap();
        self.play()
    }

    /// What is seen, without the empty rows at the end.
    fn seen(&self) -> Vec<String> {
        let columns = self.terminal.screen().size().1.get();
        let mut rows: Vec<String> = self
            .terminal
            .screen()
            .rows(0, columns)
            .map(|row| row.trim_end().to_owned())
            .collect();
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }

    /// All that was scrolled away, the oldest first.
    fn scrolled(&mut self) -> Vec<String> {
        self.terminal.screen_mut().set_scrollback(usize::MAX);
        let count = self.terminal.screen().scrollback();
        let columns = self.terminal.screen().size().1.get();
        let mut rows = Vec::new();
        for back in (1..=count).rev() {
            self.terminal.screen_mut().set_scrollback(back);
            let top = self.terminal.screen().rows(0, columns).next().unwrap();
            rows.push(top.trim_end().to_owned());
        }
        self.terminal.screen_mut().set_scrollback(0);
        rows
    }
}

#[test]
fn what_is_printed_stands_above_the_live_area() {
    let mut stage = Stage::new(SIZE);
    stage.live(&["working", "> "], Some((1, 2)));
    stage.print(&["one", "two"]);
    assert_eq!(stage.seen(), ["one", "two", "working", ">"]);
    assert_eq!(stage.terminal.screen().cursor_position(), (3, 2));
}

#[test]
fn what_does_not_fit_scrolls_away_and_no_live_row_with_it() {
    let mut stage = Stage::new(SIZE);
    stage.live(&["working", ">"], None);
    for number in 0..10 {
        stage.print(&[&format!("line {number}")]);
    }
    assert_eq!(
        stage.seen(),
        ["line 6", "line 7", "line 8", "line 9", "working", ">"]
    );
    assert_eq!(
        stage.scrolled(),
        ["line 0", "line 1", "line 2", "line 3", "line 4", "line 5"]
    );
}

#[test]
fn a_long_line_is_broken_and_a_full_one_loses_nothing() {
    let mut stage = Stage::new(SIZE);
    stage.live(&["x"], None);
    stage.print(&["12345678901234567890", "a word and another word"]);
    assert_eq!(
        stage.seen(),
        ["12345678901234567890", "a word and another", "word", "x"]
    );
}

#[test]
fn a_live_area_shrinks_and_grows_in_place() {
    let mut stage = Stage::new(SIZE);
    stage.print(&["kept"]);
    stage.live(&["a", "b", "c"], None);
    stage.live(&["a"], None);
    assert_eq!(stage.seen(), ["kept", "a"]);
    stage.live(&["a", "x", "12345678901234567890", "z"], Some((2, 19)));
    assert_eq!(
        stage.seen(),
        ["kept", "a", "x", "12345678901234567890", "z"]
    );
    assert_eq!(stage.terminal.screen().cursor_position(), (3, 19));
    stage.screen.clear_live().unwrap();
    stage.play();
    assert_eq!(stage.seen(), ["kept"]);
    assert_eq!(stage.terminal.screen().cursor_position(), (1, 0));
    assert!(!stage.terminal.screen().hide_cursor());
}

#[test]
fn a_live_area_that_is_too_tall_shows_its_end_or_the_cursor() {
    let mut stage = Stage::new(SIZE);
    let texts: Vec<String> = (0..30).map(|number| format!("row {number}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    stage.live(&texts, None);
    assert_eq!(
        stage.seen(),
        ["row 25", "row 26", "row 27", "row 28", "row 29"]
    );
    stage.live(&texts, Some((10, 1)));
    assert_eq!(
        stage.seen(),
        ["row 7", "row 8", "row 9", "row 10", "row 11"]
    );
    assert_eq!(stage.terminal.screen().cursor_position(), (3, 1));
    stage.live(&texts, Some((0, 0)));
    assert_eq!(stage.seen()[0], "row 0");
    assert_eq!(stage.scrolled(), [""; 0]);
}

#[test]
fn only_what_changed_is_written_and_in_one_update() {
    let mut stage = Stage::new(SIZE);
    stage.live(&["first", "second", "third"], None);
    let written = stage.live(&["first", "2nd", "third"], None);
    assert!(written.contains("2nd") && !written.contains("first") && !written.contains("third"));
    assert!(written.starts_with(UPDATE_STARTS) && written.ends_with(UPDATE_ENDS));
    assert_eq!(stage.live(&["first", "2nd", "third"], None), "");
    assert_eq!(stage.seen(), ["first", "2nd", "third"]);
}

#[test]
fn no_text_reaches_beyond_its_row() {
    let mut stage = Stage::new(SIZE);
    stage.live(&["safe"], None);
    stage.print(&["a\x1b[2J\x1b[Hb\nc\rd\u{9b}2Je"]);
    assert_eq!(stage.seen().last().map(String::as_str), Some("safe"));
    assert!(
        stage.seen()[0].starts_with("a\\x1b[2J"),
        "{:?}",
        stage.seen()
    );
}

#[test]
fn without_colour_there_is_no_colour() {
    let mut screen = Screen::new(Vec::new(), SIZE, false);
    screen
        .live(&[Line::of("warning", Tone::Warn)], None)
        .unwrap();
    screen.print(&[Line::of("bad", Tone::Bad)]).unwrap();
    let written = String::from_utf8(screen.out).unwrap();
    assert!(
        !written.contains("[33m") && !written.contains("[31m"),
        "{written:?}"
    );
}

#[test]
fn another_height_keeps_what_was_printed() {
    let mut stage = Stage::new(SIZE);
    stage.print(&["kept"]);
    stage.live(&["a", "b"], Some((0, 1)));
    let larger = Size {
        columns: 30,
        rows: 10,
    };
    stage
        .terminal
        .screen_mut()
        .set_size(count(larger.rows), count(larger.columns));
    stage.screen.resized(larger).unwrap();
    stage.play();
    assert_eq!(stage.seen(), ["kept", "a", "b"]);
    assert_eq!(stage.terminal.screen().cursor_position(), (1, 1));
}

#[test]
fn rows_that_a_narrower_terminal_broke_are_counted() {
    let row = |width| Row {
        text: "x".repeat(width),
        width,
    };
    let mut shown = Shown {
        rows: vec![row(80), row(10), row(0), row(45)],
        cursor: Some((3, 44)),
    };
    assert_eq!(rows_above(&shown, 80), 3);
    assert_eq!(rows_above(&shown, 40), 2 + 1 + 1 + 1);
    shown.cursor = None;
    assert_eq!(rows_above(&shown, 20), 4 + 1 + 1);
}

#[test]
fn whatever_is_done_the_screen_is_the_end_of_what_was_printed_and_what_is_live() {
    // A plain generator: the same runs each time.
    let mut seed = 7_u64;
    let mut random = move |below: u64| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    for (columns, rows) in [(20, 5), (33, 9), (80, 24), (300, 100)] {
        let size = Size { columns, rows };
        let mut stage = Stage::new(size);
        let (mut printed, mut live): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        for turn in 1..=200 {
            let count = random(u64::from(rows) + 3);
            let words = [
                "a",
                "bb",
                "你好",
                "é",
                "long-word-that-has-to-be-broken",
                "x y z",
            ];
            let texts: Vec<Line> = (0..count)
                .map(|_| {
                    (0..random(9))
                        .map(|_| words[random(6) as usize])
                        .collect::<Vec<_>>()
                        .join(" ")
                })
                .map(Line::plain)
                .collect();
            let rows_of = |lines: &[Line]| -> Vec<String> {
                let rows = lines.iter().flat_map(|line| line.rows(columns.into()));
                rows.map(|row| row.text().trim_end().to_owned()).collect()
            };
            match random(3) {
                0 => {
                    stage.screen.print(&texts).unwrap();
                    printed.extend(rows_of(&texts));
                }
                _ => {
                    stage.screen.live(&texts, None).unwrap();
                    let all = rows_of(&texts);
                    let room = usize::from(rows) - 1;
                    live = all[all.len().saturating_sub(room)..].to_vec();
                }
            }
            stage.play();
            if turn % 20 != 0 {
                continue;
            }
            let all = [stage.scrolled(), stage.seen()].concat();
            let mut expected = [printed.clone(), live.clone()].concat();
            while expected.last().is_some_and(String::is_empty) {
                expected.pop();
            }
            let mut all = all;
            while all.last().is_some_and(String::is_empty) {
                all.pop();
            }
            assert_eq!(all, expected, "{size:?}");
        }
    }
}

#[test]
fn a_size_that_changed_unnoticed_is_noticed_when_something_is_drawn() {
    let mut stage = Stage::new(SIZE);
    stage.live(&["a", "b"], None);
    stage.screen.measure = || {
        Some(Size {
            columns: 10,
            rows: 4,
        })
    };
    stage
        .screen
        .live(&lines(&["longer than ten"]), None)
        .unwrap();
    assert_eq!(stage.screen.size().columns, 10);
    let written = stage.play();
    assert!(
        written.contains("longer") && !written.contains("longer than ten"),
        "{written:?}"
    );
}

#[test]
fn taking_the_live_area_away_never_clears_the_whole_screen_at_once() {
    let mut stage = Stage::new(SIZE);
    stage.live(&["a", "b", "c"], None);
    stage.screen.clear_live().unwrap();
    assert!(stage.play().contains("\x1b[K\x1b7\x1b[B\r\x1b[J\x1b8"));
    assert_eq!(stage.seen(), [""; 0]);
    assert_eq!(stage.terminal.screen().cursor_position(), (0, 0));
}
