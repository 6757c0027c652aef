//! Choosing one, choosing several, writing instead.

use super::*;

const SIZE: Size = Size {
    columns: 60,
    rows: 24,
};

fn texts(lines: &[Line]) -> Vec<String> {
    lines
        .iter()
        .map(|line| line.text().trim_end().to_owned())
        .collect()
}

fn asking(item: Item, prompt: &str) -> Item {
    Item {
        opens_text: Some(prompt.to_owned()),
        ..item
    }
}

fn approval() -> Menu {
    Menu::one(
        vec![Line::plain("Run `ls`?")],
        vec![
            Item::new("Yes").key('y'),
            Item {
                hint: "Bash(ls:*) in this project".to_owned(),
                ..Item::new("Always").key('a')
            },
            asking(Item::new("No, with a reason").key('n'), "Why? "),
        ],
    )
}

fn numbered(count: usize) -> Vec<Item> {
    (0..count)
        .map(|number| Item::new(format!("item {number}")))
        .collect()
}

fn one(index: usize) -> Picked {
    Picked::One { index, text: None }
}

#[test]
fn a_person_sees_keys_labels_and_hints() {
    assert_eq!(
        texts(&approval().lines(SIZE).0),
        [
            "Run `ls`?",
            "❯ [y] Yes",
            "  [a] Always  Bash(ls:*) in this project",
            "  [n] No, with a reason",
            "↑↓ Enter · Esc cancels",
        ]
    );
}

#[test]
fn on_a_narrow_terminal_hints_stand_below_and_nothing_is_lost() {
    let lines = approval()
        .lines(Size {
            columns: 20,
            rows: 12,
        })
        .0;
    assert_eq!(
        texts(&lines)[1..],
        [
            "❯ [y] Yes",
            "  [a] Always",
            "      Bash(ls:*) in",
            "      this project",
            "  [n] No, with a",
            "      reason",
            "↑↓ Enter · Esc canc…",
        ]
    );
}

#[test]
fn arrows_letters_and_digits_choose() {
    let mut menu = approval();
    menu.key(Key::Down);
    assert_eq!(menu.key(Key::Enter), one(1));
    assert_eq!(approval().key(Key::Char('a')), one(1));
    assert_eq!(approval().key(Key::Char('Y')), one(0));
    assert_eq!(approval().key(Key::Char('2')), one(1));
    assert_eq!(approval().key(Key::Char('9')), Picked::Going);
    assert_eq!(approval().key(Key::Esc), Picked::Cancelled);
    let mut menu = Menu::one(Vec::new(), numbered(3));
    menu.key(Key::Char('k'));
    assert_eq!(menu.key(Key::Enter), one(2));
    menu.key(Key::Char('j'));
    assert_eq!(menu.key(Key::Enter), one(0));
}

#[test]
fn an_item_with_the_key_of_a_direction_keeps_it() {
    let mut menu = Menu::one(Vec::new(), vec![Item::new("x"), Item::new("keep").key('k')]);
    assert_eq!(menu.key(Key::Char('k')), one(1));
}

#[test]
fn a_choice_asks_for_its_text() {
    let mut menu = approval();
    assert_eq!(menu.key(Key::Char('n')), Picked::Going);
    assert!(menu.is_writing());
    for letter in "yes 1".chars() {
        assert_eq!(menu.key(Key::Char(letter)), Picked::Going);
    }
    menu.paste("\nmore");
    assert_eq!(
        texts(&menu.lines(SIZE).0)[3..6],
        [
            "❯ [n] No, with a reason",
            "      Why? yes 1",
            "           more"
        ]
    );
    assert_eq!(menu.lines(SIZE).1, Some((5, 15)));
    let picked = menu.key(Key::Enter);
    assert_eq!(
        picked,
        Picked::One {
            index: 2,
            text: Some("yes 1\nmore".to_owned())
        }
    );
}

#[test]
fn a_text_can_be_left_empty_or_given_up() {
    let mut menu = approval();
    menu.key(Key::Char('n'));
    assert_eq!(menu.key(Key::Enter), one(2));
    menu.key(Key::Char('n'));
    assert_eq!(menu.key(Key::Char('x')), Picked::Going);
    assert_eq!(menu.key(Key::Esc), Picked::Going);
    assert_eq!(menu.lines(SIZE).1, None);
    assert_eq!(menu.key(Key::Char('y')), one(0));
}

#[test]
fn several_are_ticked_and_a_text_is_one_of_them() {
    let mut items = numbered(3);
    items.push(asking(Item::new("other…"), "What? "));
    let mut menu = Menu::many(Vec::new(), items).ticked(&[1]);
    menu.key(Key::Char(' '));
    menu.key(Key::Char('3'));
    menu.key(Key::Char('2'));
    menu.key(Key::End);
    menu.key(Key::Enter);
    menu.paste("mine");
    assert_eq!(menu.key(Key::Enter), Picked::Going);
    assert_eq!(
        texts(&menu.lines(SIZE).0)[..4],
        [
            "  [x] 1. item 0",
            "  [ ] 2. item 1",
            "  [x] 3. item 2",
            "❯ [x] 4. other…  mine",
        ]
    );
    let expected = Picked::Many {
        indexes: vec![0, 2, 3],
        text: Some("mine".to_owned()),
    };
    assert_eq!(menu.key(Key::Enter), expected);
    menu.key(Key::Char(' '));
    menu.key(Key::Up);
    assert_eq!(
        menu.key(Key::Enter),
        Picked::Many {
            indexes: vec![0, 2],
            text: None
        }
    );
}

#[test]
fn more_items_than_rows_scroll_with_the_cursor() {
    let mut menu = Menu::one(vec![Line::plain("Which?")], numbered(40));
    let size = Size {
        columns: 20,
        rows: 10,
    };
    for index in 0..40 {
        let lines = texts(&menu.lines(size).0);
        assert!(lines.len() < 10, "{lines:#?}");
        assert!(
            lines
                .iter()
                .any(|line| line.starts_with('❯') && line.ends_with(&format!(" {index}"))),
            "{lines:#?}"
        );
        menu.key(Key::Down);
    }
}

#[test]
fn no_size_breaks_it() {
    for (columns, rows) in [(1, 1), (2, 2), (5, 3), (20, 5), (300, 100)] {
        let size = Size { columns, rows };
        let mut menu = approval();
        for key in [Key::Down, Key::Char('n'), Key::Char('你'), Key::Char('x')] {
            menu.key(key);
            let lines = menu.lines(size).0;
            assert!(
                lines.len() <= usize::from(rows.saturating_sub(1).max(1)),
                "{size:?} {lines:?}"
            );
        }
    }
}
