//! The struct half of the derive: a loop over the keys of one object.
//!
//! Invariant: what `read` takes in, `write` gives out. A key that is no field goes to `extra`; so does the
//! `null` of an `Option`, which is why `write` passes over an extra whose field has a value by now.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{DataStruct, DeriveInput, Fields, Ident, LitStr, Type};

use crate::attrs;

enum Presence {
    Required,
    /// `Option<T>`: absent is `None`; a `null` is remembered in `extra`.
    Optional,
    /// `Nullable<T>`: absent, null and a value are three things.
    Nullable,
    /// `#[wire(flatten)]`: the keys nobody else declared belong to this body.
    Flattened,
}

struct WireField<'a> {
    ident: &'a Ident,
    ty: &'a Type,
    name: LitStr,
    presence: Presence,
    slot: Ident,
}

pub(crate) fn expand(input: &DeriveInput, data: &DataStruct) -> syn::Result<TokenStream> {
    let container = attrs::of_struct(&input.attrs)?;
    let (flattened, fields): (Vec<_>, Vec<_>) = collect(input, data, container.camel_case)?
        .into_iter()
        .partition(|field| matches!(field.presence, Presence::Flattened));
    let ident = &input.ident;
    let type_name = LitStr::new(&ident.to_string(), ident.span());
    let internal = &container.internal;
    let names: Vec<_> = fields.iter().map(|field| &field.name).collect();
    let indices: Vec<_> = (0..fields.len()).collect();

    let read = read_body(&fields, flattened.first());
    let write = write_body(&fields, flattened.first());
    let inspect = fields.iter().chain(&flattened).map(|field| {
        let (ident, name) = (field.ident, &field.name);
        let at = match field.presence {
            Presence::Flattened => quote! { at },
            Presence::Required | Presence::Optional | Presence::Nullable => {
                quote! { &at.field(#name) }
            }
        };
        quote! { ::countersign_wire::inspect::Inspect::inspect(&self.#ident, #at, sink); }
    });

    Ok(quote! {
        impl ::countersign_wire::shape::Body for #ident {
            const NAME: &'static str = #type_name;

            fn read<'de, A>(
                mut source: ::countersign_wire::shape::Source<'de, A>,
            ) -> ::core::result::Result<Self, A::Error>
            where
                A: ::countersign_wire::shape::MapAccess<'de>,
            {
                #read
            }

            fn write<M>(
                &self,
                tags: ::countersign_wire::shape::Tags,
                map: &mut M,
            ) -> ::core::result::Result<(), M::Error>
            where
                M: ::countersign_wire::shape::SerializeMap,
            {
                #write
            }
        }

        impl ::countersign_wire::shape::Fields for #ident {
            const FIELDS: &'static [&'static str] = &[#(#names),*];
            const INTERNAL: &'static [&'static str] = &[#(#internal),*];

            #[inline]
            fn index(name: &str) -> ::core::option::Option<usize> {
                match name {
                    #(#names => ::core::option::Option::Some(#indices),)*
                    _ => ::core::option::Option::None,
                }
            }
        }

        impl ::countersign_wire::inspect::Inspect for #ident {
            fn inspect(
                &self,
                at: &::countersign_wire::inspect::At<'_>,
                sink: &mut dyn ::core::ops::FnMut(&::countersign_wire::inspect::At<'_>, ::countersign_wire::inspect::Novelty<'_>),
            ) {
                #(#inspect)*
                ::countersign_wire::inspect::inspect_extra::<Self>(&self.extra, at, sink);
            }
        }

        ::countersign_wire::shape::serde_by_body!(#ident);
    })
}

fn collect<'a>(
    input: &DeriveInput,
    data: &'a DataStruct,
    camel_case: bool,
) -> syn::Result<Vec<WireField<'a>>> {
    let Fields::Named(named) = &data.fields else {
        return Err(syn::Error::new_spanned(
            &input.ident,
            "Wire needs named fields",
        ));
    };
    let mut fields = Vec::new();
    let mut has_extra = false;
    for (index, field) in named.named.iter().enumerate() {
        let Some(ident) = field.ident.as_ref() else {
            continue;
        };
        if ident == "extra" {
            has_extra = true;
            continue;
        }
        let attrs = attrs::of_field(&field.attrs)?;
        let name = match attrs.rename {
            Some(name) => name,
            None => default_name(ident, camel_case),
        };
        let presence = if attrs.flatten {
            Presence::Flattened
        } else {
            presence(&field.ty)
        };
        fields.push(WireField {
            ident,
            ty: &field.ty,
            name,
            presence,
            slot: format_ident!("field_{index}"),
        });
    }
    if !has_extra {
        return Err(syn::Error::new_spanned(
            &input.ident,
            "Wire needs a field `extra: Extra` for what nobody declared",
        ));
    }
    Ok(fields)
}

fn default_name(ident: &Ident, camel_case: bool) -> LitStr {
    let text = ident.to_string();
    let text = text.strip_prefix("r#").unwrap_or(&text);
    if !camel_case {
        return LitStr::new(text, ident.span());
    }
    let mut camel = String::with_capacity(text.len());
    let mut upper = false;
    for letter in text.chars() {
        if letter == '_' {
            upper = true;
        } else if upper {
            camel.extend(letter.to_uppercase());
            upper = false;
        } else {
            camel.push(letter);
        }
    }
    LitStr::new(&camel, ident.span())
}

