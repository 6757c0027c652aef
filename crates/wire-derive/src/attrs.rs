//! Reads the `#[wire(…)]` attributes. Owns their grammar; knows nothing of what is generated from them.

use syn::{Attribute, Expr, LitStr, Path, Token, punctuated::Punctuated};

#[derive(Default)]
pub(crate) struct StructAttrs {
    pub(crate) camel_case: bool,
    pub(crate) internal: Vec<LitStr>,
}

#[derive(Default)]
pub(crate) struct FieldAttrs {
    pub(crate) rename: Option<LitStr>,
    pub(crate) flatten: bool,
}

#[derive(Default)]
pub(crate) struct EnumAttrs {
    pub(crate) tag: Option<LitStr>,
    pub(crate) internal: Option<Path>,
}

pub(crate) enum VariantAttr {
    Named(LitStr),
    Implied,
    Internal,
    Unknown,
}

fn wire_attrs(attrs: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attrs.iter().filter(|attr| attr.path().is_ident("wire"))
}

pub(crate) fn of_struct(attrs: &[Attribute]) -> syn::Result<StructAttrs> {
    let mut found = StructAttrs::default();
    for attr in wire_attrs(attrs) {
        attr.parse_nested_meta(|meta| {
            if meta.path.is_ident("rename_all") {
                let style: LitStr = meta.value()?.parse()?;
                if style.value() != "camelCase" {
                    return Err(meta.error("only camelCase is supported"));
                }
                found.camel_case = true;
                Ok(())
            } else if meta.path.is_ident("internal") {
                let list;
                syn::parenthesized!(list in meta.input);
                let names = Punctuated::<LitStr, Token![,]>::parse_terminated(&list)?;
                found.internal.extend(names);
                Ok(())
            } else {
                Err(meta.error("expected `rename_all` or `internal(…)`"))
            }
        })?;
    }
    Ok(found)
}

pub(crate) fn of_field(attrs: &[Attribute]) -> syn::Result<FieldAttrs> {
    let mut found = FieldAttrs::default();
    for attr in wire_attrs(attrs) {
        attr.parse_nested_meta(|meta| {
            if meta.path.is_ident("rename") {
                found.rename = Some(meta.value()?.parse()?);
                Ok(())
            } else if meta.path.is_ident("flatten") {
                found.flatten = true;
                Ok(())
            } else {
                Err(meta.error("expected `rename` or `flatten`"))
            }
        })?;
    }
    Ok(found)
}

pub(crate) fn of_enum(attrs: &[Attribute]) -> syn::Result<EnumAttrs> {
    let mut found = EnumAttrs::default();
    for attr in wire_attrs(attrs) {
        attr.parse_nested_meta(|meta| {
            if meta.path.is_ident("tag") {
                found.tag = Some(meta.value()?.parse()?);
                Ok(())
            } else if meta.path.is_ident("internal") {
                found.internal = Some(meta.value()?.parse()?);
                Ok(())
            } else {
                Err(meta.error("expected `tag` or `internal = LIST`"))
            }
        })?;
    }
    Ok(found)
}

pub(crate) fn of_variant(variant: &syn::Variant) -> syn::Result<VariantAttr> {
    let attr = wire_attrs(&variant.attrs)
        .next()
        .ok_or_else(|| syn::Error::new_spanned(variant, "a variant needs #[wire(…)]"))?;
    match attr.parse_args::<Expr>()? {
        Expr::Lit(syn::ExprLit {
            lit: syn::Lit::Str(name),
            ..
        }) => Ok(VariantAttr::Named(name)),
        Expr::Path(path) if path.path.is_ident("implied") => Ok(VariantAttr::Implied),
        Expr::Path(path) if path.path.is_ident("internal") => Ok(VariantAttr::Internal),
        Expr::Path(path) if path.path.is_ident("unknown") => Ok(VariantAttr::Unknown),
        other => Err(syn::Error::new_spanned(
            other,
            "expected a tag value, `implied`, `internal` or `unknown`",
        )),
    }
}
