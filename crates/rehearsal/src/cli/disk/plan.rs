//! The names of plan files: made from the first words of the prompt and two words from a seed. A name is given once.

use std::path::Path;

/// How many words of a prompt are taken, and how long they may be together.
const WORDS: usize = 4;
const LONGEST: usize = 40;

const PICKED: [&str; 8] = [
    "amber", "brisk", "falcon", "golden", "heron", "island", "otter", "willow",
];

/// How many names are tried where there are plans of these names. Two sessions of one prompt meet at every 64th seed.
const TRIES: u32 = 10;

/// The file of a new plan: none that is there.
pub(in crate::cli) fn file(config_dir: &str, seed: u64, prompt: Option<&str>) -> String {
    let named = |n: u32| {
        let slug = slug(seed.rotate_right(6 * n), prompt);
        format!("{config_dir}/plans/{slug}.md")
    };
    let mut all = (0..TRIES).map(named);
    let free = all.find(|path| !Path::new(path).exists());
    free.unwrap_or_else(|| named(0))
}

fn slug(seed: u64, prompt: Option<&str>) -> String {
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

    #[test]
    fn a_name_is_given_once() {
        let folder = tempfile::tempdir().unwrap();
        let config_dir = folder.path().to_str().unwrap();
        std::fs::create_dir(folder.path().join("plans")).unwrap();
        let first = file(config_dir, 1, Some("Plan a greeting"));
        std::fs::write(&first, "1. Greet").unwrap();
        let second = file(config_dir, 1, Some("Plan a greeting"));
        assert_ne!(first, second);
        std::fs::remove_file(&first).unwrap();
        assert_eq!(file(config_dir, 1, Some("Plan a greeting")), first);
    }
}
