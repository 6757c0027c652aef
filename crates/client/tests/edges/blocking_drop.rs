//! A blocking session ends its agent when it is dropped, whoever still holds a handle of the async kind.

use std::sync::mpsc;
use std::time::Duration;

use countersign_client::{Claude, Peer};

use crate::pair::{Far, greeting};
use crate::stage::Stage;

fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().unwrap()
}

#[test]
fn a_blocking_session_is_dropped_though_an_async_handle_of_it_is_held() {
    let (done, is_done) = mpsc::channel();
    std::thread::spawn(move || {
        let (peer, stream) = Peer::pair();
        let cli = std::thread::spawn(move || {
            runtime().block_on(async {
                let mut far = Far::new(stream);
                far.accept(greeting("2.1.325")).await;
                far.end().await
            })
        });
        let session =
            countersign_client::blocking::Session::connect_over(Claude::new(), peer).unwrap();
        let held = session.handle.handle().clone();
        drop(session);
        assert!(held.is_closed());
        drop(held);
        assert_eq!(cli.join().unwrap(), None);
        done.send(()).unwrap();
    });
    is_done
        .recv_timeout(Duration::from_secs(20))
        .expect("the drop returns");
}

#[test]
fn dropping_a_blocking_session_ends_its_process_though_an_async_handle_of_it_is_held() {
    let (done, is_done) = mpsc::channel();
    std::thread::spawn(move || {
        let stage = Stage::new("turn always\n  say \"x\"\n");
        let session = countersign_client::blocking::Session::connect(stage.claude()).unwrap();
        session.send("x").unwrap();
        let held = session.handle.handle().clone();
        drop(session);
        stage.assert_nothing_runs();
        drop(held);
        done.send(()).unwrap();
    });
    is_done
        .recv_timeout(Duration::from_secs(30))
        .expect("the drop returns");
}
