//! Programs of this machine that open what an agent works on: an editor and a terminal.
//!
//! Owns which programs these are and how they are started. Invariants: a program is started from a list of words, never through
//! a shell; it gets one path that was resolved before, or a folder to begin in; without a screen nothing is guessed, only what a
//! person has set is started; so many run at once and no more.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Maximum number of opened programs that run at the same time.
const MOST: usize = 64;

/// Editors that need a terminal, which a daemon does not have.
const IN_A_TERMINAL: [&str; 12] = [
    "vi", "vim", "nvim", "nano", "pico", "ed", "ex", "micro", "helix", "hx", "joe", "kak",
];

/// Editors that are looked for, best known first.
const EDITORS: [&str; 6] = ["code", "codium", "cursor", "zed", "subl", "gedit"];

/// Terminals that are looked for. Each begins in the folder it is started in.
const TERMINALS: [&str; 9] = [
    "x-terminal-emulator",
    "gnome-terminal",
    "konsole",
    "kitty",
    "alacritty",
    "wezterm",
    "foot",
    "xfce4-terminal",
    "xterm",
];

/// What a program is handed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// The path.
    Path,
    /// The folder, or that of a file. Programs that choose by a file's kind could run it.
    Folder,
    /// Nothing: it begins in the folder.
    Nothing,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Opener {
    words: Vec<OsString>,
    takes: Takes,
}

/// The editor and the terminal of the person at this machine.
#[derive(Debug, Clone, Default)]
pub struct Openers {
    editor: Option<Opener>,
    terminal: Option<Opener>,
    running: Arc<AtomicUsize>,
}

/// Commands that a person has set, as words.
#[derive(Debug, Clone, Default)]
pub struct OpenerSettings {
    /// The editor, which gets a path as its last word.
    pub editor: Option<Vec<OsString>>,
    /// The terminal, which begins in a folder.
    pub terminal: Option<Vec<OsString>>,
}

impl Openers {
    /// Finds them: what is set, else `$VISUAL`, `$EDITOR` and well-known programs on `PATH`, as far as there is a screen.
    pub fn find(settings: OpenerSettings, var: impl Fn(&str) -> Option<OsString>) -> Self {
        let set = |words: Vec<OsString>, takes| Opener { words, takes };
        let has = |name: &str| var(name).is_some_and(|value| !value.is_empty());
        let is_mac = cfg!(target_os = "macos");
        let has_screen = is_mac || has("DISPLAY") || has("WAYLAND_DISPLAY");
        let path = var("PATH").unwrap_or_default();
        let on_path = |name: &str| {
            let dirs = std::env::split_paths(&path).filter(|dir| dir.is_absolute());
            dirs.map(|dir| dir.join(name)).find(|file| is_program(file))
        };
        let named = |name: &str, takes| {
            let program = on_path(name)?.into_os_string();
            Some(set(vec![program], takes))
        };
        let editor = || {
            let wanted = ["VISUAL", "EDITOR"].into_iter().filter_map(&var);
            let of_person = wanted.filter_map(|line| graphical(&line, on_path)).next();
            of_person
                .map(|words| set(words, Takes::Path))
                .or_else(|| EDITORS.iter().find_map(|name| named(name, Takes::Path)))
                .or_else(|| named(if is_mac { "open" } else { "xdg-open" }, Takes::Folder))
        };
        let terminal = || {
            let of_person = var("TERMINAL").and_then(|name| named(name.to_str()?, Takes::Nothing));
            let mac = || {
                let mut opener = named("open", Takes::Folder).filter(|_| is_mac)?;
                opener.words.extend(["-a".into(), "Terminal".into()]);
                Some(opener)
            };
            of_person.or_else(mac).or_else(|| {
                TERMINALS
                    .iter()
                    .find_map(|name| named(name, Takes::Nothing))
            })
        };
        Self {
            editor: match settings.editor {
                Some(words) => Some(set(words, Takes::Path)),
                None => has_screen.then(editor).flatten(),
            },
            terminal: match settings.terminal {
                Some(words) => Some(set(words, Takes::Nothing)),
                None => has_screen.then(terminal).flatten(),
            },
            running: Arc::default(),
        }
    }

    /// Whether there is an editor.
    pub fn has_editor(&self) -> bool {
        self.editor.is_some()
    }

    /// Whether there is a terminal.
    pub fn has_terminal(&self) -> bool {
        self.terminal.is_some()
    }

    /// Opens a path, which was resolved, in the editor.
    ///
    /// # Errors
    /// When there is none, too many run, or it cannot be started.
    pub(crate) fn edit(&self, path: &Path) -> io::Result<()> {
        self.start(self.editor.as_ref(), path)
    }

    /// Opens a terminal in a folder, or in that of a file.
    ///
    /// # Errors
    /// As above.
    pub(crate) fn terminal(&self, path: &Path) -> io::Result<()> {
        self.start(self.terminal.as_ref(), path)
    }

