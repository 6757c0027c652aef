//! Programs that run what a folder or a file of a project says, and the options that move them to another.
//!
//! Owns a list by program, and the places that the words of a command name by it. Invariant: an option is known alone, with its
//! value behind it or in it, by every beginning and in a group of letters; a word too much that counts as a place does no harm
//! where it leads into the working folder.

use super::reads::cannot_be_option;
use super::wrap::{base, stem};
use super::{Folder, Simple, Word, folder, hide_git};

/// Options whose value is the folder or the file that says what is run. Those of one letter count in every group of letters.
const MOVERS: [(&str, &[&str]); 43] = [
    ("ant", &["-f", "-file", "-buildfile"]),
    ("bun", &["--cwd", "-c", "--config"]),
    ("bundle", &["--gemfile"]),
    ("cabal", &["--project-dir", "--project-file"]),
    ("cargo", &["--manifest-path", "-C", "--path"]),
    (
        "cmake",
        &[
            "-S",
            "-B",
            "-P",
            "-C",
            "--build",
            "--install",
            "--toolchain",
        ],
    ),
    ("composer", &["-d", "--working-dir"]),
    ("ctest", &["--test-dir", "-S"]),
    ("deno", &["-c", "--config", "--import-map"]),
    ("docker", &["-f", "--file", "--project-directory"]),
    ("docker-compose", &["-f", "--file", "--project-directory"]),
    ("dotnet", &["--project"]),
    ("dune", &["--root"]),
    ("eslint", &["-c", "--config", "--rulesdir"]),
    ("git", &["--git-dir"]),
    ("gmake", MAKE),
    ("go", &["-C", "-modfile", "-overlay"]),
    ("gradle", GRADLE),
    ("gradlew", GRADLE),
    ("jest", &["-c", "--config", "--rootDir"]),
    ("just", &["-f", "--justfile", "-d", "--working-directory"]),
    ("make", MAKE),
    ("meson", &["-C"]),
    ("mocha", &["--config", "--file", "-r", "--require"]),
    ("mvn", &["-f", "--file", "-s", "--settings"]),
    ("mvnw", &["-f", "--file", "-s", "--settings"]),
    ("ninja", &["-C", "-f"]),
    ("nox", &["-f", "--noxfile"]),
    ("npm", &["-C", "--prefix", "--dir", "--workspace", "-w"]),
    ("pnpm", &["-C", "--dir", "--prefix"]),
    ("podman", &["-f", "--file"]),
    ("poetry", &["-C", "--directory", "-P", "--project"]),
    (
        "pytest",
        &["-c", "--config-file", "--rootdir", "--confcutdir"],
    ),
    (
        "rake",
        &[
            "-f",
            "--rakefile",
            "-R",
            "--rakelibdir",
            "-C",
            "--directory",
        ],
    ),
    ("swift", &["--package-path", "--chdir"]),
    ("task", &["-d", "--dir", "-t", "--taskfile"]),
    ("terraform", &["-chdir"]),
    ("tox", &["-c", "--conf", "--root"]),
    ("tsc", &["-p", "--project", "-b", "--build"]),
    ("uv", &["--directory", "--project"]),
    ("vitest", &["--root", "-r", "--config", "-c", "--dir"]),
    ("webpack", &["-c", "--config"]),
    ("yarn", &["--cwd"]),
];
const MAKE: &[&str] = &[
    "-C",
    "--directory",
    "-f",
    "--file",
    "--makefile",
    "-I",
    "--include-dir",
    "MAKEFILES",
];
const GRADLE: &[&str] = &[
    "-p",
    "--project-dir",
    "-b",
    "--build-file",
    "-c",
    "--settings-file",
    "-I",
    "--init-script",
    "--include-build",
];

impl Simple {
    /// Whether its program runs what a project says.
    pub(crate) fn runs_project(&self) -> bool {
        options_of(&self.words).is_some()
    }

    /// Whether it runs in the folder that its first words say, so many of them, where the text started.
    pub(crate) fn stands_where_said(&self, words: usize) -> bool {
        let said = &self.words[..words.clamp(1, self.words.len())];
        folder::of(said, &Folder::Start) == self.folder
    }

