//! Decoding: no input panics, what decodes comes back equal, and the quick reader agrees with `serde_json`.

#![no_main]

use countersign_wire::decode::decode;
use countersign_wire::route::Route;
use countersign_wire::write::to_line;
use countersign_wire::{CliMessage, HostMessage};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fn check<M>(line: &[u8])
where
    M: serde_json_traits::Message,
{
    let decoded: Result<M, _> = decode(line);
    let reference: Result<M, _> = match std::str::from_utf8(line) {
        Ok(text) => serde_json::from_str(text).map_err(|_| ()),
        Err(_) => Err(()),
    };
    if let Ok(reference) = &reference {
        assert!(decoded.as_ref().is_ok_and(|decoded| decoded == reference));
    }
    let Ok(message) = decoded else {
        return;
    };
    let written = to_line(&message).expect("a message has a JSON form");
    assert!(written.is_ascii());
    assert_eq!(written.iter().filter(|byte| **byte == b'\n').count(), 1);
    // Where the whole line is a tree (no half surrogates, not too deep), nothing may be lost.
    if let Ok(original) = serde_json::from_slice::<Value>(line) {
        assert!(reference.is_ok(), "read what serde_json refuses");
        let written: Value = serde_json::from_slice(&written).expect("what is written is JSON");
        assert_eq!(written, original);
    }
}

mod serde_json_traits {
    use countersign_wire::{CliMessage, HostMessage};

    /// What a direction of the wire is decoded to.
    pub trait Message:
        for<'de> serde::Deserialize<'de> + serde::Serialize + PartialEq + Sized
    {
    }
    impl Message for CliMessage {}
    impl Message for HostMessage {}
}

fuzz_target!(|line: &[u8]| {
    check::<CliMessage>(line);
    check::<HostMessage>(line);
    if let (Ok(route), Ok(Value::Object(object))) = (Route::of(line), serde_json::from_slice(line))
    {
        assert_eq!(object["type"], *route.kind.get());
    }
});
