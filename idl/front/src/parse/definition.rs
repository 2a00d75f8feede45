//! Specifications, modules, imports and repository identity declarations (clauses 7.4.1, 7.4.2, 7.4.9).

use super::{Failed, Parsed, Parser};
use crate::ast::{Attribute, Body, Definition, DefinitionKind, Ident};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::lexer::Kind;
use crate::token::Token;

const DEFINITIONS: &str = "a definition (such as `module`, `interface`, `struct`, `typedef` or `const`)";

/// Tokens of a header that a comment behind a `}` may repeat.
const NAMED: usize = 16;

impl Parser<'_> {
    /// `<specification> ::= <import>* <definition>+`
    pub(super) fn specification(&mut self) -> Vec<Definition> {
        let mut definitions = Vec::new();
        while !self.at_end() {
            if self.at("}") {
                let span = self.span();
                self.error(
                    Diagnostic::new(Code::Syntax, span, "unmatched `}`")
                        .with_help("remove it, or add the missing `{` above"),
                );
                self.bump();
                self.eat(";");
                continue;
            }
            if !self.empty_declaration() {
                self.definition_or_recover(&mut definitions, Self::definition);
            }
        }
        definitions
    }

    /// Parses one definition; after an error continues with the next one.
    fn definition_or_recover(
        &mut self,
        definitions: &mut Vec<Definition>,
        definition: impl FnOnce(&mut Self) -> Parsed<DefinitionKind>,
    ) {
        let doc = self.doc();
        let first = self.at;
        match self.nested(definition) {
            Ok(mut kind) => {
                let doc = self.with_comments(first, doc, &mut kind);
                definitions.push(Definition { doc, kind });
            }
            Err(Failed) => {
                self.too_deep &= self.depth > 0;
                self.recover(first);
                if self.at == first && !self.at("}") {
                    self.bump();
                }
            }
        }
    }

    /// Documentation of a definition that begins at `first`, with the comments behind its `{` and its end.
    /// Those behind declarators are theirs.
    fn with_comments(&self, first: usize, mut doc: String, kind: &mut DefinitionKind) -> String {
        if let DefinitionKind::Typedef { declarators, .. }
        | DefinitionKind::Attribute(Attribute { declarators, .. }) = kind
        {
            self.comment_behind_declarators(declarators);
            return doc;
        }
        let tokens = self.tokens.get(first..=self.consumed).unwrap_or_default();
        let header = tokens
            .iter()
            .take_while(|token| !matches!(&*token.text, "{" | ";"))
            .count();
        let is_body = tokens.get(header).is_some_and(|token| &*token.text == "{");
        let mut add = |comment: &str| {
            let newline = if doc.is_empty() { "" } else { "\n" };
            doc.push_str(newline);
            doc.push_str(comment);
        };
        if let Some(comment) = self.source.behind.get(&(first + header)).filter(|_| is_body) {
            add(comment);
        }
        if let Some(comment) = self.source.behind.get(&self.consumed)
            && !(is_body && only_names(comment, &tokens[..header.min(NAMED)]))
        {
            add(comment);
        }
        doc
    }

    /// Returns the elements between `{` and `}`.
    pub(super) fn body(&mut self, element: fn(&mut Self) -> Parsed<DefinitionKind>) -> Parsed<Body> {
        self.expect("{")?;
        let mut definitions = Vec::new();
        while !self.at("}") && !self.at_end() {
            if !self.empty_declaration() {
                self.definition_or_recover(&mut definitions, element);
            }
        }
        let end = self.at;
        self.expect("}")?;
        Ok(Body { definitions, end })
    }

    /// `<definition>`
    fn definition(&mut self) -> Parsed<DefinitionKind> {
        let (kind, what) = match &*self.token().text {
            _ if !matches!(self.token().kind, Kind::Word) => return self.unexpected(DEFINITIONS),
            "module" => (self.module()?, "this module"),
            "import" => (self.import()?, "`import`"),
            "interface" => (self.interface()?, "this interface"),
            "abstract" | "local" | "custom" if self.peek(1).text.as_ref() == "interface" => {
                (self.interface()?, "this interface")
            }
            "abstract" | "custom" | "valuetype" | "eventtype" => (self.value()?, "this value type"),
            "component" => (self.component()?, "this component"),
            "home" => (self.home()?, "this home"),
            "porttype" => (self.porttype()?, "this port type"),
            "connector" => (self.connector()?, "this connector"),
            "alias" => (self.template_module_ref()?, "this alias"),
            _ => return self.common_definition(DEFINITIONS),
        };
        self.semicolon(what);
        Ok(kind)
    }

    /// Definitions permitted in modules and in interfaces: types, constants, exceptions, `typeid`,
    /// `typeprefix`.
    pub(super) fn common_definition(&mut self, expected: &str) -> Parsed<DefinitionKind> {
        let (kind, what) = match &*self.token().text {
            _ if !matches!(self.token().kind, Kind::Word) => return self.unexpected(expected),
            "typedef" | "struct" | "union" | "enum" | "native" => (self.type_dcl()?, "this type"),
            _ if self.at_bits() => (self.type_dcl()?, "this type"),
            "const" => (self.const_dcl()?, "this constant"),
            "exception" => (self.except_dcl()?, "this exception"),
            "typeid" => (self.type_id_dcl()?, "`typeid`"),
            "typeprefix" => (self.type_prefix_dcl()?, "`typeprefix`"),
            _ => return self.unexpected(expected),
        };
        self.semicolon(what);
        Ok(kind)
    }

    /// `<module> ::= "module" <identifier> "{" <definition>+ "}"`, also `<template_module>` and
    /// `<template_module_inst>`
    fn module(&mut self) -> Parsed<DefinitionKind> {
        self.expect("module")?;
        let scoped = self.scoped_name()?;
        if self.at("<") {
            return self.template_module(scoped);
        }
        let name = self.single(scoped)?;
        let body = self.body(Self::definition)?;
        if body.definitions.is_empty() && self.last_error.is_none() {
            self.report(
                Diagnostic::new(
                    Code::EmptyBody,
                    name.span,
                    format!("module `{}` is empty", name.name),
                )
                .with_help("add a definition, or remove it"),
            );
        }
        Ok(DefinitionKind::Module { name, body })
    }

    /// Returns a scoped name of one part.
    pub(super) fn single(&mut self, mut name: crate::ast::Name) -> Parsed<Ident> {
        if name.absolute || name.parts.len() > 1 {
            let span = name.span();
            self.error(
                Diagnostic::new(Code::Syntax, span, "a definition must have a simple name")
                    .with_help("open the enclosing modules around it instead of qualifying its name"),
            );
            return Err(Failed);
        }
        name.parts.pop().ok_or(Failed)
    }

    /// Returns the definitions in a template module.
    pub(super) fn template_body(&mut self) -> Parsed<Body> {
        self.body(Self::definition)
    }

    /// `<import> ::= "import" <imported_scope>`
    fn import(&mut self) -> Parsed<DefinitionKind> {
        let at = self.at;
        let span = self.span();
        self.expect("import")?;
        let name = if self.token().kind == Kind::String {
            self.string_text()?
        } else {
            // What stands in the imported scope is unknown: the first part stands for all of it.
            let mut name = self.scoped_name()?;
            name.parts.swap_remove(0).name.to_string()
        };
        Ok(DefinitionKind::Accepted {
            construct: "import",
            name: Ident {
                name: name.into(),
                span,
                at,
            },
        })
    }

    /// `<type_id_dcl> ::= "typeid" <scoped_name> <string_literal>`
    fn type_id_dcl(&mut self) -> Parsed<DefinitionKind> {
        self.expect("typeid")?;
        let name = self.scoped_name()?;
        let span = self.span();
        Ok(DefinitionKind::TypeId {
            name,
            id: self.string_text()?,
            span,
        })
    }

    /// `<type_prefix_dcl> ::= "typeprefix" <scoped_name> <string_literal>`
    fn type_prefix_dcl(&mut self) -> Parsed<DefinitionKind> {
        self.expect("typeprefix")?;
        // Older specifications write `typeprefix :: "..."` for the global scope; IDL 3.5 has no such form.
        let name = self.scoped_name()?;
        let span = self.span();
        Ok(DefinitionKind::TypePrefix {
            name,
            prefix: self.string_text()?,
            span,
        })
    }
}

/// Whether a comment behind a `}` only names what ends there, such as `end of interface Valve`.
fn only_names(comment: &str, header: &[Token]) -> bool {
    comment
        .split(|character: char| !character.is_alphanumeric() && character != '_')
        .filter(|word| !word.is_empty())
        .all(|word| matches!(word, "end" | "End" | "of") || header.iter().any(|token| *token.text == *word))
}
