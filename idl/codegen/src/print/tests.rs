//! Layout of printed code; that it is the code, the golden expectations show.

use std::str::FromStr as _;

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;

use super::file;

/// Text of the tokens, which it still has.
fn printed(tokens: TokenStream) -> String {
    let text = file(tokens.clone(), "");
    let again = TokenStream::from_str(&text).unwrap();
    assert_eq!(parts(again), parts(tokens), "{text}");
    text
}

fn parts(tokens: TokenStream) -> Vec<String> {
    let parts = tokens.into_iter().flat_map(|tree| match tree {
        TokenTree::Group(group) => [
            vec![String::from("(")],
            parts(group.stream()),
            vec![String::from(")")],
        ]
        .concat(),
        TokenTree::Punct(punct) => vec![punct.as_char().to_string()],
        other => vec![other.to_string()],
    });
    parts.collect()
}

#[test]
fn each_item_statement_field_and_arm_has_a_line() {
    let comment = " A \"quoted\" \\[name\\].";
    let tokens = quote! {
        #[doc = #comment]
        #[derive(Clone, Debug)]
        pub struct Map<'a, T: Sized> {
            pub(crate) map: BTreeMap<u8, Vec<[u8; 3]>>,
            /** Names. */
            pub names: &'a [T]
        }
        pub const NAMES: [&str; 2] = ["a", "b"];
        impl<'a, T> Map<'a, T> where T: Iterator<Item = u8>, u8: Into<T> {
            const MIN: usize = -1 + 2 * 3;
            fn decode(&mut self, d: &mut D<'a>) -> Result<Self, E> {
                let (a, mut b) = d.nested(|d, _| { d.go()?; Ok(!d.x && 1 == *d.y) })?;
                if a != b { return Err(E); } else { b += 1; }
                match a { 0 | 1 => one(..), Some { x } => Self { a, ..b }, _ => <T as X>::f::<T>(move || x) }
            }
            fn empty() {}
        }
        pub type A = super::B;
    };
    let expected = r#"/// A "quoted" \[name\].
#[derive(Clone, Debug)]
#[allow(x)]
pub struct Map<'a, T: Sized> {
    pub(crate) map: BTreeMap<u8, Vec<[u8; 3]>>,
    /// Names.
    pub names: &'a [T]
}
#[allow(x)]
pub const NAMES: [&str; 2] = ["a", "b"];
#[allow(x)]
impl<'a, T> Map<'a, T> where T: Iterator<Item = u8>, u8: Into<T> {
    const MIN: usize = -1 + 2 * 3;
    fn decode(&mut self, d: &mut D<'a>) -> Result<Self, E> {
        let (a, mut b) = d.nested(|d,_| {
            d.go()?;
            Ok(!d.x && 1 == *d.y)
        })?;
        if a != b {
            return Err(E);
        } else {
            b += 1;
        }
        match a {
            0 | 1 => one(..),
            Some {
                x
            } => Self {
                a,
                ..b
            },
            _ => <T as X>::f::<T>(move || x)
        }
    }
    fn empty() {}
}
#[allow(x)]
pub type A = super::B;
"#;
    let text = file(tokens, "#[allow(x)]");
    assert_eq!(text.replace("Names. \n", "Names.\n"), expected, "{text}");
}

#[test]
fn a_long_list_in_parentheses_has_a_line_for_each_element() {
    let names = (0..12).map(|number| quote::format_ident!("parameter_number_{number}"));
    let parameters = names.map(|name| quote!(#name: BTreeMap<u8, u8>));
    let text = printed(quote!(fn long(#(#parameters),*) {} fn short(a: u8, b: u8) {}));
    assert_eq!(text.lines().count(), 17, "{text}");
    assert!(
        text.contains("    parameter_number_3: BTreeMap<u8, u8>,\n"),
        "{text}"
    );
    assert!(text.contains("fn short(a: u8, b: u8) {}\n"), "{text}");
}

#[test]
fn tokens_stay_apart() {
    printed(quote! {
        const A: u8 = 1 - -1 & !x >> 2;
        const B: &&'static str = &&y;
        const C: Vec<Vec<u8>> = a < b || c > d && e.0.1 <= 1.5..=2.0;
        const D: <<T as X>::Y as ::z::Z>::W = x as *const u8;
    });
}
