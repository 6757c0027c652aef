//! Where the daemon listens.
//!
//! Owns the choice between plain TCP and TLS, the address that people are told, and the socket for tools of this machine.
//! Invariant: beyond loopback nothing is listened on in the clear without an explicit word.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use countersign_host::Folders;
use countersign_server::listen::{self, Identity, ListenError, Listener};

use super::Wanted;

/// How it speaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Transport {
    /// In the clear, on loopback only.
    Plain,
    /// In the clear, anywhere.
    InsecureAnywhere,
    /// TLS with a certificate of our own.
    OwnCertificate,
    /// TLS with these files.
    Files { cert: PathBuf, key: PathBuf },
}

/// The longest path of a socket that every system takes.
const LONGEST: usize = 100;

/// Everything that is listened on.
pub(super) struct Listening {
    pub(super) listeners: Vec<Listener>,
    /// With what addresses begin, for people.
    pub(super) url: String,
    /// What a person should know.
    pub(super) notes: Vec<String>,
}

impl Listening {
    /// Begins to listen. None: another daemon has this folder, and listens.
    ///
    /// # Errors
    /// When the system refuses, or a certificate cannot be used.
    pub(super) async fn begin(
        wanted: &Wanted,
        folders: &Folders,
        socket: &Path,
    ) -> Result<Option<Self>, ListenError> {
        let mut notes = Vec::new();
        let mut listeners = Vec::new();
        match socket.as_os_str().len() > LONGEST {
            true => notes.push("the data folder's path is too long for a socket: tools of this machine need the token".to_owned()),
            false => match listen::unix(socket) {
                Ok(listener) => listeners.push(listener),
                Err(ListenError::Taken { .. }) => return Ok(None),
                Err(error) => return Err(error),
            },
        }
        let listener = match identity(wanted, folders)? {
            Some(identity) => {
                notes.push(format!(
                    "the certificate's SHA-256 is {}",
                    identity.fingerprint()
                ));
                listen::tls(wanted.listen, identity).await?
            }
            None => {
                listen::tcp(
                    wanted.listen,
                    wanted.transport == Transport::InsecureAnywhere,
                )
                .await?
            }
        };
        let address = listener.address().unwrap_or(wanted.listen);
        let url = url(listener.scheme(), address, wanted.allow_hosts.first());
        listeners.push(listener);
        Ok(Some(Self {
            listeners,
            url,
            notes,
        }))
    }
}

fn identity(wanted: &Wanted, folders: &Folders) -> Result<Option<Identity>, ListenError> {
    match &wanted.transport {
        Transport::Plain | Transport::InsecureAnywhere => Ok(None),
        Transport::Files { cert, key } => Identity::read(cert, key).map(Some),
        Transport::OwnCertificate => {
            let mut names = vec![
                "localhost".to_owned(),
                "127.0.0.1".to_owned(),
                "::1".to_owned(),
            ];
            names.push(wanted.listen.ip().to_string());
            let allowed = wanted.allow_hosts.iter().map(|name| bare(name));
            names.extend(allowed.map(|name| name.trim_matches(['[', ']']).to_owned()));
            names.dedup();
            // The folder is this user's alone, as everything in it.
            Identity::own(folders.root(), &names).map(Some)
        }
    }
}

/// A name without its port.
fn bare(name: &str) -> &str {
    match name.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => name,
    }
}

/// The address for people: under a name that was allowed, else as it listens.
fn url(scheme: &str, address: SocketAddr, name: Option<&String>) -> String {
    let port = address.port();
    match (name, address.ip()) {
        (Some(name), ip) if !ip.is_loopback() => format!("{scheme}://{}:{port}", bare(name)),
        (_, IpAddr::V6(ip)) if !ip.is_unspecified() => format!("{scheme}://[{ip}]:{port}"),
        (_, ip) if ip.is_unspecified() => format!("{scheme}://localhost:{port}"),
        (_, ip) => format!("{scheme}://{ip}:{port}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_told_an_address_that_can_be_opened() {
        let name = "box.example:9".to_owned();
        for (address, name, expected) in [
            ("127.0.0.1:4779", None, "http://127.0.0.1:4779"),
            ("127.0.0.1:4779", Some(&name), "http://127.0.0.1:4779"),
            ("0.0.0.0:80", None, "http://localhost:80"),
            ("0.0.0.0:80", Some(&name), "http://box.example:80"),
            ("[::1]:80", None, "http://[::1]:80"),
            ("192.0.2.7:80", None, "http://192.0.2.7:80"),
        ] {
            assert_eq!(url("http", address.parse().unwrap(), name), expected);
        }
    }
}
