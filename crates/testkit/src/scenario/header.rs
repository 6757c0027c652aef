//! The head of a scenario file: how the CLI is started and what it finds. Knows nothing of the wire.

use super::lex::{Cursor, Wrong};
use super::{Numbered, ScenarioError, statements};

/// How the CLI is started and what it finds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Header {
    /// First version it is for; every version without one.
    pub from: Option<String>,
    /// Flags beside the ones every run has.
    pub flags: Vec<String>,
    /// Environment variables beside the ones every run has.
    pub env: Vec<(String, String)>,
    /// Files in the project folder.
    pub files: Vec<(String, String)>,
    /// Whether the project folder is a git repository.
    pub git: bool,
    /// Names of MCP servers that the host serves in its own process.
    pub mcp: Vec<String>,
}

pub(super) fn parse(lines: &[Numbered<'_>]) -> Result<Header, ScenarioError> {
    let mut header = Header::default();
    for (number, text) in statements(lines) {
        entry(&mut header, &text)
            .map_err(|wrong| ScenarioError::at(number, wrong.column, wrong.what))?;
    }
    Ok(header)
}

fn entry(header: &mut Header, text: &str) -> Result<(), Wrong> {
    let mut line = Cursor::new(text);
    let start = line.clone();
    match line.word("a header entry")? {
        "from" => {
            let version = line.word("a version")?;
            if crate::fetch::numbers(version).is_none() {
                return Err(start.wrong(format!("{version:?} is no version")));
            }
            header.from = Some(version.to_owned());
        }
        "flags" => header.flags.extend(line.words()?),
        "env" => {
            let (key, value) = assignment(&mut line)?;
            header.env.push((key, value));
        }
        "file" => {
            let path = line.word("a path in the project")?.to_owned();
            if path.starts_with('/') || path.split('/').any(|part| part == "..") {
                return Err(
                    start.wrong("a file stands inside the project: no / at the start, no ..")
                );
            }
            header.files.push((path, line.text("the file's content")?));
        }
        "git" => header.git = true,
        "mcp" => header.mcp.push(line.word("a server name")?.to_owned()),
        other => {
            let what = format!("expected from, flags, env, file, git or mcp, not {other:?}");
            return Err(start.wrong(what));
        }
    }
    line.end()
}

fn assignment(line: &mut Cursor<'_>) -> Result<(String, String), Wrong> {
    let word = line.word("NAME=value")?;
    match word.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(line.wrong("expected NAME=value")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_entry_lands_where_it_belongs() {
        let header = parse(&[
            (1, "# about"),
            (1, "from 2.1.62"),
            (2, "flags --a \"b c\""),
            (3, "env X=1=2"),
            (4, "file src/a.txt \"one\\ntwo\""),
            (5, "git"),
            (6, "mcp calc"),
            (7, "flags --d"),
        ]);
        let expected = Header {
            from: Some("2.1.62".into()),
            flags: vec!["--a".into(), "b c".into(), "--d".into()],
            env: vec![("X".into(), "1=2".into())],
            files: vec![("src/a.txt".into(), "one\ntwo".into())],
            git: true,
            mcp: vec!["calc".into()],
        };
        assert_eq!(header.unwrap(), expected);
    }

    #[test]
    fn a_file_outside_of_the_project_is_refused() {
        assert!(parse(&[(1, "file ../x \"\"")]).is_err());
        assert!(parse(&[(1, "file /etc/x \"\"")]).is_err());
    }

    #[test]
    fn an_unknown_entry_names_the_known_ones() {
        let error = parse(&[(9, "flag -x")]).unwrap_err();
        assert_eq!(error.line, 9);
        assert!(error.what.contains("flags"), "{error}");
    }
}
