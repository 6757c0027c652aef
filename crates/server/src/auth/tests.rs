//! Tests of the book with its file: what holds after a restart.

use super::*;

const NOW: u64 = 1_700_000_000 * crate::clock::SECOND;

fn open(folder: &Path) -> Auth {
    Auth::open(folder, NOW).unwrap()
}

fn owner(auth: &Auth) -> String {
    let token = std::fs::read_to_string(auth.token_file()).unwrap();
    token.trim().to_owned()
}

#[test]
fn the_first_start_makes_a_token_and_the_next_ones_keep_it() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("auth");
    let first = owner(&open(&folder));
    let auth = open(&folder);
    assert_eq!(owner(&auth), first);
    let found = auth.bearer(&first, NOW).unwrap();
    assert_eq!((found.name.as_str(), found.scope), (OWNER, Scope::Full));
    assert_eq!(auth.list(NOW).len(), 1);
}

#[test]
fn a_token_file_that_was_removed_ends_the_old_token() {
    let place = tempfile::tempdir().unwrap();
    let auth = open(place.path());
    let (first, file) = (owner(&auth), auth.token_file());
    let cookie = auth.use_token(&first, NOW).unwrap().unwrap().cookie;
    std::fs::remove_file(file).unwrap();
    let auth = open(place.path());
    assert_ne!(owner(&auth), first);
    assert!(auth.bearer(&first, NOW).is_none());
    assert!(auth.visitor(cookie.reveal(), NOW).is_none());
}

#[test]
fn nothing_on_the_disk_but_the_owners_file_lets_anybody_in() {
    let place = tempfile::tempdir().unwrap();
    let auth = open(place.path());
    let made = auth.create("phone", Scope::Read, None, NOW).unwrap();
    let code = auth.link(Scope::Full, NOW).unwrap();
    let signed = auth.use_token(made.secret.reveal(), NOW).unwrap().unwrap();
    let stored = std::fs::read_to_string(place.path().join("tokens.json")).unwrap();
    for secret in [&made.secret, &code, &signed.cookie] {
        assert!(!stored.contains(secret.reveal()));
    }
    assert!(!stored.contains(&owner(&auth)));
}

#[test]
fn tokens_logins_and_links_survive_a_restart() {
    let place = tempfile::tempdir().unwrap();
    let auth = open(place.path());
    let made = auth.create("phone", Scope::Answer, None, NOW).unwrap();
    let code = auth.link(Scope::Read, NOW).unwrap();
    let signed = auth.use_token(made.secret.reveal(), NOW).unwrap().unwrap();
    let auth = open(place.path());
    assert_eq!(
        auth.bearer(made.secret.reveal(), NOW).unwrap().name,
        "phone"
    );
    assert_eq!(
        auth.visitor(signed.cookie.reveal(), NOW).unwrap().scope,
        Scope::Answer
    );
    assert!(auth.use_code(code.reveal(), NOW).unwrap().is_some());
    let auth = open(place.path());
    assert!(auth.use_code(code.reveal(), NOW).unwrap().is_none());
}

#[test]
fn a_code_that_cannot_be_spent_on_the_disk_signs_nobody_in() {
    let place = tempfile::tempdir().unwrap();
    let auth = open(place.path());
    let code = auth.link(Scope::Full, NOW).unwrap();
    // A folder where the new file would be: it can be neither removed as a file nor written.
    let blocked = place.path().join("tokens.json.new");
    std::fs::create_dir(&blocked).unwrap();
    assert!(auth.use_code(code.reveal(), NOW).is_err());
    assert!(auth.create("phone", Scope::Read, None, NOW).is_err());
    assert_eq!(auth.list(NOW).len(), 1);
    std::fs::remove_dir(&blocked).unwrap();
    assert!(auth.use_code(code.reveal(), NOW).unwrap().is_some());
}

#[test]
fn a_token_that_cannot_be_revoked_on_the_disk_is_shut_out_all_the_same() {
    let place = tempfile::tempdir().unwrap();
    let auth = open(place.path());
    let made = auth.create("phone", Scope::Read, None, NOW).unwrap();
    std::fs::create_dir(place.path().join("tokens.json.new")).unwrap();
    assert!(auth.revoke(&made.token.id).is_err());
    assert!(auth.bearer(made.secret.reveal(), NOW).is_none());
}

#[test]
fn a_revoked_owner_leaves_no_token_behind() {
    let place = tempfile::tempdir().unwrap();
    let auth = open(place.path());
    let id = auth.owner().unwrap();
    auth.revoke(&id).unwrap().unwrap();
    assert!(!auth.token_file().exists());
    assert!(auth.link(Scope::Full, NOW).is_err());
    assert!(auth.revoke(&id).unwrap().is_none());
}
