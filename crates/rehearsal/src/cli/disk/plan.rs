//! Plan files: their names, and reading and writing them.
//!
//! A name is made from the first words of the prompt and words from a seed; the same seed gives the same name. The
//! places of plan files are known by `places`.

/// How many words of a prompt are taken.
const WORDS: usize = 4;
/// How long they may be together.
const LONGEST: usize = 40;

const HOW: [&str; 32] = [
    "amber", "brisk", "calm", "clear", "crisp", "dapper", "eager", "early", "faint", "gentle",
    "golden", "hidden", "humble", "keen", "lively", "lucky", "mellow", "misty", "noble", "patient",
    "plain", "proud", "quiet", "rapid", "silver", "sleepy", "steady", "sunny", "tidy", "velvet",
    "warm", "witty",
];
const DOING: [&str; 16] = [
    "baking", "climbing", "drifting", "folding", "gliding", "humming", "juggling", "knitting",
    "leaping", "mapping", "painting", "roaming", "sailing", "sorting", "walking", "weaving",
];
const WHAT: [&str; 32] = [
    "acorn", "anchor", "badger", "beacon", "birch", "bridge", "brook", "canyon", "cedar", "comet",
    "creek", "ember", "falcon", "fern", "harbor", "heron", "island", "lantern", "maple", "meadow",
    "orbit", "otter", "pebble", "pine", "quartz", "ridge", "river", "sparrow", "thistle", "tulip",
    "valley", "willow",
];

/// The name of a new plan. Without a prompt, or with one that has no letters to use, it is three words.
pub(in crate::cli) fn slug(seed: u64, prompt: Option<&str>) -> String {
    let pick = |words: &[&'static str], shift: u32| {
        // The high bits of a product are well mixed, whatever the seed looks like.
        let mixed = seed.rotate_left(shift).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        words[mixed as usize % words.len()]
    };
    let (how, what) = (pick(&HOW, 0), pick(&WHAT, 21));
    match prompt.map(prefix).filter(|prefix| !prefix.is_empty()) {
        Some(prefix) => format!("{prefix}-{how}-{what}"),
        None => format!("{how}-{}-{what}", pick(&DOING, 42)),
    }
}

/// The first words in lower case, with a dash for whatever is no ASCII letter or digit.
fn prefix(prompt: &str) -> String {
    let mut prefix = String::new();
    for word in prompt.split_whitespace().take(WORDS) {
        prefix.push('-');
        prefix.push_str(&word.to_lowercase());
    }
    let parts = prefix.split(|c: char| !c.is_ascii_alphanumeric());
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    let mut prefix = parts.join("-");
    prefix.truncate(LONGEST);
    prefix.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    // What 2.1.325 made of these prompts, without its two words from a list.
    #[test]
    fn a_name_begins_with_the_words_of_the_prompt() {
        let made = [
            ("Plan a greeting", "plan-a-greeting"),
            (
                "Please, could you help me plan the migration",
                "please-could-you-help",
            ),
            ("Fix bug #123 in src/main.rs quickly", "fix-bug-123-in"),
            ("<b>tag</b> and more words here", "b-tag-b-and-more-words"),
            ("Let's do it, don't we?", "let-s-do-it-don-t"),
            (
                "\u{dc}berpr\u{fc}fe das W\u{f6}rterbuch",
                "berpr-fe-das-w-rterbuch",
            ),
            ("x", "x"),
        ];
        for (prompt, expected) in made {
            let slug = slug(7, Some(prompt));
            let (rest, _) = slug.rsplit_once('-').unwrap();
            assert_eq!(rest.rsplit_once('-').unwrap().0, expected);
        }
        assert_eq!(
            prefix(&format!("{} bcd efg", "a".repeat(80))),
            "a".repeat(40)
        );
    }

    #[test]
    fn a_name_without_words_has_three_of_its_own() {
        for prompt in [None, Some(""), Some("\u{65e5}\u{672c}\u{8a9e}\u{3067}")] {
            let slug = slug(3, prompt);
            assert_eq!(slug.split('-').count(), 3, "{slug}");
        }
    }

    #[test]
    fn a_seed_repeats_and_seeds_differ() {
        assert_eq!(slug(1, Some("Go")), slug(1, Some("Go")));
        let many: std::collections::HashSet<String> =
            (0..64).map(|seed| slug(seed, None)).collect();
        assert!(many.len() > 48, "{}", many.len());
    }
}
