//! Where a server is, and a connection to it.
//!
//! Owns [`Place`]: a socket of this machine, or an address. Invariants: a token never crosses a network in the clear
//! unless the address names this machine or the person said so by writing `http://`; a certificate that does not hold for
//! the name ends the try.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use hyper::Uri;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::error::ClientError;
use super::tls::Tls;

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(10);

/// A way in.
pub(super) trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

/// Where a server is.
#[derive(Debug, Clone)]
pub(super) enum Place {
    /// At a socket of this machine.
    Socket(PathBuf),
    /// At an address.
    Net {
        host: String,
        port: u16,
        tls: Option<Tls>,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket(path) => write!(f, "{}", path.display()),
            Self::Net { tls, .. } => {
                let scheme = if tls.is_some() { "https" } else { "http" };
                write!(f, "{scheme}://{}", self.authority())
            }
        }
    }
}

impl Place {
    /// Reads an address: `http://127.0.0.1:4779`, `https://box.example`.
    pub(super) fn parse(address: &str, roots: Vec<Vec<u8>>) -> Result<Self, ClientError> {
        let bad = |why: &str| ClientError::Address {
            address: address.to_owned(),
            why: why.to_owned(),
        };
        let uri: Uri = address
            .parse()
            .map_err(|_| bad("write it like http://127.0.0.1:4779"))?;
        let tls = match uri.scheme_str() {
            Some("http") => None,
            Some("https") => Some(Tls::new(roots)),
            _ => return Err(bad("it must begin with http:// or https://")),
        };
        if uri.path() != "/" || uri.query().is_some() {
            return Err(bad("leave out everything behind the host and the port"));
        }
        let authority = uri.authority().ok_or_else(|| bad("it names no host"))?;
        if authority.as_str().contains('@') {
            return Err(bad(
                "a token goes into a file or a variable, never into an address",
            ));
        }
        let usual = if tls.is_some() { 443 } else { 80 };
        Ok(Self::Net {
            host: authority.host().to_owned(),
            port: authority.port_u16().unwrap_or(usual),
            tls,
        })
    }

    /// What goes into the `Host` header.
    pub(super) fn authority(&self) -> String {
        match self {
            Self::Socket(_) => "localhost".to_owned(),
            Self::Net { host, port, tls } => match (port, tls.is_some()) {
                (80, false) | (443, true) => host.clone(),
                _ => format!("{host}:{port}"),
            },
        }
    }

    /// A fresh connection.
    pub(super) async fn connect(&self) -> Result<Box<dyn Wire>, ClientError> {
        let not_there = |why: String| ClientError::NotThere {
            place: self.to_string(),
            why,
        };
        match timeout(CONNECT, self.reach()).await {
            Ok(Ok(wire)) => Ok(wire),
            Ok(Err(why)) => Err(not_there(why)),
            Err(_) => Err(not_there(format!(
                "no connection within {} s",
                CONNECT.as_secs()
            ))),
        }
    }

    async fn reach(&self) -> Result<Box<dyn Wire>, String> {
        match self {
            #[cfg(unix)]
            Self::Socket(path) => match tokio::net::UnixStream::connect(path).await {
                Ok(stream) => Ok(Box::new(stream)),
                Err(error) => Err(error.to_string()),
            },
            #[cfg(not(unix))]
            Self::Socket(_) => Err("this system has no such sockets".to_owned()),
            Self::Net { host, port, tls } => {
                // An address of version 6 stands in brackets in a URL and nowhere else.
                let name = host.trim_start_matches('[').trim_end_matches(']');
                let stream = TcpStream::connect((name, *port))
                    .await
                    .map_err(|error| error.to_string())?;
                // One small request, one answer: nothing to wait for.
                let _ = stream.set_nodelay(true);
                match tls {
                    None => Ok(Box::new(stream)),
                    Some(tls) => Ok(Box::new(tls.secure(name, stream).await?)),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(address: &str) -> Result<(String, String), String> {
        let place = Place::parse(address, Vec::new()).map_err(|error| error.to_string())?;
        Ok((place.to_string(), place.authority()))
    }

    #[test]
    fn an_address_is_a_scheme_a_host_and_a_port() {
        let both = |shown: &str, host: &str| Ok((shown.to_owned(), host.to_owned()));
        assert_eq!(
            shown("http://127.0.0.1:4779"),
            both("http://127.0.0.1:4779", "127.0.0.1:4779")
        );
        assert_eq!(
            shown("http://[::1]:4779/"),
            both("http://[::1]:4779", "[::1]:4779")
        );
        assert_eq!(
            shown("https://box.example"),
            both("https://box.example", "box.example")
        );
    }

    #[test]
    fn what_is_no_address_says_why() {
        for (address, word) in [
            ("127.0.0.1:4779", "http"),
            ("ftp://box", "http"),
            ("http://box/login?code=x", "leave out"),
            ("http://name:word@box", "token"),
            ("", "http"),
        ] {
            let error = shown(address).unwrap_err();
            assert!(error.contains(word), "{address}: {error}");
        }
    }
}
