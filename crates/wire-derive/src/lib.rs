//! `#[derive(Wire)]`: reading and writing of wire types without losing a field.
//!
//! Owns the code that serde's own derive cannot give: fields nobody declared are kept in `extra` and written
//! back, an explicit `null` is told from absence, and a tag (`type`, `subtype`) may stand anywhere in the
//! object without the whole object being buffered. The traits it implements live in `countersign-wire`
//! (`shape`); this crate is of no use alone.
//!
//! On a struct: `#[wire(rename_all = "camelCase")]`, `#[wire(internal("a", "b"))]` (names of fields that are
//! known to exist but only carried), on a field `#[wire(rename = "x")]` or `#[wire(flatten)]` (a body that shares this object's
//! keys). The field `extra: Extra` is required.
//!
//! On an enum: `#[wire(tag = "type")]`, `#[wire(internal = LIST)]`; on each variant its tag value
//! `#[wire("text")]`, or one of `#[wire(implied)]` (no tag at all), `#[wire(internal)]` (a name of `LIST`,
//! body kept) and `#[wire(unknown)]` (every other name, body kept).

mod attrs;
mod enums;
mod structs;

use proc_macro::TokenStream;
use syn::{Data, DeriveInput, parse_macro_input};

/// See the crate documentation.
#[proc_macro_derive(Wire, attributes(wire))]
pub fn derive_wire(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    let expanded = match &input.data {
        Data::Struct(data) => structs::expand(&input, data),
        Data::Enum(data) => enums::expand(&input, data),
        Data::Union(_) => Err(syn::Error::new_spanned(
            &input.ident,
            "Wire is for structs and enums",
        )),
    };
    expanded
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
