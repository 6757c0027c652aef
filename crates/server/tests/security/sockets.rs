//! The socket of this machine: its folder, its file, and other users.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::Path;

use countersign_server::listen::{self, ListenError};
use serde_json::json;

use super::server::Server;
use super::speaker;
use super::talk::Request;

const ME: &str = "/api/v1/me";

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().mode() & 0o7777
}

fn open_to(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[tokio::test]
async fn the_same_user_is_let_in_over_the_socket_without_a_token() {
    let server = Server::start().await;
    let answer = server.ask_socket(Request::get(ME)).await;
    assert_eq!(
        answer.json(),
        json!({"name": "owner", "scope": "full", "via": "socket"})
    );
}

#[tokio::test]
async fn a_wrong_token_over_the_socket_is_wrong() {
    let server = Server::start().await;
    assert_eq!(
        server
            .ask_socket(Request::get(ME).bearer("cs_wrong"))
            .await
            .status,
        401
    );
    let foreign = Request::get(ME).header("Origin", "http://evil.example");
    assert_eq!(server.ask_socket(foreign).await.code(), "foreign_origin");
}

#[tokio::test]
async fn the_socket_and_its_folder_are_their_owners_alone() {
    let server = Server::start().await;
    let socket = server.socket();
    assert_eq!(
        (mode(&socket), mode(socket.parent().unwrap())),
        (0o600, 0o700)
    );
}

#[tokio::test]
async fn a_folder_that_was_made_open_is_closed() {
    let place = tempfile::tempdir().unwrap();
    let run = place.path().join("run");
    std::fs::create_dir(&run).unwrap();
    open_to(&run, 0o777);
    let _listener = listen::unix(&run.join("s")).unwrap();
    assert_eq!(mode(&run), 0o700);
}

#[tokio::test]
async fn a_folder_that_is_a_link_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let (real, link) = (place.path().join("real"), place.path().join("link"));
    std::fs::create_dir(&real).unwrap();
    symlink(&real, &link).unwrap();
    let refused = listen::unix(&link.join("s")).unwrap_err();
    assert!(matches!(refused, ListenError::Socket { .. }), "{refused}");
    assert_eq!(std::fs::read_dir(&real).unwrap().count(), 0);
}

#[tokio::test]
async fn a_folder_for_many_or_of_another_user_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let shared = place.path().join("shared");
    std::fs::create_dir(&shared).unwrap();
    open_to(&shared, 0o1777);
    assert!(listen::unix(&shared.join("s")).is_err());
    if rustix::process::getuid().is_root() {
        let theirs = place.path().join("theirs");
        std::fs::create_dir(&theirs).unwrap();
        std::os::unix::fs::chown(&theirs, Some(65_534), None).unwrap();
        assert!(listen::unix(&theirs.join("s")).is_err());
    }
}

#[tokio::test]
async fn a_file_in_the_way_is_not_removed_and_a_live_server_is_not_replaced() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("run").join("s");
    std::fs::create_dir(path.parent().unwrap()).unwrap();
    std::fs::write(&path, "precious").unwrap();
    assert!(listen::unix(&path).is_err());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
    std::fs::remove_file(&path).unwrap();
    symlink("/etc/passwd", &path).unwrap();
    assert!(listen::unix(&path).is_err());
    std::fs::remove_file(&path).unwrap();

    let first = listen::unix(&path).unwrap();
    let second = listen::unix(&path).unwrap_err();
    assert!(matches!(second, ListenError::Taken { .. }), "{second}");
    drop(first);
    // One that was killed leaves its file.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    listen::unix(&path).unwrap();
}

#[tokio::test]
async fn another_user_cannot_reach_the_socket_and_is_refused_where_it_could() {
    if !rustix::process::getuid().is_root() {
        // Only root can become another user.
        return;
    }
    let server = Server::start().await;
    let socket = server.socket();
    // A place from which everybody may start this program.
    let place = tempfile::tempdir().unwrap();
    open_to(place.path(), 0o755);
    let program = place.path().join("program");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    open_to(&program, 0o755);
    let other = || {
        let mut command = speaker::command(&program, socket.to_str().unwrap());
        command.uid(65_534).gid(65_534).current_dir("/");
        command
    };
    let (_, text) = speaker::hear(other(), Request::get(ME)).await;
    assert_eq!(text, "failed: PermissionDenied");
    // Even if somebody opens the way.
    open_to(server.folder.path(), 0o755);
    open_to(socket.parent().unwrap(), 0o755);
    open_to(&socket, 0o666);
    for request in [Request::get(ME), Request::get(ME).bearer(&server.owner())] {
        let (answer, _) = speaker::hear(other(), request).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (403, "not_allowed")
        );
    }
}

#[tokio::test]
async fn what_other_machines_can_reach_is_not_listened_on_unsealed() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0", "[::ffff:0.0.0.0]:0"] {
        let address = address.parse().unwrap();
        let refused = listen::tcp(address, false).await.unwrap_err();
        assert!(matches!(refused, ListenError::Unsealed(_)), "{refused}");
        let said = refused.to_string();
        assert!(
            said.contains("--tls") && said.contains("--insecure-listen"),
            "{said}"
        );
    }
    assert!(
        listen::tcp("0.0.0.0:0".parse().unwrap(), true)
            .await
            .is_ok()
    );
}
