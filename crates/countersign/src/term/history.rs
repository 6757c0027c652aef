//! What was asked before, for the prompt line.
//!
//! Owns the file: one JSON string a line, the newest last, so that a text of several lines is one entry. Only its owner
//! can read it. Each entry is added in one write, so that two runs do not mix theirs; a file that grew too long is cut
//! when it is read. A line that cannot be read is passed over.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

/// So many entries are kept.
pub(crate) const MOST_ENTRIES: usize = 1000;

/// A text longer than this is not kept: it was pasted, and would fill the file.
const LONGEST_ENTRY: usize = 64 * 1024;

/// No more than this is read of a file.
const MOST_BYTES: u64 = 16 << 20;

/// The entries, and where they are kept.
#[derive(Debug, Default)]
pub(crate) struct History {
    entries: Vec<String>,
    path: Option<PathBuf>,
}

impl History {
    /// Reads a file, if there is a place for one. A file that cannot be read or written costs the history, not the run.
    pub(crate) fn load(path: Option<PathBuf>) -> Self {
        let read = path.as_deref().map(read_end).unwrap_or_default();
        let (entries, is_too_long) = entries(&read);
        let mut history = Self { entries, path };
        if is_too_long {
            history.keep(rewrite);
        }
        history
    }

    /// What was asked, the newest last.
    pub(crate) fn entries(&self) -> &[String] {
        &self.entries
    }

    /// Adds a text, unless it is empty or the same as the last.
    pub(crate) fn add(&mut self, text: &str) {
        if add(&mut self.entries, text) {
            self.keep(|path, _| append_line(path, text));
        }
    }

    /// Writes to the file, as long as there is one that takes it.
    fn keep(&mut self, write: impl FnOnce(&Path, &[String]) -> io::Result<()>) {
        if let Some(path) = &self.path
            && let Err(error) = write(path, &self.entries)
        {
            tracing::debug!(path = %path.display(), %error, "what was asked is not kept");
            self.path = None;
        }
    }
}

/// Adds to a list as the history does. `false` where it is not worth keeping.
pub(crate) fn add(entries: &mut Vec<String>, text: &str) -> bool {
    let is_new = entries.last().is_none_or(|last| last != text);
    if text.trim().is_empty() || text.len() > LONGEST_ENTRY || !is_new {
        return false;
    }
    entries.push(text.to_owned());
    let surplus = entries.len().saturating_sub(MOST_ENTRIES);
    entries.drain(..surplus);
    true
}

/// The entries of a file, and whether it holds more than it should.
fn entries(text: &str) -> (Vec<String>, bool) {
    let mut entries = Vec::new();
    let mut count = 0;
    for line in text.lines() {
        count += 1;
        if let Ok(entry) = serde_json::from_str::<String>(line) {
            add(&mut entries, &entry);
        }
    }
    (entries, count > MOST_ENTRIES)
}

fn line_of(text: &str) -> String {
    let mut line = serde_json::Value::from(text).to_string();
    line.push('\n');
    line
}

/// The end of a file; nothing where it is not there yet.
fn read_end(path: &Path) -> String {
    let read = || {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(MOST_BYTES)))?;
        let mut bytes = Vec::new();
        file.take(MOST_BYTES).read_to_end(&mut bytes)?;
        io::Result::Ok(bytes)
    };
    String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
}

fn append_line(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(line_of(text).as_bytes())
}

fn rewrite(path: &Path, entries: &[String]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    // A file of this kind is readable by its owner alone.
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    let text: String = entries.iter().map(|entry| line_of(entry)).collect();
    file.write_all(text.as_bytes())?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deeper/history");
        let mut history = History::load(Some(path.clone()));
        for text in [
            "one",
            "two\nlines \"quoted\" \\ 你",
            "two\nlines \"quoted\" \\ 你",
            "  ",
            "three",
        ] {
            history.add(text);
        }
        let again = History::load(Some(path.clone()));
        assert_eq!(
            again.entries(),
            ["one", "two\nlines \"quoted\" \\ 你", "three"]
        );
        assert_eq!(again.entries(), history.entries());
    }

    #[cfg(unix)]
    #[test]
    fn only_its_owner_can_read_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history");
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        History::load(Some(path.clone())).add("x");
        assert_eq!(mode(), 0o600);
        let many: String = (0..MOST_ENTRIES + 5)
            .map(|number| line_of(&number.to_string()))
            .collect();
        fs::write(&path, many).unwrap();
        let history = History::load(Some(path.clone()));
        assert_eq!(mode(), 0o600);
        assert_eq!(history.entries().len(), MOST_ENTRIES);
        assert_eq!(history.entries().last().map(String::as_str), Some("1004"));
        assert_eq!(
            fs::read_to_string(&path).unwrap().lines().count(),
            MOST_ENTRIES
        );
    }

    #[test]
    fn two_runs_add_to_one_file_and_a_broken_line_harms_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history");
        let (mut one, mut other) = (
            History::load(Some(path.clone())),
            History::load(Some(path.clone())),
        );
        one.add("a");
        other.add("b");
        append_line(&path, "").unwrap();
        OpenOptions::new()
            .append(true)
            .open(&path)
            .unwrap()
            .write_all(b"{broken\n\xff\n")
            .unwrap();
        one.add("c");
        assert_eq!(History::load(Some(path.clone())).entries(), ["a", "b", "c"]);
    }

    #[test]
    fn a_place_that_takes_no_file_costs_only_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut history = History::load(Some(folder.path().to_owned()));
        history.add("kept for now");
        assert_eq!(history.entries(), ["kept for now"]);
    }

    #[test]
    fn a_text_that_is_far_too_long_is_not_kept() {
        let mut history = History::default();
        history.add(&"x".repeat(LONGEST_ENTRY + 1));
        assert!(history.entries().is_empty());
    }
}
