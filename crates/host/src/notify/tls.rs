//! https: the machine's own root certificates, and a connection that has checked the other side.
//!
//! Owns the set-up of rustls. The roots are those of the machine, so that a company's own ones count; they are read once,
//! when they are first needed. Invariant: a certificate that does not hold for the host ends the try.

use std::sync::Arc;

use rustls_native_certs::load_native_certs;
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::job::Outcome;

/// How connections are made secure.
#[derive(Debug)]
pub(super) struct Tls {
    /// Roots that count beside the machine's, as DER.
    more: Vec<Vec<u8>>,
    config: OnceCell<Arc<ClientConfig>>,
}

impl Tls {
    pub(super) fn new(more: Vec<Vec<u8>>) -> Self {
        Self {
            more,
            config: OnceCell::new(),
        }
    }

    /// The same connection, with the other side checked.
    pub(super) async fn connect(
        &self,
        host: &str,
        stream: TcpStream,
    ) -> Result<TlsStream<TcpStream>, Outcome> {
        let name = ServerName::try_from(host.to_owned()).map_err(|_| Outcome::Hopeless {
            why: "no certificate can hold for its host: mend the address".to_owned(),
        })?;
        let config = self.config.get_or_try_init(|| self.set_up()).await?;
        let connector = TlsConnector::from(Arc::clone(config));
        let secured = connector.connect(name, stream).await;
        // A certificate may be renewed by the next try.
        secured.map_err(|error| Outcome::Unreached {
            why: format!("no secure connection: {error}"),
        })
    }

    async fn set_up(&self) -> Result<Arc<ClientConfig>, Outcome> {
        let more = self.more.clone();
        let set_up = tokio::task::spawn_blocking(move || config(more)).await;
        let hopeless = |why| Outcome::Hopeless { why };
        set_up
            .map_err(|error| hopeless(format!("https could not be set up: {error}")))?
            .map_err(hopeless)
    }
}

fn config(more: Vec<Vec<u8>>) -> Result<Arc<ClientConfig>, String> {
    let mut roots = RootCertStore::empty();
    let found = load_native_certs();
    roots.add_parsable_certificates(found.certs);
    roots.add_parsable_certificates(more.into_iter().map(CertificateDer::from));
    if roots.is_empty() {
        return Err(
            "this machine has no root certificates: install `ca-certificates`, or set SSL_CERT_FILE"
                .to_owned(),
        );
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("https could not be set up: {error}"))?;
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
