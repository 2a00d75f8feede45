//! Declarations of the types that operations use.

use std::{collections::HashSet, fmt};

use punctual::any::{AnyError, Kind, TypeCodeView};

use super::{named::Named, operation::Operation};

/// Types that are looked at. An interface repository could describe more than anybody wants to read.
const MOST: usize = 1000;

/// Octets of the members of one type, after which the rest is left out: with indirections, a short type code
/// could name a type with a long name very often.
const MOST_TEXT: usize = 16 << 10;

/// Declares each named type that the operations use, as in IDL: what a caller has to write.
pub fn declarations<'t>(operations: impl IntoIterator<Item = &'t Operation>) -> Vec<String> {
    let (mut types, mut seen) = (Vec::new(), HashSet::new());
    for operation in operations {
        let parameters = operation.parameters.iter().map(|parameter| &parameter.of);
        let used = [&operation.returns]
            .into_iter()
            .chain(parameters)
            .chain(&operation.raises);
        types.extend(used.map(|code| code.view()));
    }
    let (mut declared, mut next) = (Vec::new(), 0);
    while next < types.len().min(MOST) {
        // A malformed type code has no declaration; a call shows its problem.
        declared.extend(declaration(types[next], &mut seen, &mut types).ok().flatten());
        next += 1;
    }
    declared
}

/// The declaration of a type that was not seen before. Adds the types that it names.
fn declaration<'t>(
    code: TypeCodeView<'t>,
    seen: &mut HashSet<&'t str>,
    types: &mut Vec<TypeCodeView<'t>>,
) -> Result<Option<String>, AnyError> {
    let kind = code.kind()?;
    if matches!(kind, Kind::Sequence | Kind::Array) {
        types.push(code.content()?);
        return Ok(None);
    }
    let has_declaration = matches!(
        kind,
        Kind::Struct
            | Kind::Except
            | Kind::Union
            | Kind::Enum
            | Kind::Alias
            | Kind::Value
            | Kind::ValueBox
            | Kind::Event
    );
    if !has_declaration || code.id()?.is_empty() || !seen.insert(code.id()?) {
        return Ok(None);
    }
    let name = code.name()?;
    let mut members = Members::default();
    Ok(Some(match kind {
        Kind::Enum => {
            let names: Result<Vec<_>, _> = code.enumerators()?.collect();
            format!("enum {name} {{ {} }}", names?.join(", "))
        }
        Kind::Alias => {
            let content = code.content()?;
            types.push(content);
            format!("typedef {} {name}", Named(content))
        }
        Kind::Union => {
            let discriminator = code.discriminator()?;
            types.push(discriminator);
            for case in code.cases()? {
                let (label, name, of) = case?;
                if members.is_full() {
                    break;
                }
                let label = label.map(|label| label_text(label, discriminator)).transpose()?;
                let label = label.map_or_else(|| "default".to_owned(), |label| format!("case {label}"));
                members.push(&format!("{label}: "), name, of);
            }
            format!("union {name} switch ({}) {{ {members}}}", Named(discriminator))
        }
        Kind::Struct | Kind::Except => {
            for member in code.members()? {
                let (name, of) = member?;
                members.push("", name, of);
            }
            let keyword = if kind == Kind::Struct {
                "struct"
            } else {
                "exception"
            };
            format!("{keyword} {name} {{ {members}}}")
        }
        _ => {
            for (name, of) in code.state()? {
                members.push("", name, of);
            }
            format!("valuetype {name} {{ {members}}}")
        }
    })
    .inspect(|_| types.append(&mut members.types)))
}

/// Members of a type, as far as there is room for them.
#[derive(Default)]
struct Members<'t> {
    text: String,
    types: Vec<TypeCodeView<'t>>,
}

impl<'t> Members<'t> {
    fn is_full(&self) -> bool {
        self.text.len() > MOST_TEXT
    }

    fn push(&mut self, label: &str, name: &str, of: TypeCodeView<'t>) {
        if !self.is_full() {
            self.text += &format!("{label}{} {name}; ", Named(of));
            self.types.push(of);
        }
    }
}

impl fmt::Display for Members<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        f.write_str(if self.is_full() { "... " } else { "" })
    }
}

/// A label of a union, as callers write it.
fn label_text(label: i128, discriminator: TypeCodeView<'_>) -> Result<String, AnyError> {
    let of = discriminator.resolved()?;
    let number = label.to_string();
    Ok(match of.kind()? {
        Kind::Boolean => if label == 0 { "FALSE" } else { "TRUE" }.to_owned(),
        Kind::Char => match u8::try_from(label) {
            Ok(octet) => format!("'{}'", char::from(octet).escape_default()),
            Err(_) => number,
        },
        Kind::Enum => {
            let mut names = of.enumerators()?;
            let name = usize::try_from(label).ok().and_then(|index| names.nth(index));
            name.transpose()?.map_or(number, ToOwned::to_owned)
        }
        _ => number,
    })
}

#[cfg(test)]
mod tests {
    use punctual::any::TypeCode;

    use super::*;

    #[test]
    fn unions_show_labels_as_callers_write_them() {
        let colour = TypeCode::enumeration("IDL:Colour:1.0", "Colour", ["RED", "GREEN"]);
        let (long, short) = (TypeCode::basic(Kind::Long), TypeCode::basic(Kind::Short));
        for (discriminator, declared) in [
            (
                colour,
                "union U switch (Colour) { case RED: long a; case GREEN: short b; }",
            ),
            (
                TypeCode::basic(Kind::Boolean),
                "union U switch (boolean) { case FALSE: long a; case TRUE: short b; }",
            ),
            (
                TypeCode::basic(Kind::Octet),
                "union U switch (octet) { case 0: long a; case 1: short b; }",
            ),
        ] {
            let members = [(0, "a", long.clone()), (1, "b", short.clone())];
            let union = TypeCode::union("IDL:U:1.0", "U", discriminator, None, members);
            let list = TypeCode::sequence(union, 0);
            let found = declarations(&[Operation::simple("f", list.clone(), &[("again", list)])]);
            assert_eq!(found[0], declared);
            assert_eq!(
                found.len(),
                1 + usize::from(declared.contains("Colour")),
                "{found:?}"
            );
        }
    }

    #[test]
    fn the_text_of_a_type_with_many_members_ends() {
        let member = |_| ("again", TypeCode::basic(Kind::Long));
        let long = TypeCode::structure("IDL:Long:1.0", "Long", (0..100_000).map(member));
        let found = declarations(&[Operation::simple("f", long, &[])]);
        assert!(found[0].len() < MOST_TEXT + 100 && found[0].ends_with("again; ... }"));
    }
}
