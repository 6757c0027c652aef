//! TLS: a certificate of the person's, or one of our own.
//!
//! Owns how it is read, and made at the first use. One of our own is signed by nobody, so a browser asks once; its
//! fingerprint is shown where the server is started. Invariants: the key is for its owner alone; a certificate that is there
//! is kept, since people have said yes to it.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::ListenError;

/// Who the server is.
#[derive(Clone)]
pub struct Identity {
    config: Arc<ServerConfig>,
    first: Vec<u8>,
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let print = self.fingerprint();
        f.debug_struct("Identity")
            .field("fingerprint", &print)
            .finish_non_exhaustive()
    }
}

impl Identity {
    /// From two files of PEM.
    ///
    /// # Errors
    /// When they cannot be read, or do not belong together.
    pub fn read(certificate: &Path, key: &Path) -> Result<Self, ListenError> {
        let bad = |path: &Path, why: String| ListenError::Certificate {
            path: path.to_owned(),
            why,
        };
        let chain = CertificateDer::pem_file_iter(certificate)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| bad(certificate, error.to_string()))?;
        let first = chain.first().map(|one| one.to_vec());
        let first = first.ok_or_else(|| bad(certificate, "it holds none".to_owned()))?;
        let secret =
            PrivateKeyDer::from_pem_file(key).map_err(|error| bad(key, error.to_string()))?;
        let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| {
                builder
                    .with_no_client_auth()
                    .with_single_cert(chain, secret)
            })
            .map_err(|error| bad(certificate, error.to_string()))?;
        Ok(Self {
            config: Arc::new(config),
            first,
        })
    }

    /// One of our own in this folder, made for these names if there is none.
    ///
    /// # Errors
    /// When it cannot be made or stored.
    pub fn own(folder: &Path, names: &[String]) -> Result<Self, ListenError> {
        let (certificate, key) = (folder.join("certificate.pem"), folder.join("key.pem"));
        if !certificate.exists() || !key.exists() {
            let made = make(names, &certificate, &key);
            made.map_err(|why| ListenError::Certificate {
                path: certificate.clone(),
                why,
            })?;
        }
        Self::read(&certificate, &key)
    }

    /// The SHA-256 of the certificate, as browsers show it.
    pub fn fingerprint(&self) -> String {
        use sha2::Digest as _;
        let hash = sha2::Sha256::digest(&self.first);
        let pairs: Vec<String> = hash.iter().map(|byte| format!("{byte:02X}")).collect();
        pairs.join(":")
    }

    pub(super) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.config))
    }
}

fn make(names: &[String], certificate: &Path, key: &Path) -> Result<(), String> {
    let made = rcgen::generate_simple_self_signed(names).map_err(|error| error.to_string())?;
    write(key, &made.signing_key.serialize_pem())?;
    write(certificate, &made.cert.pem())
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let new = path.with_extension("new");
    let write = || {
        let _ = fs::remove_file(&new);
        let mut file = File::options()
            .create_new(true)
            .write(true)
            .mode(0o600)
            .open(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, path)
    };
    write().map_err(|error| error.to_string())
}
