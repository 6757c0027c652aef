//! Which row of the table means a path.
//!
//! Owns the way there: rows are found by the first name they begin with, so that a path is held against the few that can mean
//! it and not against all. Invariant: what is found is the first row of the table that means the path.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::super::Touch;
use super::super::names::Names;
use super::table::{ROWS, Row, Start};

/// Rows by where they begin and their first name, in small letters; those whose first name is a pattern have none.
type Index = HashMap<(Start, Option<String>), Vec<usize>>;

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let mut index = Index::new();
    for (at, row) in ROWS.iter().enumerate() {
        let first = row.names.split('/').next().unwrap_or_default();
        let first = (!first.contains('*')).then(|| first.to_ascii_lowercase());
        index.entry((row.start, first)).or_default().push(at);
    }
    index
});

/// The first row that means this path.
pub(super) fn row_of(path: &Names, homes: &[Names], touch: Touch) -> Option<&'static Row> {
    let from_root = (Start::Root, path.loose.as_slice());
    let from_home = homes
        .iter()
        .filter_map(|home| Some((Start::Home, path.loosely_below(home)?)));
    let from_anywhere = (0..path.loose.len())
        .map(|at| (Start::Anywhere, &path.loose[at..]))
        .filter(|(_, names)| !is_worktree(names));
    std::iter::once(from_root)
        .chain(from_home)
        .chain(from_anywhere)
        .filter_map(|(start, names)| first(start, names, touch))
        .min()
        .map(|at| &ROWS[at])
}

/// The first row that begins here and means these names.
fn first(start: Start, names: &[String], touch: Touch) -> Option<usize> {
    let by_name = INDEX.get(&(start, Some(names.first()?.clone())));
    let by_pattern = INDEX.get(&(start, None));
    let rows = by_name.into_iter().chain(by_pattern).flatten().copied();
    rows.filter(|at| ROWS[*at].is_about(touch) && ROWS[*at].leads(names))
        .min()
}

/// What is in a worktree that Claude Code made below its folder is work like any other.
fn is_worktree(names: &[String]) -> bool {
    matches!(names, [claude, worktrees, _, _, ..] if claude == ".claude" && worktrees == "worktrees")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Every row against every position, in the order of the table.
    fn by_all(path: &Names, homes: &[Names], touch: Touch) -> Option<&'static Row> {
        let means = |row: &&Row| match row.start {
            Start::Root => row.leads(&path.loose),
            Start::Home => homes
                .iter()
                .filter_map(|home| path.loosely_below(home))
                .any(|rest| row.leads(rest)),
            Start::Anywhere => (0..path.loose.len())
                .any(|at| row.leads(&path.loose[at..]) && !is_worktree(&path.loose[at..])),
        };
        ROWS.iter().filter(|row| row.is_about(touch)).find(means)
    }

    #[test]
    fn it_finds_what_a_look_at_every_row_finds() {
        let homes = [
            Names::of(Path::new("/people/Ada")),
            Names::of(Path::new("/srv")),
        ];
        let mut found = 0;
        for row in ROWS {
            let names = row.names.replace('*', "7");
            for start in [
                "",
                "/people/ada",
                "/srv",
                "/repo/.claude/worktrees/a/b",
                "/x/.ssh",
            ] {
                for path in [
                    format!("{start}/{names}"),
                    format!("{start}/{names}/in/it"),
                    format!("{start}/{}", names.to_uppercase()),
                    format!("{start}/{names}x"),
                ] {
                    let names = Names::of(Path::new(&path));
                    for touch in [Touch::Read, Touch::Write] {
                        let expected = by_all(&names, &homes, touch).map(|row| row.names);
                        let row = row_of(&names, &homes, touch).map(|row| row.names);
                        assert_eq!(row, expected, "{path} {touch:?}");
                        found += usize::from(row.is_some());
                    }
                }
            }
        }
        assert!(found > ROWS.len(), "{found}");
    }

    #[test]
    fn nothing_means_the_root() {
        assert!(row_of(&Names::of(Path::new("/")), &[], Touch::Write).is_none());
    }
}
