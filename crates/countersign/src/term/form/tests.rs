//! Forms from first field to review.

use serde_json::json;

use super::*;

const SIZE: Size = Size {
    columns: 60,
    rows: 20,
};

fn schema() -> Value {
    json!({
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": {"type": "string", "title": "Your name", "minLength": 2},
            "age": {"type": "integer", "minimum": 18},
            "colour": {"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"], "default": "g"},
            "news": {"type": "boolean"},
            "langs": {"type": "array", "maxItems": 2, "items": {"enum": ["rust", "go", "c"]}},
        },
    })
}

fn order() -> Vec<String> {
    ["name", "age", "colour", "news", "langs"]
        .map(str::to_owned)
        .to_vec()
}

fn form() -> Form {
    Form::new("Who are you?", &schema(), Some(&order())).unwrap()
}

fn seen(form: &Form) -> Vec<String> {
    form.lines(SIZE)
        .0
        .iter()
        .map(|line| line.text().trim_end().to_owned())
        .collect()
}

fn typed(form: &mut Form, text: &str) -> Filled {
    for letter in text.chars() {
        assert_eq!(form.key(Key::Char(letter)), Filled::Going);
    }
    form.key(Key::Enter)
}

#[test]
fn a_form_is_filled_in_field_by_field_and_reviewed() {
    let mut form = form();
    assert_eq!(seen(&form)[..3], ["Who are you?", "1/5 Your name", "❯"]);
    typed(&mut form, "Xi");
    typed(&mut form, "20");
    form.key(Key::Up);
    form.key(Key::Enter);
    form.key(Key::Char('y'));
    form.key(Key::Char('1'));
    form.key(Key::Char('3'));
    form.key(Key::Enter);
    assert_eq!(
        seen(&form)[1..9],
        [
            "Send this? Choose an answer to change it.",
            "❯ [s] Send",
            "  2.  Your name: Xi",
            "  3.  age: 20",
            "  4.  colour: Red",
            "  5.  news: yes",
            "  6.  langs: rust, c",
            "  [d] Decline to answer",
        ]
    );
    let expected =
        json!({"name": "Xi", "age": 20, "colour": "r", "news": true, "langs": ["rust", "c"]});
    assert_eq!(form.key(Key::Char('s')), Filled::Accepted(expected));
}

#[test]
fn what_is_optional_is_left_out_and_a_default_is_there_already() {
    let mut form = form();
    typed(&mut form, "Xi");
    typed(&mut form, "");
    form.key(Key::Enter);
    form.key(Key::End);
    form.key(Key::Enter);
    form.key(Key::Enter);
    let expected = json!({"name": "Xi", "colour": "g"});
    assert_eq!(form.key(Key::Enter), Filled::Accepted(expected));
}

#[test]
fn what_does_not_fit_is_told_and_can_be_mended() {
    let mut form = form();
    typed(&mut form, "");
    assert!(seen(&form).contains(&"✗ an answer is needed".to_owned()));
    typed(&mut form, "X");
    assert!(seen(&form).contains(&"✗ at least 2 letters, not 1".to_owned()));
    assert!(seen(&form).contains(&"❯ X".to_owned()));
    typed(&mut form, "i");
    assert!(!seen(&form).iter().any(|line| line.contains('✗')));
    typed(&mut form, "17");
    assert!(seen(&form).contains(&"✗ at least 18".to_owned()));
    form.key(Key::Ctrl('u'));
    typed(&mut form, "18");
    form.key(Key::Enter);
    form.key(Key::Char('n'));
    for digit in ['1', '2', '3'] {
        form.key(Key::Char(digit));
    }
    form.key(Key::Enter);
    assert!(
        seen(&form).contains(&"✗ at most 2 choices, not 3".to_owned()),
        "{:?}",
        seen(&form)
    );
}

#[test]
fn an_answer_can_be_changed_on_the_way_and_in_the_review() {
    let mut form = form();
    typed(&mut form, "Xi");
    form.key(Key::BackTab);
    assert!(seen(&form).contains(&"❯ Xi".to_owned()));
    typed(&mut form, "a");
    typed(&mut form, "");
    form.key(Key::Enter);
    form.key(Key::Char('n'));
    form.key(Key::Enter);
    form.key(Key::Char('2'));
    typed(&mut form, "o");
    assert_eq!(
        form.key(Key::Char('s')),
        Filled::Accepted(json!({"name": "Xiao", "colour": "g", "news": false}))
    );
}

#[test]
fn there_are_ways_out_and_a_way_back() {
    let mut form = form();
    form.input(&Input::Paste("half".to_owned()));
    assert_eq!(form.key(Key::Esc), Filled::Going);
    assert!(seen(&form).contains(&"Leave this form?".to_owned()));
    assert_eq!(form.key(Key::Esc), Filled::Going);
    assert!(seen(&form).contains(&"❯ half".to_owned()));
    form.key(Key::Esc);
    assert_eq!(form.key(Key::Char('d')), Filled::Declined);
    assert_eq!(form.key(Key::Char('c')), Filled::Cancelled);
}

#[test]
fn a_form_without_fields_asks_only_to_be_sent() {
    let mut form = Form::new("Go on?", &json!({"type": "object", "properties": {}}), None).unwrap();
    assert_eq!(
        seen(&form)[2..5],
        ["❯ [s] Send", "  [d] Decline to answer", "  [c] Cancel"]
    );
    assert_eq!(form.key(Key::Enter), Filled::Accepted(json!({})));
}

#[test]
fn no_answer_reaches_further_than_the_schema_allows() {
    // A default of another kind is offered as text, and has to fit as anything that is written.
    let schema = json!({"properties": {"n": {"type": "integer", "default": "many"}}});
    let mut form = Form::new("", &schema, None).unwrap();
    form.key(Key::Enter);
    assert!(seen(&form).contains(&"✗ not a whole number".to_owned()));
}

#[test]
fn it_can_be_filled_in_on_a_very_small_terminal() {
    for (columns, rows) in [(20, 5), (30, 6), (300, 100)] {
        let size = Size { columns, rows };
        let mut form = form();
        for key in [
            Key::Char('X'),
            Key::Enter,
            Key::Char('i'),
            Key::Enter,
            Key::Enter,
            Key::Enter,
            Key::Enter,
        ] {
            let (lines, cursor) = form.lines(size);
            assert!(lines.len() < usize::from(rows), "{size:?} {lines:?}");
            assert!(
                lines
                    .iter()
                    .all(|line| line.width() <= usize::from(columns))
            );
            assert!(
                cursor
                    .is_none_or(|(row, column)| usize::from(row) < lines.len() && column < columns)
            );
            form.key(key);
        }
    }
}
