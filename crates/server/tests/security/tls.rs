//! TLS: a certificate of our own, kept, and what changes for a page that comes over it.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;

use countersign_api::Scope;
use countersign_server::listen::{self, Identity, Limits, ListenError};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::server::Server;
use super::talk::{Answer, Request, exchange, talk};

const ME: &str = "/api/v1/me";

async fn sealed(folder: &Path) -> Server {
    let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
    let identity = Identity::own(folder, &names).unwrap();
    let listener = listen::tls(([127, 0, 0, 1], 0).into(), identity).await;
    Server::over(listener.unwrap(), Limits::default(), &[]).await
}

/// Somebody who has said yes to the certificate.
async fn connect(server: &Server, folder: &Path) -> TlsStream<TcpStream> {
    let certificate = CertificateDer::from_pem_file(folder.join("certificate.pem")).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(certificate).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(server.address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(Arc::new(config))
        .connect(name, stream)
        .await
        .unwrap()
}

async fn ask(server: &Server, folder: &Path, request: Request) -> Answer {
    let request = request.host_if_none(&server.name());
    exchange(connect(server, folder).await, &request.bytes()).await
}

#[tokio::test]
async fn over_tls_the_cookie_is_for_tls_alone() {
    let place = tempfile::tempdir().unwrap();
    let server = sealed(place.path()).await;
    let form = format!("code={}", server.code(Scope::Full));
    let answer = ask(&server, place.path(), Request::post("/login").form(&form)).await;
    assert_eq!(answer.status, 303);
    let line = answer.header("set-cookie").unwrap();
    assert!(
        line.starts_with("__Host-countersign-") && line.contains("; Secure"),
        "{line}"
    );
    let cookie = answer.cookie();
    let me = ask(&server, place.path(), Request::get(ME).cookie(&cookie)).await;
    assert_eq!(me.json()["via"], "cookie");
    // A name without the promise is not looked at.
    let bare = cookie.replace("__Host-", "");
    let me = ask(&server, place.path(), Request::get(ME).cookie(&bare)).await;
    assert_eq!(me.status, 401);
}

#[tokio::test]
async fn over_tls_a_page_that_was_not_sealed_is_another_site() {
    let place = tempfile::tempdir().unwrap();
    let server = sealed(place.path()).await;
    let owner = server.owner();
    for (scheme, status) in [("http", 403), ("https", 200)] {
        let origin = format!("{scheme}://{}", server.name());
        let request = Request::get(ME).bearer(&owner).header("Origin", &origin);
        assert_eq!(
            ask(&server, place.path(), request).await.status,
            status,
            "{scheme}"
        );
    }
}

#[tokio::test]
async fn what_is_not_sealed_gets_nothing_where_tls_is_spoken() {
    let place = tempfile::tempdir().unwrap();
    let server = sealed(place.path()).await;
    let request = Request::get(ME)
        .bearer(&server.owner())
        .host_if_none(&server.name());
    let answer = talk(server.address, &request.bytes()).await;
    assert!(
        !answer.body.contains("owner") && answer.headers.is_empty(),
        "{answer:?}"
    );
}

#[tokio::test]
async fn the_certificate_is_made_once_and_its_key_is_its_owners_alone() {
    let place = tempfile::tempdir().unwrap();
    let names = ["localhost".to_owned()];
    let first = Identity::own(place.path(), &names).unwrap().fingerprint();
    assert_eq!(
        Identity::own(place.path(), &names).unwrap().fingerprint(),
        first
    );
    let key = place.path().join("key.pem");
    assert_eq!(key.metadata().unwrap().mode() & 0o777, 0o600);
    // A key of another certificate, and one that is none.
    let other = tempfile::tempdir().unwrap();
    Identity::own(other.path(), &names).unwrap();
    std::fs::copy(other.path().join("key.pem"), &key).unwrap();
    let refused = Identity::own(place.path(), &names).unwrap_err();
    assert!(
        matches!(refused, ListenError::Certificate { .. }),
        "{refused}"
    );
    std::fs::write(&key, "no key").unwrap();
    assert!(Identity::own(place.path(), &names).is_err());
}
