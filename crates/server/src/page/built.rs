//! The page that was built from `ui/`, where it was.
//!
//! Owns where its files come from and how browsers may keep them. In an optimised build they are part of the program; other
//! builds read `ui/dist`, and every build reads the folder that `COUNTERSIGN_UI` names, so that a change is seen at once.
//! Scripts and styles have a packed copy beside them, for whoever takes it. Invariants: no path leads out of the folder; what has
//! a hash in its name is kept by browsers for good, all else is asked for again each time.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use crate::stream::takes_gzip;

/// A folder to serve instead of what the program carries.
const NAMED: &str = "COUNTERSIGN_UI";

/// How the name of a packed copy goes on.
const PACKED: &str = ".gz";

/// Whether there is one.
pub(super) fn is_there() -> bool {
    read("index.html").is_some()
}

/// Why there is none, in a few words.
pub(super) fn why_not() -> Option<&'static str> {
    match folder() {
        Some(_) => Some("the folder of the page has no index.html"),
        None => countersign_page::why_not(),
    }
}

/// The file of this path, for `/assets/app-1a2b3c4d.js` as it was built.
pub(super) fn file(path: &str, asked: &HeaderMap) -> Option<Response> {
    served(path, takes_gzip(asked), read)
}

fn served(
    path: &str,
    takes_gzip: bool,
    read: impl Fn(&str) -> Option<Cow<'static, [u8]>>,
) -> Option<Response> {
    let packed = read(&format!("{path}{PACKED}"));
    let has_packed = packed.is_some();
    let packed = packed.filter(|_| takes_gzip);
    let is_packed = packed.is_some();
    let mut response = match packed.or_else(|| read(path))? {
        Cow::Borrowed(bytes) => (StatusCode::OK, bytes).into_response(),
        Cow::Owned(bytes) => (StatusCode::OK, bytes).into_response(),
    };
    let headers = response.headers_mut();
    if has_packed {
        headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    }
    if is_packed {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind(path)));
    let keep = match is_hashed(path) {
        true => "public, max-age=31536000, immutable",
        false => "no-cache",
    };
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(keep));
    Some(response)
}

fn read(path: &str) -> Option<Cow<'static, [u8]>> {
    match folder() {
        Some(folder) => read_below(folder, path).map(Cow::Owned),
        None => countersign_page::file(path).map(Cow::Borrowed),
    }
}

/// The folder that is served, where it is not the program itself.
fn folder() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = FOLDER.get_or_init(|| {
        let named = std::env::var_os(NAMED).filter(|name| !name.is_empty());
        let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../ui/dist");
        let beside = cfg!(debug_assertions).then(|| PathBuf::from(beside));
        named.map(PathBuf::from).or(beside)
    });
    found.as_deref()
}

fn read_below(folder: &Path, path: &str) -> Option<Vec<u8>> {
    let is_plain =
        |part: &str| !matches!(part, "" | "." | "..") && !part.contains(['\\', '\0', ':']);
    if !path.split('/').all(is_plain) {
        return None;
    }
    let folder = std::fs::canonicalize(folder).ok()?;
    let file = std::fs::canonicalize(folder.join(path)).ok()?;
    // A link in the folder leads nowhere else.
    let is_within = file.starts_with(&folder);
    is_within.then(|| std::fs::read(file).ok()).flatten()
}

/// `name-HASH.ext`, as the bundler writes them below `assets/`.
fn is_hashed(path: &str) -> bool {
    let Some(name) = path.strip_prefix("assets/") else {
        return false;
    };
    let stem = name.split('.').next().unwrap_or_default();
    let hash = stem.rsplit('-').next().unwrap_or_default();
    stem.contains('-')
        && hash.len() >= 8
        && hash
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn kind(path: &str) -> &'static str {
    let ending = path.rsplit('.').next().unwrap_or_default();
    match ending {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "txt" => "text/plain; charset=utf-8",
        "wasm" => "application/wasm",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use axum::body::HttpBody as _;

    use super::*;

    #[test]
    fn only_names_with_a_hash_are_kept_for_good() {
        assert!(is_hashed("assets/app-1a2B3c4d.js") && is_hashed("assets/a-b-12345678.css"));
        for name in [
            "index.html",
            "assets/app.js",
            "app-1a2b3c4d.js",
            "assets/app-x.js",
        ] {
            assert!(!is_hashed(name), "{name}");
        }
    }

    #[test]
    fn who_takes_a_packed_copy_gets_it_and_caches_are_told_that_there_are_two() {
        let read = |path: &str| match path {
            "assets/a-12345678.js" => Some(Cow::Borrowed(&b"plain"[..])),
            "assets/a-12345678.js.gz" => Some(Cow::Borrowed(&b"packed"[..])),
            "icon.png" => Some(Cow::Borrowed(&b"icon"[..])),
            _ => None,
        };
        let said = |path: &str, takes_gzip: bool| {
            let response = served(path, takes_gzip, read).unwrap();
            let header = |name| {
                let value = response.headers().get(name);
                value.map_or("", |value| value.to_str().unwrap()).to_owned()
            };
            let length = response.body().size_hint().exact();
            let names = [header::CONTENT_TYPE, header::CONTENT_ENCODING, header::VARY];
            (names.map(header), length)
        };
        let script = "text/javascript; charset=utf-8";
        let script = |coding: &str| [script, coding, "accept-encoding"].map(str::to_owned);
        assert_eq!(
            said("assets/a-12345678.js", true),
            (script("gzip"), Some(6))
        );
        assert_eq!(said("assets/a-12345678.js", false), (script(""), Some(5)));
        let icon = ["image/png", "", ""].map(str::to_owned);
        assert_eq!(said("icon.png", true), (icon, Some(4)));
        assert!(served("nothing.js", true, read).is_none());
    }

    #[test]
    fn a_file_of_the_folder_is_read_and_no_path_leads_out_of_it() {
        let place = tempfile::tempdir().unwrap();
        let dist = place.path().join("dist");
        std::fs::create_dir_all(dist.join("assets")).unwrap();
        std::fs::write(dist.join("assets/a.js"), "1").unwrap();
        std::fs::write(place.path().join("secret"), "2").unwrap();
        assert_eq!(read_below(&dist, "assets/a.js"), Some(b"1".to_vec()));
        for path in [
            "../secret",
            "..",
            "/etc/passwd",
            "assets/../../secret",
            "",
            "a//b",
            "a\0b",
            "assets",
        ] {
            assert!(read_below(&dist, path).is_none(), "{path}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(place.path().join("secret"), dist.join("link")).unwrap();
            assert!(read_below(&dist, "link").is_none(), "a link leads out");
        }
    }
}
