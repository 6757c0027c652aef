//! A runtime that ends under a session, and who keeps an agent alive.

use std::future::IntoFuture;
use std::pin::pin;

use countersign_client::{Claude, Error, Event, Events, Session};
use futures_util::future::poll_immediate;
use serde_json::json;
use tokio::runtime::{Builder, Runtime};

use crate::pair::{self, Far, soon};
use crate::stage::{Stage, within};

fn runtimes() -> [Runtime; 2] {
    let several = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build();
    let single = Builder::new_current_thread().enable_all().build();
    [several.unwrap(), single.unwrap()]
}

/// A session that the given runtime owns.
fn owned_by(runtime: &Runtime) -> (Session, Far) {
    runtime.block_on(pair::session(Claude::new()))
}

/// Ends a runtime from elsewhere, as it may not be dropped inside of another.
fn end(runtime: Runtime) {
    std::thread::spawn(move || drop(runtime)).join().unwrap();
}

fn elsewhere() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// The end, as the listeners hear of it.
async fn hears_the_end(events: &mut Events) {
    while !matches!(soon(events.next()).await, Some(Event::Closed(_))) {}
    assert!(soon(events.next()).await.is_none());
}

#[test]
fn who_waits_on_another_runtime_learns_that_the_sessions_own_has_ended() {
    for runtime in runtimes() {
        let (session, far) = owned_by(&runtime);
        let turn = runtime.block_on(session.send("x")).unwrap();
        elsewhere().block_on(async {
            let Session { handle, events, .. } = &mut { session };
            let mut turn = pin!(turn.into_future());
            let mut call = pin!(handle.set_model(None));
            let mut idle = pin!(handle.idle());
            let mut closed = pin!(handle.closed());
            assert!(poll_immediate(&mut turn).await.is_none());
            assert!(poll_immediate(&mut call).await.is_none());
            assert!(poll_immediate(&mut idle).await.is_none());
            assert!(poll_immediate(&mut closed).await.is_none());
            end(runtime);
            let error = soon(turn).await.unwrap_err();
            assert!(matches!(error, Error::Closed(_)), "{error:?}");
            let error = soon(call).await.unwrap_err();
            assert!(matches!(error, Error::Closed(_)), "{error:?}");
            let error = soon(idle).await.unwrap_err();
            assert!(matches!(error, Error::Closed(_)), "{error:?}");
            assert!(!soon(closed).await.is_clean());
            hears_the_end(events).await;
        });
        drop(far);
    }
}

#[test]
fn a_close_that_is_under_way_returns_when_the_runtime_ends() {
    for runtime in runtimes() {
        let (session, far) = owned_by(&runtime);
        let turn = runtime.block_on(session.send("x")).unwrap();
        elsewhere().block_on(async {
            let mut closing = pin!(session.handle.close());
            assert!(poll_immediate(&mut closing).await.is_none());
            end(runtime);
            soon(closing).await;
            let error = soon(turn.into_future()).await.unwrap_err();
            assert!(matches!(error, Error::Closed(_)), "{error:?}");
        });
        drop(far);
    }
}

#[test]
fn calls_that_begin_after_the_runtime_has_ended_say_so() {
    for runtime in runtimes() {
        let (mut session, far) = owned_by(&runtime);
        end(runtime);
        elsewhere().block_on(async {
            let error = soon(session.send("x")).await.unwrap_err();
            assert!(matches!(error, Error::Closed(_)), "{error:?}");
            let error = soon(session.set_model(None)).await.unwrap_err();
            assert!(matches!(error, Error::Closed(_)), "{error:?}");
            hears_the_end(&mut session.events).await;
            soon(session.close()).await;
            assert!(session.is_closed());
        });
        drop(far);
    }
}

#[test]
fn a_process_does_not_outlive_the_runtime_of_its_session() {
    for runtime in runtimes() {
        let stage = Stage::new("turn\n  wait forever\n");
        let session = runtime
            .block_on(async { within(stage.claude().connect()).await })
            .unwrap();
        let turn = runtime.block_on(session.send("x")).unwrap();
        elsewhere().block_on(async {
            end(runtime);
            let error = within(turn).await.unwrap_err();
            assert!(matches!(error, Error::Closed(_)), "{error:?}");
            within(session.close()).await;
            crate::stage::until("nothing is left running", || stage.running().is_empty()).await;
        });
    }
}

#[tokio::test]
async fn a_watcher_does_not_keep_the_agent_alive() {
    let (session, mut far) = pair::session(Claude::new()).await;
    let mut watcher = session.watch();
    far.say(&json!({"type": "novel", "n": 1})).await;
    assert!(matches!(
        soon(watcher.next()).await,
        Some(Event::Message(_))
    ));
    drop(session);
    assert_eq!(far.end().await, None);
    drop(far);
    hears_the_end(&mut watcher).await;
}

#[tokio::test]
async fn a_watched_process_ends_when_its_session_is_dropped() {
    let stage = Stage::new("turn always\n  say \"x\"\n");
    let session = within(stage.claude().connect()).await.unwrap();
    within(within(session.send("x")).await.unwrap())
        .await
        .unwrap();
    let mut watcher = session.watch();
    drop(session);
    hears_the_end(&mut watcher).await;
    stage.until_nothing_runs().await;
}

#[tokio::test]
async fn a_subscriber_keeps_the_agent_alive_until_it_is_dropped() {
    let (session, mut far) = pair::session(Claude::new()).await;
    let mut subscriber = session.subscribe();
    drop(session);
    // Were it let go of, the end of stdin would come before the end of these.
    for n in 0..50 {
        far.say(&json!({"type": "novel", "n": n})).await;
        assert!(matches!(
            soon(subscriber.next()).await,
            Some(Event::Message(_))
        ));
        far.ask_tool(&n.to_string(), "Bash", json!({})).await;
        assert_eq!(far.reply(&n.to_string()).await["behavior"], "deny");
    }
    drop(subscriber);
    assert_eq!(far.end().await, None);
}
