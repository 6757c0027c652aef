//! The enum half of the derive: find the tag, then let the variant's own struct read the rest.
//!
//! Invariant: a name that belongs to a typed variant never ends in the `unknown` one, so a broken known
//! message is an error and is not mistaken for a new one.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DataEnum, DeriveInput, Fields, Ident, LitStr, Type, spanned::Spanned};

use crate::attrs::{self, VariantAttr};

struct Variants<'a> {
    named: Vec<(LitStr, &'a Ident, &'a Type)>,
    implied: Option<(&'a Ident, &'a Type)>,
    internal: Option<&'a Ident>,
    unknown: &'a Ident,
}

pub(crate) fn expand(input: &DeriveInput, data: &DataEnum) -> syn::Result<TokenStream> {
    let container = attrs::of_enum(&input.attrs)?;
    let tag = container
        .tag
        .ok_or_else(|| syn::Error::new_spanned(&input.ident, "an enum needs #[wire(tag = …)]"))?;
    let variants = collect(input, data)?;
    let ident = &input.ident;
    let type_name = LitStr::new(&ident.to_string(), ident.span());
    let names: Vec<_> = variants.named.iter().map(|(name, ..)| name).collect();
    let internal_list = match (&container.internal, variants.internal) {
        (Some(list), Some(_)) => quote! { #list },
        (None, None) => quote! { &[] },
        _ => {
            return Err(syn::Error::new_spanned(
                ident,
                "`internal = LIST` and a variant `internal` go together",
            ));
        }
    };
    let read = read_body(&tag, &variants);
    let write = write_body(&tag, &variants);
    let inspect = inspect_body(&tag, &variants);
    let tag_of = tag_body(&variants);

    Ok(quote! {
        impl #ident {
            /// The tag values that have a type of their own.
            pub const NAMES: &'static [&'static str] = &[#(#names),*];

            /// The tag as it stands on the wire; empty where the wire has none.
            pub fn tag(&self) -> &str {
                #tag_of
            }
        }

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
                let tags = tags.and(#tag);
                #write
            }
        }

        impl ::countersign_wire::shape::Tagged for #ident {
            const TAG: &'static str = #tag;
            const NAMES: &'static [&'static str] = Self::NAMES;
            const INTERNAL: &'static [&'static str] = #internal_list;
        }

        impl ::countersign_wire::inspect::Inspect for #ident {
            fn inspect(
                &self,
                at: &::countersign_wire::inspect::At<'_>,
                sink: &mut dyn ::core::ops::FnMut(&::countersign_wire::inspect::At<'_>, ::countersign_wire::inspect::Novelty<'_>),
            ) {
                #inspect
            }
        }

        ::countersign_wire::shape::serde_by_body!(#ident);
    })
}

fn collect<'a>(input: &DeriveInput, data: &'a DataEnum) -> syn::Result<Variants<'a>> {
    let mut named = Vec::new();
    let (mut implied, mut internal, mut unknown) = (None, None, None);
    for variant in &data.variants {
        let ty = match &variant.fields {
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => &fields.unnamed[0].ty,
            _ => {
                return Err(syn::Error::new(
                    variant.span(),
                    "a variant holds exactly one struct",
                ));
            }
        };
        match attrs::of_variant(variant)? {
            VariantAttr::Named(name) => named.push((name, &variant.ident, ty)),
            VariantAttr::Implied => implied = Some((&variant.ident, ty)),
            VariantAttr::Internal => internal = Some(&variant.ident),
            VariantAttr::Unknown => unknown = Some(&variant.ident),
        }
    }
    let unknown = unknown.ok_or_else(|| {
        syn::Error::new_spanned(&input.ident, "an enum needs a variant #[wire(unknown)]")
    })?;
    Ok(Variants {
        named,
        implied,
        internal,
        unknown,
    })
}

fn read_body(tag: &LitStr, variants: &Variants<'_>) -> TokenStream {
    let named = variants.named.iter().map(|(name, variant, ty)| {
        quote! { #name => <#ty as ::countersign_wire::shape::Body>::read(source).map(Self::#variant), }
    });
    let internal = variants.internal.map(|variant| {
        quote! {
            name if <Self as ::countersign_wire::shape::Tagged>::INTERNAL.contains(&name) => {
                ::countersign_wire::Kept::read(name, source).map(Self::#variant)
            }
        }
    });
    let missing = match variants.implied {
        Some((variant, ty)) => quote! {
            return <#ty as ::countersign_wire::shape::Body>::read(source).map(Self::#variant);
        },
        None => quote! {
            return ::core::result::Result::Err(
                <A::Error as ::countersign_wire::shape::DeError>::missing_field(#tag),
            );
        },
    };
    let unknown = variants.unknown;
    quote! {
        let name = source.tag(#tag)?;
        let ::core::option::Option::Some(name) = name else {
            #missing
        };
        match &*name {
            #(#named)*
            #internal
            name => ::countersign_wire::Kept::read(name, source).map(Self::#unknown),
        }
    }
}

fn write_body(tag: &LitStr, variants: &Variants<'_>) -> TokenStream {
    let named = variants.named.iter().map(|(name, variant, _)| {
        quote! {
            Self::#variant(body) => {
                map.serialize_entry(#tag, #name)?;
                ::countersign_wire::shape::Body::write(body, tags, map)
            }
        }
    });
    let implied = variants.implied.map(|(variant, _)| {
        quote! { Self::#variant(body) => ::countersign_wire::shape::Body::write(body, tags, map), }
    });
    let kept = variants
        .internal
        .into_iter()
        .chain([variants.unknown])
        .map(|variant| {
            quote! {
                Self::#variant(kept) => {
                    map.serialize_entry(#tag, &kept.name)?;
                    kept.write(tags, map)
                }
            }
        });
    quote! {
        match self {
            #(#named)*
            #implied
            #(#kept)*
        }
    }
}

fn inspect_body(tag: &LitStr, variants: &Variants<'_>) -> TokenStream {
    let typed = variants
        .named
        .iter()
        .map(|(_, variant, _)| *variant)
        .chain(variants.implied.iter().map(|(variant, _)| *variant))
        .map(|variant| {
            quote! { Self::#variant(body) => ::countersign_wire::inspect::Inspect::inspect(body, at, sink), }
        });
    let internal = variants
        .internal
        .map(|variant| quote! { Self::#variant(kept) => sink(at, ::countersign_wire::inspect::Novelty::Kept(kept)), });
    let unknown = variants.unknown;
    quote! {
        match self {
            #(#typed)*
            #internal
            Self::#unknown(kept) => sink(
                at,
                ::countersign_wire::inspect::Novelty::Variant { tag: #tag, name: &kept.name },
            ),
        }
    }
}

fn tag_body(variants: &Variants<'_>) -> TokenStream {
    let named = variants.named.iter().map(|(name, variant, _)| {
        quote! { Self::#variant(_) => #name, }
    });
    let implied = variants
        .implied
        .map(|(variant, _)| quote! { Self::#variant(_) => "", });
    let kept = variants
        .internal
        .into_iter()
        .chain([variants.unknown])
        .map(|variant| quote! { Self::#variant(kept) => &kept.name, });
    quote! {
        match self {
            #(#named)*
            #implied
            #(#kept)*
        }
    }
}
