//! A call that changes a file, as its change stands in the file.
//!
//! Owns how the file of a question is shown without scripts: numbers and lines around the change, and whether the file is another
//! one by now. Invariant: everything went through the redactor; where that joins or drops lines, no number is told.

use countersign_api::control::approval::{FileAsAsked, FilePart, FileState};

use super::html::Html;
use crate::redact::Redactor;

/// More lines of a change are not shown; the whole is in the API.
const MOST_LINES: usize = 600;

/// One line of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Same,
    Removed,
    Added,
}

#[derive(Debug, PartialEq, Eq)]
struct Row<'a> {
    sign: Sign,
    old: Option<usize>,
    new: Option<usize>,
    text: &'a str,
}

/// What is known of the file, and the change in it. Whether the change is shown.
pub(super) fn show(html: &mut Html, tool: &str, file: &FileAsAsked, redactor: &Redactor) -> bool {
    let replaces = tool == "Write" && file.state == FileState::Read;
    if let Some(words) = match file.state {
        FileState::New => Some("A new file."),
        _ if replaces => Some("Replaces the whole file."),
        _ => None,
    } {
        html.raw("<p class=\"dim\">").text(words).raw("</p>");
    }
    if file.changed {
        html.raw("<p class=\"harm\">The file has changed since the agent asked.</p>");
    }
    if let Some(says) = &file.says {
        html.raw("<p class=\"note\">")
            .text(&redactor.line(says))
            .raw("</p>");
    }
    let is_shown = file.state == FileState::Read && !file.parts.is_empty();
    if is_shown {
        parts(html, &file.parts, redactor);
    }
    is_shown
}

fn parts(html: &mut Html, parts: &[FilePart], redactor: &Redactor) {
    let mut room = MOST_LINES;
    html.raw("<pre class=\"change\">");
    for (place, part) in parts.iter().enumerate() {
        if place > 0 {
            html.raw("<span class=\"dim\">          …</span>\n");
        }
        let (before, after) = (redactor.line(&part.before), redactor.line(&part.after));
        let is_whole = same_lines(&before, &part.before) && same_lines(&after, &part.after);
        let from = is_whole.then_some((part.line, part.new_line));
        for row in rows(&before, &after, from).into_iter().take(room) {
            room -= 1;
            line(html, &row);
        }
    }
    html.raw("</pre>");
    if room == 0 {
        html.raw("<p class=\"dim\">Cut here: the whole change is in the API.</p>");
    }
}

fn same_lines(one: &str, other: &str) -> bool {
    one.lines().count() == other.lines().count()
}

fn line(html: &mut Html, row: &Row<'_>) {
    let number = |number: Option<usize>| number.map(|it| it.to_string()).unwrap_or_default();
    let (class, sign) = match row.sign {
        Sign::Same => ("<span>", ' '),
        Sign::Removed => ("<span class=\"gone\">", '-'),
        Sign::Added => ("<span class=\"come\">", '+'),
    };
    let numbers = format!("{:>5} {:>5} {sign} ", number(row.old), number(row.new));
    html.raw(class).text(&numbers).text(row.text);
    html.raw("</span>\n");
}

/// What both have at their beginning and end stays, what is between is taken away and added. `from`: the numbers of the first lines.
fn rows<'a>(before: &'a str, after: &'a str, from: Option<(usize, usize)>) -> Vec<Row<'a>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let alike = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| {
        pairs.take_while(|(one, other)| one == other).count()
    };
    let top = alike(&mut old.iter().zip(&new));
    let (old_rest, new_rest) = (&old[top..], &new[top..]);
    let end = alike(&mut old_rest.iter().rev().zip(new_rest.iter().rev()));
    let row = |sign, (at_old, at_new): (Option<usize>, Option<usize>), text| Row {
        sign,
        old: from.zip(at_old).map(|((first, _), at)| first + at),
        new: from.zip(at_new).map(|((_, first), at)| first + at),
        text,
    };
    let mut rows = Vec::new();
    for (at, text) in old.iter().enumerate().take(top) {
        rows.push(row(Sign::Same, (Some(at), Some(at)), text));
    }
    for (at, text) in old.iter().enumerate().take(old.len() - end).skip(top) {
        rows.push(row(Sign::Removed, (Some(at), None), text));
    }
    for (at, text) in new.iter().enumerate().take(new.len() - end).skip(top) {
        rows.push(row(Sign::Added, (None, Some(at)), text));
    }
    let ends = (old.len() - end..old.len()).zip(new.len() - end..new.len());
    for (at_old, at_new) in ends {
        rows.push(row(Sign::Same, (Some(at_old), Some(at_new)), old[at_old]));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_alike_around_a_change_keeps_both_numbers() {
        let rows = rows("a\nb\nc\n", "a\nB\nB2\nc\n", Some((39, 41)));
        let told: Vec<_> = rows
            .iter()
            .map(|row| (row.sign, row.old, row.new, row.text))
            .collect();
        assert_eq!(
            told,
            [
                (Sign::Same, Some(39), Some(41), "a"),
                (Sign::Removed, Some(40), None, "b"),
                (Sign::Added, None, Some(42), "B"),
                (Sign::Added, None, Some(43), "B2"),
                (Sign::Same, Some(41), Some(44), "c"),
            ]
        );
    }

    #[test]
    fn a_repeated_line_is_never_counted_for_both_ends() {
        let rows = rows("a\na\n", "a\n", Some((1, 1)));
        let told: Vec<_> = rows.iter().map(|row| (row.sign, row.text)).collect();
        assert_eq!(told, [(Sign::Same, "a"), (Sign::Removed, "a")]);
    }

    #[test]
    fn a_mask_that_joins_lines_takes_the_numbers_away() {
        assert!(same_lines("a\nb", "a\nc"));
        assert!(!same_lines("[masked]", "a\nb"));
        assert!(
            rows("a", "b", None)
                .iter()
                .all(|row| row.old.is_none() && row.new.is_none())
        );
    }
}
