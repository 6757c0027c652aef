//! How the server is found.
//!
//! Owns the flags that every command over the API has. Without any: the socket in this user's data folder. Invariant: a
//! token comes from a file or a variable, never from an argument, where every user of the machine could read it.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use countersign_api::client::{self, Client};
use countersign_host::Folders;

use super::Failure;

/// What the server writes down about who asks.
const NAME: &str = "terminal";

/// The address of a server, where no flag names one.
const SERVER: &str = "COUNTERSIGN_SERVER";

/// A token, where no flag names a file with one.
const TOKEN: &str = "COUNTERSIGN_TOKEN";

/// The longest token file that is read.
const LONGEST_TOKEN: usize = 4096;

/// How the server is found, and whom to tell.
#[derive(Debug, clap::Args)]
pub(crate) struct Reach {
    /// The server's address, such as http://127.0.0.1:4779; COUNTERSIGN_SERVER without it, else the daemon of this user
    #[arg(long, value_name = "URL", help_heading = "Server")]
    server: Option<String>,
    /// A file with a token for it; COUNTERSIGN_TOKEN without it
    #[arg(long, value_name = "FILE", help_heading = "Server")]
    token_file: Option<PathBuf>,
    /// Certificates that are trusted beside those of this machine, as PEM
    #[arg(long, value_name = "FILE", help_heading = "Server")]
    ca: Option<PathBuf>,
    /// The data folder of the daemon; that of this user without it
    #[arg(
        long,
        value_name = "DIR",
        help_heading = "Server",
        conflicts_with = "server"
    )]
    data: Option<PathBuf>,
    /// Print what comes as JSON, errors too
    #[arg(long)]
    pub(super) json: bool,
}

impl Reach {
    /// The client of the server that is meant.
    pub(crate) fn client(&self) -> Result<Client, Failure> {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let client = self.find(variable)?;
        Ok(client.named(NAME))
    }

    fn find(&self, variable: impl Fn(&str) -> Option<OsString>) -> Result<Client, Failure> {
        let text = |name: &str| match variable(name).map(OsString::into_string) {
            None => Ok(None),
            Some(Ok(text)) => Ok(Some(text)),
            Some(Err(_)) => Err(Failure::Misused(format!("{name} is no UTF-8"))),
        };
        let named = match &self.server {
            Some(server) => Some(server.clone()),
            None if self.data.is_some() => None,
            None => text(SERVER)?,
        };
        let Some(server) = named else {
            return self.nearby(variable);
        };
        let token = match &self.token_file {
            Some(file) => Some(token(file)?),
            None => text(TOKEN)?.map(|token| token.trim().to_owned()),
        };
        let roots = self.ca.as_deref().map(roots).transpose()?;
        Ok(Client::at(&server, token, roots.unwrap_or_default())?)
    }

    /// The daemon of this user.
    fn nearby(&self, variable: impl Fn(&str) -> Option<OsString>) -> Result<Client, Failure> {
        if self.token_file.is_some() || self.ca.is_some() {
            let why = "the daemon of this user needs no token and no certificate: name a server with --server, or leave them out";
            return Err(Failure::Misused(why.to_owned()));
        }
        let data = match &self.data {
            Some(data) => std::path::absolute(data)?,
            None => Folders::of_user(variable).ok_or_else(|| {
                Failure::Misused(
                    "there is no home folder to look in: name the data folder with --data"
                        .to_owned(),
                )
            })?,
        };
        let socket = socket(&data);
        // Somebody listens, or nobody does: asked here, so that the next step can be told.
        match std::os::unix::net::UnixStream::connect(&socket) {
            Err(error) if is_absence(&error) => Err(Failure::NoDaemon {
                data: data.display().to_string(),
            }),
            // What else is wrong with it, the first request tells.
            _ => Ok(Client::at_socket(socket)),
        }
    }
}

/// Nobody listens there.
fn is_absence(error: &io::Error) -> bool {
    let kind = error.kind();
    matches!(
        kind,
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused
    )
}

/// Where a daemon listens for tools of this machine.
fn socket(data: &Path) -> PathBuf {
    data.join("run").join("serve.sock")
}

fn token(file: &Path) -> Result<String, Failure> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::Misused(format!("no token in {}: {error}", file.display())))?;
    let token = text.trim();
    if token.is_empty() || token.len() > LONGEST_TOKEN || token.contains(char::is_whitespace) {
        let why = format!(
            "{} holds no token: one line with nothing else",
            file.display()
        );
        return Err(Failure::Misused(why));
    }
    Ok(token.to_owned())
}

fn roots(file: &Path) -> Result<Vec<Vec<u8>>, Failure> {
    let bad =
        |why: String| Failure::Misused(format!("no certificate in {}: {why}", file.display()));
    let text = std::fs::read(file).map_err(|error| bad(error.to_string()))?;
    client::certificates(&text).map_err(bad)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reach() -> Reach {
        Reach {
            server: None,
            token_file: None,
            ca: None,
            data: None,
            json: false,
        }
    }

    fn of(pairs: &'static [(&str, &str)]) -> impl Fn(&str) -> Option<OsString> {
        move |name| {
            let found = pairs.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| value.into())
        }
    }

    #[test]
    fn a_flag_goes_before_a_variable() {
        let mut reach = reach();
        let variable = of(&[(SERVER, "http://box:1"), ("HOME", "/nowhere")]);
        assert_eq!(reach.find(&variable).unwrap().place(), "http://box:1");
        reach.server = Some("http://other:2".to_owned());
        assert_eq!(reach.find(&variable).unwrap().place(), "http://other:2");
        (reach.server, reach.data) = (None, Some("/nowhere".into()));
        let failure = reach.find(&variable).unwrap_err();
        assert!(matches!(failure, Failure::NoDaemon { .. }), "{failure}");
    }

    #[test]
    fn with_no_daemon_it_says_how_to_start_one() {
        let failure = reach().find(of(&[("HOME", "/nowhere")])).unwrap_err();
        assert_eq!(failure.code(), 4);
        let text = failure.text();
        assert!(text.contains("countersign serve"), "{text}");
        assert!(text.contains("/nowhere/.local/share/countersign"), "{text}");
    }

    #[test]
    fn a_token_file_holds_a_token_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("token");
        for (text, is_good) in [("abc\n", true), ("", false), ("a b", false)] {
            std::fs::write(&file, text).unwrap();
            assert_eq!(token(&file).is_ok(), is_good, "{text:?}");
        }
    }
}
