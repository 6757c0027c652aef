//! A text in the person's own editor.
//!
//! Owns which editor that is, the file it gets and what comes back. The caller has given the terminal away before. The
//! file lies in a folder of its own that nobody else can enter, and is gone afterwards with all the editor left there.

use std::fs::{self, OpenOptions};
use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use thiserror::Error;

/// A text of this size is the largest that is taken back.
const MOST_BYTES: u64 = 16 << 20;

/// Why no text came back.
#[derive(Debug, Error)]
pub(crate) enum EditError {
    /// There is no place for the file, or it is gone.
    #[error("the file for the editor: {0}")]
    File(#[from] io::Error),
    /// It could not be started.
    #[error(
        "`{editor}` could not be started ({source}); set VISUAL or EDITOR to an editor that is there"
    )]
    Start { editor: String, source: io::Error },
    /// It ended with an error, so its text is not to be trusted.
    #[error("`{editor}` ended with {status}; nothing was changed")]
    Failed { editor: String, status: ExitStatus },
    /// The shell found no such command.
    #[error("there is no `{0}`; set VISUAL or EDITOR to an editor that is there")]
    Missing(String),
    /// It came back too large or as something that is no text.
    #[error("what the editor wrote is no text of at most 16 MiB; nothing was changed")]
    NoText,
}

/// The command line of the person's editor.
pub(crate) fn editor_command(env: impl Fn(&str) -> Option<String>) -> String {
    let named = ["VISUAL", "EDITOR"]
        .into_iter()
        .filter_map(&env)
        .find(|command| !command.trim().is_empty());
    named.unwrap_or_else(|| {
        let path = env("PATH").unwrap_or_default();
        let is_there =
            |name: &str| std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
        let found = ["vi", "nano"].into_iter().find(|name| is_there(name));
        found.unwrap_or("vi").to_owned()
    })
}

/// Opens the text in the editor. `None` where it came back as it was. `suffix` tells the editor what it is (`.md`).
pub(crate) fn edit_text(
    text: &str,
    suffix: &str,
    editor: &str,
) -> Result<Option<String>, EditError> {
    let folder = tempfile::Builder::new().prefix("countersign-").tempdir()?;
    let path = folder.path().join(format!("text{suffix}"));
    write_private(&path, text)?;
    let status = run(editor, &path).map_err(|source| EditError::Start {
        editor: editor.to_owned(),
        source,
    })?;
    if status.code() == Some(127) {
        return Err(EditError::Missing(editor.to_owned()));
    }
    if !status.success() {
        return Err(EditError::Failed {
            editor: editor.to_owned(),
            status,
        });
    }
    if fs::metadata(&path)?.len() > MOST_BYTES {
        return Err(EditError::NoText);
    }
    let mut edited = String::from_utf8(fs::read(&path)?).map_err(|_| EditError::NoText)?;
    // Editors end the last line, whether it was ended before or not.
    if edited.ends_with('\n') && !text.ends_with('\n') {
        edited.pop();
    }
    Ok(Some(edited).filter(|edited| edited != text))
}

fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    io::Write::write_all(&mut options.open(path)?, text.as_bytes())
}

/// The shell reads the command line, as it does for whoever else starts an editor: arguments, quotes, `~`.
fn run(editor: &str, path: &Path) -> io::Result<ExitStatus> {
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(format!("{editor} \"$@\""))
        .arg(editor)
        .arg(path);
    if !io::stdin().is_terminal()
        && let Ok(terminal) = OpenOptions::new().read(true).write(true).open("/dev/tty")
    {
        command.stdin(Stdio::from(terminal));
    }
    command.status()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn env(pairs: &[(&str, &str)]) -> impl Fn(&str) -> Option<String> {
        let pairs: Vec<(String, String)> = pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        move |name| {
            pairs
                .iter()
                .find(|pair| pair.0 == name)
                .map(|pair| pair.1.clone())
        }
    }

    #[test]
    fn visual_goes_before_editor_and_an_empty_one_counts_for_nothing() {
        assert_eq!(
            editor_command(env(&[("VISUAL", "code --wait"), ("EDITOR", "ed")])),
            "code --wait"
        );
        assert_eq!(
            editor_command(env(&[("VISUAL", " "), ("EDITOR", "ed")])),
            "ed"
        );
        assert_eq!(editor_command(env(&[])), "vi");
    }

    #[test]
    fn without_either_the_one_that_is_there_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("nano"), "").unwrap();
        assert_eq!(
            editor_command(env(&[("PATH", folder.path().to_str().unwrap())])),
            "nano"
        );
    }

    #[test]
    fn what_the_editor_wrote_comes_back() {
        let edited = edit_text("one two", ".md", "sed -i -e 's/two/2 \"q\"/'").unwrap();
        assert_eq!(edited.as_deref(), Some("one 2 \"q\""));
    }

    #[test]
    fn a_text_that_was_left_alone_is_none() {
        assert_eq!(edit_text("same", ".txt", "true").unwrap(), None);
        // It only ended the last line.
        assert_eq!(
            edit_text("same", ".txt", "sh -c 'echo same > \"$0\"'").unwrap(),
            None
        );
        assert_eq!(
            edit_text("same\n", ".txt", "sh -c 'printf same > \"$0\"'")
                .unwrap()
                .as_deref(),
            Some("same")
        );
    }

    #[test]
    fn an_editor_that_fails_or_is_missing_changes_nothing_and_says_why() {
        let failed = edit_text("x", "", "sh -c 'echo y > \"$0\"; exit 3'").unwrap_err();
        assert!(failed.to_string().contains("exit status: 3"), "{failed}");
        let missing = edit_text("x", "", "no-such-editor-here --flag 2>/dev/null").unwrap_err();
        assert!(matches!(missing, EditError::Missing(_)), "{missing}");
        let binary = edit_text("x", "", "sh -c 'printf \"\\377\" > \"$0\"'").unwrap_err();
        assert!(matches!(binary, EditError::NoText), "{binary}");
        let gone = edit_text("x", "", "rm").unwrap_err();
        assert!(matches!(gone, EditError::File(_)), "{gone}");
    }

    #[test]
    fn the_file_is_private_has_its_suffix_and_goes_away() {
        let folder = tempfile::tempdir().unwrap();
        let (copy, name) = (folder.path().join("copy"), folder.path().join("name"));
        let editor = format!(
            "sh -c 'cp -p \"$0\" {}; echo \"$0\" > {}'",
            copy.display(),
            name.display()
        );
        edit_text("x", ".json", &editor).unwrap();
        assert_eq!(
            fs::metadata(copy).unwrap().permissions().mode() & 0o777,
            0o600
        );
        let path = fs::read_to_string(name).unwrap();
        let path = path.trim();
        assert!(path.ends_with(".json"));
        assert!(!Path::new(path).exists());
    }
}
