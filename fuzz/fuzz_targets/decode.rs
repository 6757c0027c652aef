//! Decoding: no input panics, what decodes comes back equal, and the quick reader agrees with `serde_json`.

#![no_main]

use countersign_wire::decode::{Message, decode};
use countersign_wire::route::Route;
use countersign_wire::write::to_line;
use countersign_wire::{CliMessage, HostMessage};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fn check<M: Message>(line: &[u8]) {
    let decoded: Result<M, _> = decode(line);
    let reference: Option<M> = std::str::from_utf8(line)
        .ok()
        .and_then(|text| M::decode_slowly(text).ok());
    assert!(
        decoded.as_ref().ok() == reference.as_ref(),
        "the two readers differ"
    );
    let Ok(message) = decoded else {
        return;
    };
    let written = to_line(&message).expect("a message has a JSON form");
    assert!(written.is_ascii());
    assert_eq!(written.iter().filter(|byte| **byte == b'\n').count(), 1);
    // Where the whole line is a tree (no half surrogates, not too deep), nothing may be lost.
    if let Ok(original) = serde_json::from_slice::<Value>(line) {
        let written: Value = serde_json::from_slice(&written).expect("what is written is JSON");
        assert_eq!(written, original);
    }
}

fuzz_target!(|line: &[u8]| {
    check::<CliMessage>(line);
    check::<HostMessage>(line);
    if let (Ok(message), Ok(route)) = (decode::<CliMessage>(line), Route::of(line)) {
        assert_eq!(route.kind.get(), message.tag());
    }
});
