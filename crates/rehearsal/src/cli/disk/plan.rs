//! The names of plan files: made from the first words of the prompt and two words from a seed.

/// How many words of a prompt are taken, and how long they may be together.
const WORDS: usize = 4;
const LONGEST: usize = 40;

const PICKED: [&str; 8] = [
    "amber", "brisk", "falcon", "golden", "heron", "island", "otter", "willow",
];

/// The name of a new plan.
pub(in crate::cli) fn slug(seed: u64, prompt: Option<&str>) -> String {
    let words = prompt.unwrap_or_default().split_whitespace().take(WORDS);
    let words = words.collect::<Vec<_>>().join("-").to_lowercase();
    let parts = words.split(|c: char| !c.is_ascii_alphanumeric());
    let parts = parts.filter(|part| !part.is_empty());
    let mut name = parts.collect::<Vec<_>>().join("-");
    name.truncate(LONGEST);
    let pick = |shift: u32| PICKED[(seed >> shift) as usize % PICKED.len()];
    let name = match name.trim_end_matches('-') {
        "" => "plan",
        name => name,
    };
    format!("{name}-{}-{}", pick(0), pick(3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_begins_with_the_words_of_the_prompt() {
        let made = [
            ("Plan a greeting", "plan-a-greeting-brisk-amber"),
            ("Let's do it, don't we?", "let-s-do-it-don-t-brisk-amber"),
            ("\u{65e5}\u{672c}", "plan-brisk-amber"),
        ];
        for (prompt, expected) in made {
            assert_eq!(slug(1, Some(prompt)), expected);
        }
    }
}
