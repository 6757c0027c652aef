//! The names of plan files: made from the first words of the prompt and words from a seed.

/// How many words of a prompt are taken, and how long they may be together.
const WORDS: usize = 4;
const LONGEST: usize = 40;

const PICKED: [&str; 16] = [
    "amber", "brisk", "calm", "ember", "falcon", "fern", "golden", "heron", "island", "lucky",
    "maple", "otter", "quiet", "river", "silver", "willow",
];

/// The name of a new plan. Without a prompt, or with one that has no letters to use, it is three words.
pub(in crate::cli) fn slug(seed: u64, prompt: Option<&str>) -> String {
    let pick = |shift: u32| {
        // The high bits of a product are well mixed, whatever the seed looks like.
        let mixed = seed.rotate_left(shift).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        PICKED[mixed as usize % PICKED.len()]
    };
    let words = prompt.unwrap_or_default().split_whitespace().take(WORDS);
    let words = words.collect::<Vec<_>>().join("-").to_lowercase();
    let parts = words.split(|c: char| !c.is_ascii_alphanumeric());
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    let mut prefix = parts.join("-");
    prefix.truncate(LONGEST);
    let prefix = match prefix.trim_end_matches('-') {
        "" => pick(42),
        prefix => prefix,
    };
    format!("{prefix}-{}-{}", pick(0), pick(21))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_begins_with_the_words_of_the_prompt() {
        let made = [
            ("Plan a greeting", "plan-a-greeting"),
            ("Fix bug #123 in src/main.rs quickly", "fix-bug-123-in"),
            ("Let's do it, don't we?", "let-s-do-it-don-t"),
        ];
        for (prompt, expected) in made {
            assert!(slug(7, Some(prompt)).starts_with(expected), "{prompt}");
        }
        assert_eq!(slug(3, Some("\u{65e5}\u{672c}")).split('-').count(), 3);
        assert_eq!(slug(1, Some("Go")), slug(1, Some("Go")));
    }
}
