//! https: a connection that has checked the other side.
//!
//! Owns the set-up of rustls for the client. Roots are those of the machine and the ones that are named, so that a server
//! with a certificate of its own can be trusted by its file. Invariant: nothing is accepted unchecked.

use std::sync::Arc;

use rustls_native_certs::load_native_certs;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// Which certificates count.
#[derive(Debug, Clone)]
pub(super) struct Tls {
    /// Roots that count beside the machine's, as DER.
    more: Arc<Vec<Vec<u8>>>,
}

impl Tls {
    pub(super) fn new(more: Vec<Vec<u8>>) -> Self {
        Self {
            more: Arc::new(more),
        }
    }

    /// The same connection, with the other side checked.
    pub(super) async fn secure(
        &self,
        host: &str,
        stream: TcpStream,
    ) -> Result<TlsStream<TcpStream>, String> {
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| "no certificate can hold for this host".to_owned())?;
        let more = Arc::clone(&self.more);
        // The machine's certificates are files.
        let config = tokio::task::spawn_blocking(move || config(&more))
            .await
            .map_err(|error| error.to_string())??;
        let connector = TlsConnector::from(config);
        let secured = connector.connect(name, stream).await;
        secured.map_err(|error| format!("no secure connection: {error}"))
    }
}

/// The certificates in a PEM file, as DER.
///
/// # Errors
/// When there is none, or one cannot be read.
pub fn certificates(pem: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let found = found.map_err(|error| format!("it cannot be read ({error})"))?;
    match found.is_empty() {
        true => Err("there is no `BEGIN CERTIFICATE` in it".to_owned()),
        false => Ok(found.into_iter().map(|one| one.to_vec()).collect()),
    }
}

fn config(more: &[Vec<u8>]) -> Result<Arc<ClientConfig>, String> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(load_native_certs().certs);
    let more = more.iter().map(|der| CertificateDer::from(der.clone()));
    roots.add_parsable_certificates(more);
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("https could not be set up: {error}"))?;
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
