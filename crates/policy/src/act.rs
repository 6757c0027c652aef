//! What a call would do, act by act.
//!
//! Owns the taking apart: a shell text becomes its commands, its redirections and the paths its words name; a file tool
//! becomes the file. Rules are held against acts, never against texts. Invariant: what cannot be read is said in
//! `unclear`, and such a call is not allowed.

use crate::call::Call;
use crate::guess::Given;
pub use crate::naming::{Named, NamedWhat};
use crate::naming::{folder_of, held, named, named_in, redirected_to};
use crate::path::{Target, Touch};
use crate::place::Place;
use crate::rule::todays_name;
use crate::shell::{self, Redirect, Simple, Word};

/// What a call would do.
#[derive(Debug, Clone, Default)]
pub struct Acts {
    /// One after the other.
    pub list: Vec<Act>,
    /// Why some of it cannot be read.
    pub unclear: Vec<String>,
}

/// One thing that a call would do.
#[derive(Debug, Clone)]
pub enum Act {
    /// Runs a simple command.
    Run(Simple),
    /// Reads or writes a file: a file tool, or a redirection.
    File {
        /// What is done to it.
        touch: Touch,
        /// Which.
        target: Target,
    },
    /// Searches a folder.
    Search {
        /// Which.
        folder: Target,
        /// Whether contents of files are shown, not names only.
        shows_contents: bool,
    },
    /// A command names what may be a path. That opens nothing; a rule may forbid it.
    Name(Named),
    /// Fetches from a host; `None` where the address cannot be read.
    Fetch {
        /// The host, in small letters.
        host: Option<String>,
    },
    /// Uses the tool, which is all that can be said.
    Use,
}

impl Act {
    /// The act in a few words, as the person knows it: the command, the file.
    pub fn shown(&self, tool: &str) -> String {
        match self {
            Act::Run(simple) => simple.text.clone(),
            Act::File { target, .. } => target.shown.clone(),
            Act::Search { folder, .. } => folder.shown.clone(),
            Act::Name(named) => named.word.clone(),
            Act::Fetch { host } => host.clone().unwrap_or_else(|| tool.to_owned()),
            Act::Use => tool.to_owned(),
        }
    }

    /// Whether an allow is needed for it. Names only forbid.
    pub fn needs_allow(&self) -> bool {
        !matches!(self, Act::Name(_))
    }
}

/// Takes a call apart.
pub fn acts(call: &Call, place: &Place<'_>) -> Acts {
    let file = |touch, field: &str| one_file(call, place, touch, field);
    match todays_name(&call.tool) {
        "Bash" | "Monitor" => match call.text("command") {
            Some(command) => shell_acts(command, place),
            None => unreadable("the call has no command"),
        },
        "Read" => file(Touch::Read, "file_path"),
        "NotebookRead" => file(Touch::Read, "notebook_path"),
        "Write" | "Edit" | "MultiEdit" => file(Touch::Write, "file_path"),
        "NotebookEdit" => file(Touch::Write, "notebook_path"),
        "LS" => search(call, place, false),
        "Glob" => search(call, place, false),
        "Grep" => {
            let mode = call.text("output_mode").unwrap_or("files_with_matches");
            search(call, place, mode == "content")
        }
        "WebFetch" => Acts::only(Act::Fetch {
            host: call.text("url").and_then(host_of),
        }),
        "PowerShell" => unreadable("it is for a shell that is not read here"),
        tool => match call.input.is_object() {
            true => {
                let mut acts = Acts::only(Act::Use);
                match named_in(&call.input, tool, place) {
                    Some(names) => acts.list.extend(names),
                    None => acts
                        .unclear
                        .push("its input holds more than is looked through".to_owned()),
                }
                acts
            }
            false => unreadable("the input of the call cannot be read"),
        },
    }
}

impl Acts {
    fn only(act: Act) -> Self {
        Self {
            list: vec![act],
            unclear: Vec::new(),
        }
    }
}

fn unreadable(why: &str) -> Acts {
    Acts {
        list: Vec::new(),
        unclear: vec![why.to_owned()],
    }
}

fn one_file(call: &Call, place: &Place<'_>, touch: Touch, field: &str) -> Acts {
    match call.text(field) {
        Some(path) if !path.is_empty() => Acts::only(Act::File {
            touch,
            target: Target::of(path, place.cwd, place),
        }),
        _ => unreadable("the call names no file"),
    }
}

/// A search in a folder: that of `path`, and for a pattern that leads elsewhere by itself that one, too.
fn search(call: &Call, place: &Place<'_>, shows_contents: bool) -> Acts {
    let is_text = |field: &str| {
        call.input
            .get(field)
            .is_none_or(|value| value.is_string() || value.is_null())
    };
    if !call.input.is_object() || !is_text("path") || !is_text("pattern") {
        return unreadable("the input of the search cannot be read");
    }
    let given = call
        .text("path")
        .filter(|path| !path.is_empty())
        .unwrap_or(".");
    let folder = Target::of(given, place.cwd, place);
    let mut acts = Vec::new();
    if call.tool == "Glob"
        && let Some(start) = call.text("pattern").and_then(leading_folder)
    {
        let folder = Target::of(&start, &folder.lexical, place);
        acts.push(Act::Search {
            folder,
            shows_contents,
        });
    }
    acts.push(Act::Search {
        folder,
        shows_contents,
    });
    Acts {
        list: acts,
        unclear: Vec::new(),
    }
}