    /// The places that its program is moved to by options behind its first words, so many of them. `None` is one that is not
    /// known before it runs.
    pub(crate) fn moved_to(&self, words: usize) -> Vec<Option<&str>> {
        let Some(options) = options_of(&self.words) else {
            return Vec::new();
        };
        let is_end = |word: &Word| word.literal() == Some("--");
        let end = match self.words[0].literal().map(base) {
            Some("git") => 1 + hide_git::subcommand(&self.words[1..]),
            // What follows is for the program that is run.
            _ => (self.words.iter().position(is_end)).unwrap_or(self.words.len()),
        };
        let mut places = Vec::new();
        for at in words.max(1)..end {
            let word = &self.words[at];
            if self.is_followed(word.shown()) {
                continue;
            }
            if !cannot_be_option(word) {
                places.push(None);
                continue;
            }
            let values = options
                .iter()
                .filter_map(|option| value(word.shown(), option));
            places.extend(values.map(|value| match value {
                "" => self.words.get(at + 1).map_or(Some("."), Word::literal),
                value => word.literal().map(|_| value),
            }));
        }
        places
    }

    /// Whether the folder of the command ([`folder::of`]) is that of this word already.
    fn is_followed(&self, text: &str) -> bool {
        let name = self.words[0].literal().map(base);
        matches!(name, Some("make" | "gmake" | "ninja"))
            && (text.starts_with("-C") || text.starts_with("--directory"))
    }
}

/// The options of a program that is in the list.
fn options_of(words: &[Word]) -> Option<&'static [&'static str]> {
    let name = base(words.first()?.literal()?);
    let row = |name: &str| MOVERS.iter().find(|(tool, _)| *tool == name);
    let row = row(name).or_else(|| row(stem(name)));
    row.map(|(_, options)| *options)
}

/// The value of an option in a word; empty if it stands in the next one.
fn value<'a>(text: &'a str, option: &str) -> Option<&'a str> {
    let wanted = option.trim_start_matches('-');
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    if wanted == option {
        // `make` sets a variable by `=` and by `:=`.
        let name = name.trim_end_matches([':', '+', '?', '!']);
        return (name == option).then_some(value);
    }
    let dashes = text.len() - text.trim_start_matches('-').len();
    let name = name.trim_start_matches('-');
    if dashes == 0 {
        return None;
    }
    if name == wanted || (name.len() > 1 && wanted.starts_with(name)) {
        return Some(value);
    }
    let is_in_group = wanted.len() == 1 && dashes == 1;
    let group = is_in_group.then(|| text[1..].split_once(wanted)).flatten();
    group.map(|(_, value)| value.strip_prefix('=').unwrap_or(value))
}

#[cfg(test)]
mod tests {
    fn moved(command: &str) -> Vec<Option<String>> {
        let reading = super::super::read(command);
        let [simple] = &reading.commands[..] else {
            panic!("{command}: {reading:?}");
        };
        let places = simple.moved_to(1);
        places
            .into_iter()
            .map(|place| place.map(str::to_owned))
            .collect()
    }

    #[test]
    fn an_option_is_known_in_every_form() {
        for (command, places) in [
            ("pnpm -C x test", &[Some("x")][..]),
            ("pnpm -Cx test", &[Some("x")]),
            ("pnpm -rC x test", &[Some("x")]),
            ("gmake -f x/Makefile", &[Some("x/Makefile")]),
            ("make --makef=x", &[Some("x")]),
            ("make -kC x", &[Some("x")]),
            ("make -j4Cx", &[Some("x")]),
            ("make --dir x", &[Some("x")]),
            ("make -C x", &[]),
            ("make MAKEFILES=x", &[Some("x")]),
            ("make MAKEFILES:=x", &[Some("x")]),
            ("git --git-dir x log", &[Some("x")]),
            ("git log --git-dir x", &[]),
            ("git commit -m \"$X\"", &[]),
            (
                "cargo test --manifest-path x/Cargo.toml",
                &[Some("x/Cargo.toml")],
            ),
            ("npm test --prefix=x", &[Some("x")]),
            ("npm test -pref x", &[Some("x")]),
            ("go -C x test ./...", &[Some("x")]),
            ("terraform -chdir=x plan", &[Some("x")]),
            ("./gradlew -p x test", &[Some("x")]),
            ("go --C x test", &[Some("x")]),
            ("yarn --cwd \"$X\"", &[None, None]),
            ("yarn --cwd \"a$X\"", &[None]),
            ("yarn --cwd", &[Some(".")]),
            ("make -j4 all", &[]),
            ("cargo test --release", &[]),
            ("npm test -- --prefix x $X", &[]),
            ("ls -C /", &[]),
        ] {
            let expected: Vec<_> = places
                .iter()
                .map(|place| place.map(str::to_owned))
                .collect();
            assert_eq!(moved(command), expected, "{command}");
        }
    }
}
