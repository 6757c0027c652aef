//! The flag that was probably meant: the nearest by edits, where it is near enough.
//!
//! Pure. The limits (three edits, and more than two fifths of the word right) are those of the CLI.

/// Edits beyond which nothing is near.
const MOST: usize = 3;

/// The candidates nearest to a word, in order. All begin with two dashes; those do not count.
pub(super) fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let Some(word) = word.strip_prefix("--") else {
        return Vec::new();
    };
    let word: Vec<char> = word.chars().collect();
    let mut best = MOST;
    let mut found: Vec<&str> = Vec::new();
    for candidate in candidates {
        let name: Vec<char> = candidate.trim_start_matches('-').chars().collect();
        let longest = name.len().max(word.len());
        let edits = distance(&word, &name);
        if name.len() <= 1 || edits > best || (longest - edits) * 5 <= longest * 2 {
            continue;
        }
        if edits < best {
            best = edits;
            found.clear();
        }
        found.push(candidate);
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Insertions, deletions, replacements and swaps of neighbours between two words; their length if it is out of reach.
fn distance(left: &[char], right: &[char]) -> usize {
    if left.len().abs_diff(right.len()) > MOST {
        return left.len().max(right.len());
    }
    let width = right.len() + 1;
    let mut rows = vec![0; (left.len() + 1) * width];
    for (column, cell) in rows[..width].iter_mut().enumerate() {
        *cell = column;
    }
    for i in 1..=left.len() {
        rows[i * width] = i;
        for j in 1..width {
            let changed = usize::from(left[i - 1] != right[j - 1]);
            let above = (i - 1) * width + j;
            let mut edits = (rows[above] + 1)
                .min(rows[i * width + j - 1] + 1)
                .min(rows[above - 1] + changed);
            let swapped =
                i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
            if swapped {
                edits = edits.min(rows[(i - 2) * width + j - 2] + 1);
            }
            rows[i * width + j] = edits;
        }
    }
    rows[left.len() * width + right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(word: &str) -> Vec<&'static str> {
        nearest(
            word,
            ["--model", "--verbose", "--version", "--bare", "--tools"].into_iter(),
        )
    }

    #[test]
    fn a_slip_of_the_hand_is_understood() {
        assert_eq!(near("--modle"), ["--model"]);
        assert_eq!(near("--Verbose"), ["--verbose"]);
        assert_eq!(near("--session"), ["--version"]);
    }

    #[test]
    fn what_is_too_far_off_is_not_guessed_at() {
        for word in ["--m", "--VERBOSE", "--nonsense-flag", "-x", "verbose"] {
            assert!(near(word).is_empty(), "{word}");
        }
    }

    #[test]
    fn several_that_are_as_near_are_all_named() {
        assert_eq!(
            nearest("--car", ["--cat", "--bar", "--far-off"].into_iter()),
            ["--bar", "--cat"]
        );
    }
}