    fn start(&self, opener: Option<&Opener>, path: &Path) -> io::Result<()> {
        let opener = opener.ok_or(io::ErrorKind::Unsupported)?;
        let (program, args) = opener
            .words
            .split_first()
            .ok_or(io::ErrorKind::Unsupported)?;
        let folder = match path.is_dir() {
            true => path,
            false => path.parent().unwrap_or(path),
        };
        if self.running.fetch_add(1, Ordering::SeqCst) >= MOST {
            self.running.fetch_sub(1, Ordering::SeqCst);
            return Err(io::ErrorKind::QuotaExceeded.into());
        }
        let mut command = Command::new(program);
        command.args(args).current_dir(folder);
        match opener.takes {
            Takes::Path => command.arg(path),
            Takes::Folder => command.arg(folder),
            Takes::Nothing => &mut command,
        };
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        // A signal to the daemon's terminal is not meant for it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let running = Arc::clone(&self.running);
        match command.spawn() {
            Ok(mut child) => {
                // Nobody else is its parent.
                std::thread::spawn(move || {
                    let _ = child.wait();
                    running.fetch_sub(1, Ordering::SeqCst);
                });
                Ok(())
            }
            Err(error) => {
                running.fetch_sub(1, Ordering::SeqCst);
                Err(error)
            }
        }
    }
}

/// The words of `$VISUAL` or `$EDITOR`, where that editor has a window of its own and is there.
fn graphical(line: &OsStr, on_path: impl Fn(&str) -> Option<PathBuf>) -> Option<Vec<OsString>> {
    let mut words = line.to_str()?.split_whitespace();
    let first = words.next()?;
    let name = Path::new(first).file_name()?.to_str()?;
    let rest: Vec<OsString> = words.map(OsString::from).collect();
    let is_emacs = name.starts_with("emacs");
    let in_terminal = rest
        .iter()
        .any(|word| word == "-nw" || word == "-t" || word == "--tty");
    if IN_A_TERMINAL.contains(&name) || (is_emacs && in_terminal) {
        return None;
    }
    let program = match Path::new(first).is_absolute() {
        true => Some(PathBuf::from(first)).filter(|file| is_program(file)),
        false => on_path(first),
    };
    Some(
        std::iter::once(program?.into_os_string())
            .chain(rest)
            .collect(),
    )
}

fn is_program(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::metadata(path)
            .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    }
    #[cfg(not(unix))]
    path.is_file()
}

/// A path below a folder, links followed. None where it is not there or leads out of the folder.
pub(crate) fn inside(folder: &Path, path: &Path) -> Option<PathBuf> {
    let folder = folder.canonicalize().ok()?;
    let found = folder.join(path).canonicalize().ok()?;
    found.starts_with(&folder).then_some(found)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn programs(names: &[&str]) -> tempfile::TempDir {
        let place = tempfile::tempdir().unwrap();
        for name in names {
            let file = place.path().join(name);
            std::fs::write(&file, "#!/bin/sh\n").unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        place
    }

    fn found(names: &[&str], vars: &[(&str, &str)]) -> (Option<String>, Option<String>) {
        let place = programs(names);
        let openers = Openers::find(OpenerSettings::default(), |name| match name {
            "PATH" => Some(place.path().into()),
            _ => vars
                .iter()
                .find(|(one, _)| *one == name)
                .map(|(_, value)| value.into()),
        });
        let said = |opener: Option<Opener>| {
            let words = opener?.words;
            let name = Path::new(&words[0]).file_name()?.to_str()?.to_owned();
            let rest = words[1..].iter().filter_map(|word| word.to_str());
            Some(
                std::iter::once(name.as_str())
                    .chain(rest)
                    .collect::<Vec<_>>()
                    .join(" "),
            )
        };
        (said(openers.editor), said(openers.terminal))
    }

    #[test]
    fn nothing_is_guessed_without_a_screen() {
        assert_eq!(
            found(&["code", "xterm", "xdg-open"], &[("EDITOR", "code")]),
            (None, None)
        );
    }

    #[test]
    #[cfg(not(target_os = "macos"))]
    fn an_editor_with_a_window_is_chosen_and_one_that_needs_a_terminal_is_not() {
        let screen = ("DISPLAY", ":0");
        let all = ["code", "kate", "vim", "xdg-open", "xterm"];
        let editor = |vars: &[(&str, &str)]| found(&all, vars).0;
        assert_eq!(
            editor(&[screen, ("VISUAL", "kate --new")]).as_deref(),
            Some("kate --new")
        );
        assert_eq!(
            editor(&[screen, ("EDITOR", "vim")]).as_deref(),
            Some("code")
        );
        assert_eq!(
            editor(&[screen, ("EDITOR", "not-there")]).as_deref(),
            Some("code")
        );
        assert_eq!(
            found(&["xdg-open"], &[screen]).0.as_deref(),
            Some("xdg-open")
        );
        assert_eq!(found(&all, &[screen]).1.as_deref(), Some("xterm"));
    }

    #[test]
    fn nothing_outside_of_the_folder_is_opened_whatever_links_say() {
        let (place, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = place.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("src")).unwrap();
        std::fs::write(root.join("src/a.ts"), "").unwrap();
        std::fs::write(outside.path().join("secret"), "").unwrap();
        symlink(outside.path(), root.join("out")).unwrap();
        symlink("src/a.ts", root.join("in")).unwrap();
        let opened = |path: &str| inside(&root, Path::new(path));
        assert_eq!(opened("src/a.ts"), Some(root.join("src/a.ts")));
        assert_eq!(opened("in"), Some(root.join("src/a.ts")));
        assert_eq!(opened(""), Some(root.clone()));
        let absolute = root.join("src");
        assert_eq!(inside(&root, &absolute), Some(absolute.clone()));
        let secret = outside.path().join("secret");
        for path in [
            "out/secret",
            "out",
            "../",
            "src/../../x",
            "/etc",
            "gone",
            secret.to_str().unwrap(),
        ] {
            assert_eq!(opened(path), None, "{path}");
        }
    }
}
