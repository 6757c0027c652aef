//! What is asked, what can be chosen, and a footer, in as many rows as there are.
//!
//! Owns what is left out where not all fits: first the footer, then the end of what is asked, then choices far from the
//! chosen one. Pure, and always says what was left out.

use super::style::{Line, Tone};

/// Below this many rows there is no footer.
const ROWS_WITH_FOOTER: usize = 6;

/// The parts, each broken to the width already.
#[derive(Debug, Default)]
pub(crate) struct Panel {
    pub(crate) title: Vec<Line>,
    /// The rows of each choice.
    pub(crate) blocks: Vec<Vec<Line>>,
    /// Which block must be seen.
    pub(crate) chosen: usize,
    /// Which row of that block must be seen.
    pub(crate) row: usize,
    pub(crate) footer: Option<Line>,
}

/// What is shown.
#[derive(Debug)]
pub(crate) struct Fitted {
    pub(crate) lines: Vec<Line>,
    /// Where `row` of the chosen block stands.
    pub(crate) row: usize,
}

impl Panel {
    /// Makes it fit into so many rows.
    pub(crate) fn fit(mut self, room: usize) -> Fitted {
        let footer = self.footer.take().filter(|_| room >= ROWS_WITH_FOOTER);
        let room = room.max(1) - usize::from(footer.is_some());
        let wanted: usize = self.blocks.iter().map(Vec::len).sum();
        // Choices get half of the room at least, if they need it.
        let least = wanted.min((room / 2).max(1));
        let mut lines = shortened(std::mem::take(&mut self.title), room - least);
        let (blocks, row) = self.window(room - lines.len());
        let row = lines.len() + row;
        lines.extend(blocks);
        lines.extend(footer);
        Fitted { lines, row }
    }

    /// The rows around the chosen block, and where the row that must be seen is among them.
    fn window(&self, room: usize) -> (Vec<Line>, usize) {
        let Some(chosen) = self.blocks.get(self.chosen) else {
            return (Vec::new(), 0);
        };
        let wanted: usize = self.blocks.iter().map(Vec::len).sum();
        let (first, last) = match wanted <= room {
            true => (0, self.blocks.len() - 1),
            false => self.around(room),
        };
        if first == last && chosen.len() + 2 > room {
            return part(chosen, self.row, room);
        }
        let mut lines = Vec::new();
        if first > 0 {
            lines.push(Line::of(format!("  ↑ {first} more"), Tone::Dim));
        }
        let above: usize = self.blocks[first..self.chosen].iter().map(Vec::len).sum();
        let row = lines.len() + above + self.row;
        lines.extend(self.blocks[first..=last].iter().flatten().cloned());
        let below = self.blocks.len() - 1 - last;
        if below > 0 {
            lines.push(Line::of(format!("  ↓ {below} more"), Tone::Dim));
        }
        (lines, row)
    }

    /// The first and the last block that fit together with the chosen one and the two marks.
    fn around(&self, room: usize) -> (usize, usize) {
        let room = room.saturating_sub(2);
        let (mut first, mut last) = (self.chosen, self.chosen);
        let mut used = self.blocks[self.chosen].len();
        loop {
            let below = self
                .blocks
                .get(last + 1)
                .map(Vec::len)
                .filter(|rows| used + rows <= room);
            if let Some(rows) = below {
                last += 1;
                used += rows;
            }
            let above = first
                .checked_sub(1)
                .map(|at| self.blocks[at].len())
                .filter(|rows| used + rows <= room);
            if let Some(rows) = above {
                first -= 1;
                used += rows;
            }
            if below.is_none() && above.is_none() {
                return (first, last);
            }
        }
    }
}

/// So many rows of one block, with the one that must be seen among them.
fn part(block: &[Line], row: usize, room: usize) -> (Vec<Line>, usize) {
    let room = room.max(1);
    let first = (row + 1).saturating_sub(room);
    (
        block.iter().skip(first).take(room).cloned().collect(),
        row - first,
    )
}

/// The first rows, and how many are missing.
fn shortened(mut rows: Vec<Line>, room: usize) -> Vec<Line> {
    if rows.len() > room {
        let missing = rows.len() + 1 - room.max(1);
        rows.truncate(room.saturating_sub(1));
        if room > 0 {
            rows.push(Line::of(format!("… {missing} more rows"), Tone::Dim));
        }
    }
    rows
}

/// These lines broken to a width.
pub(crate) fn rows(lines: &[Line], width: usize) -> Vec<Line> {
    lines.iter().flat_map(|line| line.rows(width)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(name: &str, count: usize) -> Vec<Line> {
        (0..count)
            .map(|number| Line::plain(format!("{name}{number}")))
            .collect()
    }

    fn panel(title: usize, blocks: &[usize], chosen: usize) -> Panel {
        Panel {
            title: lines("title", title),
            blocks: blocks
                .iter()
                .enumerate()
                .map(|(at, rows)| lines(&format!("b{at}."), *rows))
                .collect(),
            chosen,
            row: 0,
            footer: Some(Line::plain("footer")),
        }
    }

    fn texts(fitted: &Fitted) -> Vec<String> {
        fitted.lines.iter().map(Line::text).collect()
    }

    #[test]
    fn all_is_shown_where_all_fits() {
        let fitted = panel(2, &[1, 2], 1).fit(6);
        assert_eq!(
            texts(&fitted),
            ["title0", "title1", "b0.0", "b1.0", "b1.1", "footer"]
        );
        assert_eq!(fitted.row, 3);
    }

    #[test]
    fn the_end_of_a_long_title_is_left_out_and_told() {
        let fitted = panel(20, &[1, 1], 0).fit(8);
        assert_eq!(
            texts(&fitted),
            [
                "title0",
                "title1",
                "title2",
                "title3",
                "… 16 more rows",
                "b0.0",
                "b1.0",
                "footer"
            ]
        );
    }

    #[test]
    fn choices_far_from_the_chosen_one_are_left_out_and_told() {
        let fitted = panel(0, &[1; 20], 10).fit(6);
        assert_eq!(
            texts(&fitted),
            [
                "  ↑ 9 more",
                "b9.0",
                "b10.0",
                "b11.0",
                "  ↓ 8 more",
                "footer"
            ]
        );
        assert_eq!(fitted.row, 2);
    }

    #[test]
    fn whatever_the_room_it_is_kept_and_the_chosen_row_is_seen() {
        for room in 1..12 {
            for title in [0, 1, 5, 40] {
                for chosen in 0..5 {
                    for row in 0..3 {
                        let mut panel = panel(title, &[3, 3, 3, 3, 3], chosen);
                        panel.row = row;
                        let fitted = panel.fit(room);
                        assert!(
                            fitted.lines.len() <= room,
                            "{room} {title} {chosen}: {fitted:?}"
                        );
                        assert_eq!(
                            fitted.lines[fitted.row].text(),
                            format!("b{chosen}.{row}"),
                            "{room} {title}"
                        );
                    }
                }
            }
        }
    }
}
