//! What is printed once it runs.
//!
//! Owns the words for people and the object for programs. Pure. Invariant: the link is printed on stdout and nowhere else.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use super::agents::Agents;

/// What is to be told.
#[derive(Debug)]
pub(crate) struct Greeting<'a> {
    pub(crate) url: &'a str,
    pub(crate) link: &'a str,
    pub(crate) data: &'a Path,
    pub(crate) socket: Option<&'a Path>,
    pub(crate) agents: &'a Agents,
    /// Agents of an earlier run that were taken up again.
    pub(crate) taken_up: u64,
    /// What a person should know beside it.
    pub(crate) notes: &'a [String],
    /// The link as a picture of letters.
    pub(crate) qr: Option<String>,
}

impl Greeting<'_> {
    /// For a person.
    pub(crate) fn text(&self) -> String {
        let mut out = format!("Countersign listens on {}\n\n", self.url);
        let _ = writeln!(
            out,
            "  Sign in with this link. It works once, within ten minutes:\n\n    {}\n",
            self.link
        );
        if let Some(qr) = &self.qr {
            let _ = writeln!(out, "{qr}\n");
        }
        let _ = writeln!(out, "  Agents  {}", self.agents.said());
        let _ = writeln!(out, "  Data    {}", self.data.display());
        if self.taken_up > 0 {
            let _ = writeln!(
                out,
                "  Before  {} from an earlier run, taken up again",
                agents(self.taken_up)
            );
        }
        for note in self.notes {
            let _ = writeln!(out, "  Note    {note}");
        }
        out.push_str("  Stop    Ctrl-C. Agents go on under their keepers, and the next start takes them up again\n");
        out
    }

    /// For a program: one line.
    pub(crate) fn json(&self) -> Value {
        json!({
            "url": self.url,
            "link": self.link,
            "data": self.data,
            "socket": self.socket,
            "pid": std::process::id(),
            "agents": {
                "kind": if self.agents.rehearsal.is_some() { "rehearsal" } else { "claude" },
                "command": self.agents.command,
                "version": self.agents.version,
                "folder": self.agents.rehearsal.as_ref().map(|it| &it.folder),
            },
            "taken_up": self.taken_up,
            "notes": self.notes,
        })
    }
}

/// `1 agent`, `2 agents`.
pub(crate) fn agents(count: u64) -> String {
    match count {
        1 => "1 agent".to_owned(),
        count => format!("{count} agents"),
    }
}

/// The link as a picture of letters, dark on light whatever the terminal.
pub(crate) fn qr(link: &str) -> Option<String> {
    let code = qrcode::QrCode::new(link.as_bytes()).ok()?;
    let picture = code.render::<qrcode::render::unicode::Dense1x2>();
    Some({ picture }.quiet_zone(true).build())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_link_stands_alone_on_its_line() {
        let agents = Agents {
            command: vec!["/bin/claude".to_owned()],
            env: Vec::new(),
            version: Some("2.1.325".to_owned()),
            rehearsal: None,
        };
        let greeting = Greeting {
            url: "http://127.0.0.1:4779",
            link: "http://127.0.0.1:4779/login?code=x",
            data: Path::new("/x"),
            socket: None,
            agents: &agents,
            taken_up: 1,
            notes: &[],
            qr: None,
        };
        let text = greeting.text();
        assert!(
            text.lines().any(|line| line.trim() == greeting.link),
            "{text}"
        );
        assert!(
            text.contains("claude 2.1.325 (/bin/claude)") && text.contains("1 agent from"),
            "{text}"
        );
        assert_eq!(greeting.json()["agents"]["kind"], "claude");
    }

    #[test]
    fn a_link_becomes_a_picture() {
        let picture = qr("http://127.0.0.1:4779/login?code=abc").unwrap();
        assert!(picture.lines().count() > 10, "{picture}");
    }
}
