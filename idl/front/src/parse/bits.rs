//! Bitmasks and bitsets of IDL 4.2 (clause 7.4.13.4.3).

use super::{Parsed, Parser};
use crate::ast::{Bitfield, Bitmask, Bitset, Expr, TypeKind, TypeSpec};
use crate::lexer::Kind;

impl Parser<'_> {
    /// Returns whether a bitmask or bitset begins here: older specifications use these words as names.
    pub(super) fn at_bits(&self) -> bool {
        self.at_any(&["bitmask", "bitset"])
            && self.peek(1).kind == Kind::Word
            && matches!(&*self.peek(2).text, "{" | ":")
    }

    /// `<bitmask_dcl> ::= "bitmask" <identifier> "{" <bit_value> { "," <bit_value> }* "}"`
    pub(super) fn bitmask_type(&mut self) -> Parsed<TypeKind> {
        let bits = self.annotated_number("bit_bound");
        self.bump();
        let name = self.identifier()?;
        let flags = self.listed_names()?;
        let end = self.at - 1;
        Ok(TypeKind::Bitmask(Bitmask {
            name,
            bits,
            flags,
            end,
        }))
    }

    /// `<bitset_dcl> ::= "bitset" <identifier> [ ":" <scoped_name> ] "{" <bitfield>* "}"`
    pub(super) fn bitset_type(&mut self) -> Parsed<TypeKind> {
        self.bump();
        let name = self.identifier()?;
        let base = if self.eat(":") {
            Some(self.scoped_name()?)
        } else {
            None
        };
        self.expect("{")?;
        let mut fields = Vec::new();
        while self.at("bitfield") {
            fields.push(self.bitfield()?);
        }
        let end = self.at;
        if !self.eat("}") {
            return self.unexpected("`bitfield` or `}`");
        }
        Ok(TypeKind::Bitset(Bitset {
            name,
            base,
            fields,
            end,
        }))
    }

    /// `<bitfield> ::= <bitfield_spec> <identifier>* ";"`
    fn bitfield(&mut self) -> Parsed<Bitfield> {
        let doc = self.doc();
        self.bump();
        self.expect("<")?;
        self.templates += 1;
        let arguments = self.bitfield_arguments();
        self.templates -= 1;
        let (width, ty) = arguments?;
        let mut names = Vec::new();
        while self.token().kind == Kind::Word {
            names.push(self.identifier()?);
        }
        self.semicolon("this bit field");
        let doc = self.with_comment_behind(doc);
        Ok(Bitfield {
            doc,
            width,
            ty,
            names,
        })
    }

    fn bitfield_arguments(&mut self) -> Parsed<(Expr, Option<Box<TypeSpec>>)> {
        let width = self.const_exp()?;
        let ty = if self.eat(",") {
            Some(Box::new(self.type_spec()?))
        } else {
            None
        };
        self.close_template()?;
        Ok((width, ty))
    }
}