/// The folder that a pattern leads to by itself: `/etc/*` and `../x/*` look elsewhere.
fn leading_folder(pattern: &str) -> Option<String> {
    if !pattern.starts_with(['/', '~']) && !pattern.contains("..") {
        return None;
    }
    let plain: Vec<&str> = pattern
        .split('/')
        .take_while(|part| !part.contains(['*', '?', '[', '{']))
        .collect();
    Some(match plain.as_slice() {
        [] | [""] => "/".to_owned(),
        parts => parts.join("/"),
    })
}

fn shell_acts(command: &str, place: &Place<'_>) -> Acts {
    let reading = shell::read(command);
    let mut acts = Acts {
        list: Vec::new(),
        unclear: reading.unclear,
    };
    let given = Given::by(&reading.values);
    for simple in reading.commands {
        let names = named(&simple, &given, place);
        acts.list.push(Act::Run(simple));
        acts.list.extend(names);
    }
    for redirect in &reading.redirects {
        let touch = match redirect.writes {
            true => Touch::Write,
            false => Touch::Read,
        };
        match redirected(redirect, touch, place) {
            Ok(act) => acts.list.push(act),
            Err(why) => {
                acts.unclear.push(why);
                let names = redirected_to(redirect, touch, &given, place);
                acts.list.extend(names);
            }
        }
    }
    acts.list.extend(held(&given, place));
    if given.is_used_up() {
        let why = "it names more than is looked at, in folders that are not known";
        acts.unclear.push(why.to_owned());
    }
    if acts.list.is_empty() && acts.unclear.is_empty() {
        acts.unclear.push("there is no command in it".to_owned());
    }
    acts
}

fn redirected(redirect: &Redirect, touch: Touch, place: &Place<'_>) -> Result<Act, String> {
    let unclear = || {
        format!(
            "where `{}` leads is not known before it runs",
            redirect.text
        )
    };
    let Word::Literal(path) = &redirect.target else {
        return Err(unclear());
    };
    let folder = match folder_of(&redirect.folder, place) {
        Some(folder) => folder,
        None if path.starts_with(['/', '~']) => place.cwd.to_path_buf(),
        None => return Err(unclear()),
    };
    Ok(Act::File {
        touch,
        target: Target::of(path, &folder, place),
    })
}

/// The host of an address, in small letters, without user and port. `None` for whatever two readers might read as two
/// different hosts.
fn host_of(url: &str) -> Option<String> {
    let rest = url
        .strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"))?;
    let authority = rest.split(['/', '?', '#']).next()?;
    if authority.contains(|c: char| {
        c.is_whitespace() || c.is_control() || matches!(c, '\\' | '@' | '%') || !c.is_ascii()
    }) {
        return None;
    }
    let host = match authority.strip_prefix('[') {
        Some(v6) => v6.split_once(']')?.0,
        None => authority.split(':').next()?,
    };
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    (!host.is_empty()).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_read_or_it_is_none() {
        for (url, host) in [
            ("https://docs.example/a?b#c", Some("docs.example")),
            ("http://Docs.Example:8080", Some("docs.example")),
            ("https://docs.example./x", Some("docs.example")),
            ("https://[::1]:80/", Some("::1")),
            ("https://good.example@evil.example/", None),
            ("https://good.example\\@evil.example/", None),
            ("https://good.example%2eevil.example/", None),
            ("https://gооd.example/", None),
            ("ftp://docs.example/", None),
            ("docs.example", None),
            ("https:///x", None),
        ] {
            assert_eq!(host_of(url).as_deref(), host, "{url}");
        }
    }

    #[test]
    fn more_names_than_are_looked_at_are_unclear() {
        let place = Place {
            cwd: std::path::Path::new("/"),
            add_dirs: &[],
            home: None,
            own: &[],
            disk: &crate::RealDisk,
        };
        for (names, is_clear) in [(100, true), (5000, false)] {
            let names: Vec<String> = (0..names).map(|name| format!("f{name}")).collect();
            let acts = shell_acts(&format!("cd a; cat {}", names.join(" ")), &place);
            assert_eq!(acts.unclear.is_empty(), is_clear, "{:?}", acts.unclear);
        }
    }

    #[test]
    fn a_pattern_that_leads_elsewhere_is_followed() {
        assert_eq!(leading_folder("src/**/*.rs"), None);
        assert_eq!(leading_folder("/etc/*.conf").as_deref(), Some("/etc"));
        assert_eq!(leading_folder("/*").as_deref(), Some("/"));
        assert_eq!(leading_folder("../x/*.rs").as_deref(), Some("../x"));
        assert_eq!(leading_folder("~/.ssh/*").as_deref(), Some("~/.ssh"));
    }
}
