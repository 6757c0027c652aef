//! https against a server with a certificate of its own: taken when its root counts, refused otherwise.
//!
//! The certificate is written here by hand (DER), so that no key lies in the repository and no crate is needed for it.

use std::sync::Arc;

use ed25519_dalek::{Signer as _, SigningKey};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use countersign_host::notify::Targets;

use crate::server::{self, Received};
use crate::stage::{QUICK, Stage, failed, outside, soon, webhook};

fn tlv(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    match content.len() {
        short @ 0..128 => out.push(short as u8),
        middle @ 128..256 => out.extend([0x81, middle as u8]),
        long => out.extend([0x82, (long >> 8) as u8, long as u8]),
    }
    out.extend(content);
    out
}

fn sequence(parts: &[Vec<u8>]) -> Vec<u8> {
    tlv(0x30, &parts.concat())
}

/// A certificate for `localhost` that signed itself, valid from 2020 to 2049.
fn certificate(key: &SigningKey) -> Vec<u8> {
    let ed25519 = sequence(&[tlv(0x06, &[0x2b, 0x65, 0x70])]);
    let common_name = sequence(&[tlv(0x06, &[0x55, 0x04, 0x03]), tlv(0x0c, b"a test")]);
    let name = sequence(&[tlv(0x31, &common_name)]);
    let validity = sequence(&[tlv(0x17, b"200101000000Z"), tlv(0x17, b"491231235959Z")]);
    let public = [&[0][..], key.verifying_key().as_bytes()].concat();
    let public = sequence(&[ed25519.clone(), tlv(0x03, &public)]);
    let names = sequence(&[tlv(0x82, b"localhost")]);
    let alternative = sequence(&[tlv(0x06, &[0x55, 0x1d, 0x11]), tlv(0x04, &names)]);
    let extensions = tlv(0xa3, &sequence(&[alternative]));
    let version = tlv(0xa0, &tlv(0x02, &[2]));
    let to_sign = sequence(&[
        version,
        tlv(0x02, &[1]),
        ed25519.clone(),
        name.clone(),
        validity,
        name,
        public,
        extensions,
    ]);
    let signature = key.sign(&to_sign).to_bytes();
    let signature = [&[0][..], &signature].concat();
    sequence(&[to_sign, ed25519, tlv(0x03, &signature)])
}

/// The key in the form that servers read (PKCS #8).
fn private(key: &SigningKey) -> Vec<u8> {
    let ed25519 = sequence(&[tlv(0x06, &[0x2b, 0x65, 0x70])]);
    let bytes = tlv(0x04, &tlv(0x04, key.as_bytes()));
    sequence(&[tlv(0x02, &[0]), ed25519, bytes])
}

/// Serves https; each request that came in whole is handed on and answered with 200.
async fn serve(key: &SigningKey, certificate: Vec<u8>) -> (u16, mpsc::Receiver<Received>) {
    let private = PrivateKeyDer::try_from(private(key)).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![CertificateDer::from(certificate)], private)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, receiver) = mpsc::channel(16);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else {
                continue;
            };
            let Some(received) = server::read(&mut stream).await else {
                continue;
            };
            let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
            let _ = stream.write_all(answer).await;
            let _ = stream.shutdown().await;
            if sender.send(received).await.is_err() {
                return;
            }
        }
    });
    (port, receiver)
}

fn stage(url: &str, roots: Vec<Vec<u8>>) -> Stage {
    let mut outside = outside();
    outside.roots = roots;
    let targets = Targets::new(vec![webhook("one", url)], QUICK).unwrap();
    Stage::with(targets, outside)
}

#[tokio::test]
async fn a_certificate_whose_root_counts_is_taken() {
    let key = SigningKey::from_bytes(&[7; 32]);
    let certificate = certificate(&key);
    let (port, mut received) = serve(&key, certificate.clone()).await;
    let stage = stage(&format!("https://localhost:{port}/x"), vec![certificate]);
    stage.notifier.tell(&failed(1, 1));
    let one = soon("the request", received.recv()).await.unwrap();
    assert_eq!(one.first, "POST /x HTTP/1.1");
    assert!(one.header("countersign-signature").is_some());
    stage.quiet().await;
    assert_eq!(stage.said(), []);
}

#[tokio::test]
async fn a_certificate_of_nobody_or_for_another_host_gets_nothing() {
    let key = SigningKey::from_bytes(&[7; 32]);
    let own = certificate(&key);
    let other = certificate(&SigningKey::from_bytes(&[8; 32]));
    for (host, root) in [("localhost", other), ("127.0.0.1", own.clone())] {
        let (port, mut received) = serve(&key, own.clone()).await;
        let stage = stage(&format!("https://{host}:{port}/x"), vec![root]);
        stage.notifier.tell(&failed(1, 1));
        stage.quiet().await;
        let why = stage.given_up().remove(0);
        assert!(why.starts_with("no secure connection: "), "{why}");
        assert!(received.try_recv().is_err());
    }
}
