//! Value types and event types (clauses 7.4.10 and 7.4.14).

use super::{Parsed, Parser};
use crate::ast::{DefinitionKind, Operation, TypeKind, TypeSpec, Value};
use crate::hir::Type;

impl Parser<'_> {
    /// `<value>`: a value type with state, an abstract or boxed one, or a forward declaration; `<event>`
    /// likewise.
    pub(super) fn value(&mut self) -> Parsed<DefinitionKind> {
        let is_abstract = self.eat("abstract");
        let is_custom = !is_abstract && self.eat("custom");
        let is_event = self.at("eventtype");
        if !is_event && !self.at("valuetype") {
            return self.unexpected("`interface`, `valuetype` or `eventtype`");
        }
        self.bump();
        let name = self.identifier()?;
        let mut value = Value {
            name,
            is_abstract,
            is_custom,
            is_truncatable: false,
            is_event,
            bases: Vec::new(),
            supports: Vec::new(),
            body: None,
        };
        // <value_forward_dcl> has no `custom`.
        if self.at(";") && !is_custom {
            return Ok(DefinitionKind::Value(value));
        }
        // <value_box_dcl> ::= "valuetype" <identifier> <type_spec>
        if !is_abstract && !is_custom && !is_event && self.at_type() {
            return Ok(DefinitionKind::ValueBox {
                name: value.name,
                ty: self.type_spec()?,
            });
        }
        // <value_inheritance_spec>
        if self.eat(":") {
            value.is_truncatable = self.eat("truncatable");
            value.bases = self.scoped_names()?;
        }
        if self.eat("supports") {
            value.supports = self.scoped_names()?;
        }
        value.body = Some(self.body(Self::value_element)?);
        Ok(DefinitionKind::Value(value))
    }

    /// `<value_element> ::= <export> | <state_member> | <init_dcl>`
    fn value_element(&mut self) -> Parsed<DefinitionKind> {
        match &*self.token().text {
            // <state_member> ::= ( "public" | "private" ) <type_spec> <declarators> ";"
            "public" | "private" => {
                let doc = self.doc();
                let annotations = self.member_annotations()?;
                let public = self.bump().text.as_ref() == "public";
                let mut member = self.member()?;
                member.annotations.extend(annotations);
                if !doc.is_empty() {
                    let behind = std::mem::replace(&mut member.doc, doc);
                    member.doc = format!("{}\n{behind}", member.doc).trim_end().to_owned();
                }
                Ok(DefinitionKind::StateMember { public, member })
            }
            "factory" => {
                let factory = self.init_dcl("factory")?;
                self.semicolon("this factory");
                Ok(DefinitionKind::Operation(factory))
            }
            _ => self.export(),
        }
    }

    /// `<init_dcl> ::= "factory" <identifier> "(" [ <init_param_dcls> ] ")" [ <raises_expr> ] ";"`; a home's
    /// `<factory_dcl>` and `<finder_dcl>` have the same form.
    pub(super) fn init_dcl(&mut self, keyword: &str) -> Parsed<Operation> {
        let span = self.span();
        self.expect(keyword)?;
        let name = self.identifier()?;
        let parameters = self.parameter_dcls(true)?;
        let raises = self.raises_expr("raises")?;
        let result = TypeSpec {
            span,
            kind: TypeKind::Basic(Type::Void),
        };
        Ok(Operation {
            name,
            oneway: false,
            factory: true,
            result,
            parameters,
            raises,
            contexts: Vec::new(),
        })
    }
}
