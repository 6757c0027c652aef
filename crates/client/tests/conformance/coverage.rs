//! Looks at the cases themselves: each feature is shown once, and no public request of the host is left out.
//!
//! Reads the sources, since every file registers its own cases. Starts no CLI.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Requests that are shown under another name.
const ELSEWHERE: &[(&str, &str)] = &[
    ("initialize", "handshake/initialize reply"),
    ("set_permission_mode", "modes/plan"),
];

/// The features of all files, each with the files that register it.
fn features() -> BTreeMap<String, Vec<PathBuf>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance");
    let mut features: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        for line in text.lines() {
            let id = line
                .trim()
                .strip_prefix('"')
                .and_then(|rest| rest.split_once("\" => \""));
            if let Some((id, _)) = id.filter(|(id, _)| id.contains('/')) {
                features
                    .entry(id.to_owned())
                    .or_default()
                    .push(path.clone());
            }
        }
    }
    features
}

#[test]
fn every_feature_is_shown_in_one_place() {
    let features = features();
    assert!(features.len() > 200, "{}", features.len());
    let twice: Vec<_> = features
        .iter()
        .filter(|(_, files)| files.len() > 1)
        .collect();
    assert!(twice.is_empty(), "{twice:?}");
}

#[test]
fn every_public_request_of_the_host_is_shown() {
    let inventory: Value =
        serde_json::from_str(include_str!("../../../wire/inventory.json")).unwrap();
    let requests = inventory["control_requests"]["host_to_cli"]
        .as_array()
        .unwrap();
    let public = requests
        .iter()
        .filter(|request| request["tier"] == "public");
    let public: Vec<&str> = public
        .map(|request| request["subtype"].as_str().unwrap())
        .collect();
    assert_eq!(public.len(), 37);
    let features = features();
    for subtype in public {
        let elsewhere = ELSEWHERE.iter().find(|(request, _)| *request == subtype);
        let feature =
            elsewhere.map_or_else(|| format!("control/{subtype}"), |(_, id)| (*id).to_owned());
        assert!(features.contains_key(&feature), "nothing shows {feature}");
    }
}