fn presence(ty: &Type) -> Presence {
    let Type::Path(path) = ty else {
        return Presence::Required;
    };
    match path.path.segments.last() {
        Some(last) if last.ident == "Option" => Presence::Optional,
        Some(last) if last.ident == "Nullable" => Presence::Nullable,
        _ => Presence::Required,
    }
}

fn read_body(fields: &[WireField<'_>], flattened: Option<&WireField<'_>>) -> TokenStream {
    let declare = fields.iter().map(|field| {
        let (slot, ty) = (&field.slot, field.ty);
        match field.presence {
            Presence::Optional => quote! { let mut #slot: #ty = ::core::option::Option::None; },
            Presence::Required | Presence::Nullable | Presence::Flattened => {
                quote! { let mut #slot: ::core::option::Option<#ty> = ::core::option::Option::None; }
            }
        }
    });
    let arms = fields.iter().enumerate().map(|(index, field)| {
        let (slot, name) = (&field.slot, &field.name);
        match field.presence {
            Presence::Optional => quote! {
                ::countersign_wire::shape::Key::Field(#index) => {
                    #slot = source.value()?;
                    if #slot.is_none() {
                        extra.put_null(#name);
                    }
                }
            },
            Presence::Required | Presence::Nullable | Presence::Flattened => quote! {
                ::countersign_wire::shape::Key::Field(#index) => {
                    #slot = ::core::option::Option::Some(source.value()?);
                }
            },
        }
    });
    let build = fields.iter().map(|field| {
        let (ident, slot, name) = (field.ident, &field.slot, &field.name);
        match field.presence {
            Presence::Optional => quote! { #ident: #slot, },
            Presence::Nullable => quote! { #ident: #slot.unwrap_or_default(), },
            Presence::Required | Presence::Flattened => quote! {
                #ident: match #slot {
                    ::core::option::Option::Some(value) => value,
                    ::core::option::Option::None => {
                        return ::core::result::Result::Err(
                            <A::Error as ::countersign_wire::shape::DeError>::missing_field(#name),
                        );
                    }
                },
            },
        }
    });
    let (other, rest) = match flattened {
        None => (quote! { extra.put(name, source.value()?) }, quote! {}),
        Some(WireField { ident, ty, .. }) => (
            quote! { rest.push((name, ::countersign_wire::shape::shallow(source.value()?)?)) },
            quote! {
                #ident: <#ty as ::countersign_wire::shape::Body>::read(
                    ::countersign_wire::shape::Source::<'_, ::countersign_wire::shape::NoMore<A::Error>>::of_entries(rest),
                )?,
            },
        ),
    };
    let declare_rest = flattened.map(|_| quote! { let mut rest = ::std::vec::Vec::new(); });
    quote! {
        #[allow(unused_mut)]
        let mut extra = ::countersign_wire::Extra::default();
        #declare_rest
        #(#declare)*
        while let ::core::option::Option::Some(key) =
            source.key(<Self as ::countersign_wire::shape::Fields>::index)?
        {
            match key {
                #(#arms)*
                ::countersign_wire::shape::Key::Field(_) => source.skip()?,
                ::countersign_wire::shape::Key::Other(name) => #other,
            }
        }
        ::core::result::Result::Ok(Self { #(#build)* #rest extra })
    }
}

fn write_body(fields: &[WireField<'_>], flattened: Option<&WireField<'_>>) -> TokenStream {
    let entries = fields.iter().map(|field| {
        let (ident, name) = (field.ident, &field.name);
        match field.presence {
            Presence::Required | Presence::Flattened => {
                quote! { map.serialize_entry(#name, &self.#ident)?; }
            }
            Presence::Optional => quote! {
                if let ::core::option::Option::Some(value) = &self.#ident {
                    map.serialize_entry(#name, value)?;
                }
            },
            Presence::Nullable => quote! {
                if !self.#ident.is_absent() {
                    map.serialize_entry(#name, &self.#ident)?;
                }
            },
        }
    });
    let unset = fields.iter().enumerate().map(|(index, field)| {
        let ident = field.ident;
        match field.presence {
            Presence::Required | Presence::Flattened => {
                quote! { ::core::option::Option::Some(#index) => false, }
            }
            Presence::Optional => {
                quote! { ::core::option::Option::Some(#index) => self.#ident.is_none(), }
            }
            Presence::Nullable => {
                quote! { ::core::option::Option::Some(#index) => self.#ident.is_absent(), }
            }
        }
    });
    let rest = flattened.map(|field| {
        let ident = field.ident;
        quote! { ::countersign_wire::shape::Body::write(&self.#ident, tags, map)?; }
    });
    quote! {
        #(#entries)*
        #rest
        for (name, value) in self.extra.iter() {
            let free = match <Self as ::countersign_wire::shape::Fields>::index(name) {
                #(#unset)*
                ::core::option::Option::Some(_) => false,
                ::core::option::Option::None => !tags.contains(name),
            };
            if free {
                map.serialize_entry(name, value)?;
            }
        }
        ::core::result::Result::Ok(())
    }
}
