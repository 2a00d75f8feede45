//! Interfaces, operations and attributes (clauses 7.4.6, 7.4.7, 7.4.8).

use super::{Parsed, Parser};
use crate::ast::{Attribute, DefinitionKind, Interface, Name, Operation, Parameter, TypeKind, TypeSpec};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::hir::{Direction, InterfaceFlavour, Type};
use crate::lexer::Kind;
use crate::source::Span;

const EXPORTS: &str = "an operation, an attribute or a definition";

impl Parser<'_> {
    /// `<interface> ::= <interface_dcl> | <forward_dcl>`
    pub(super) fn interface(&mut self) -> Parsed<DefinitionKind> {
        let flavour = if self.eat("abstract") {
            InterfaceFlavour::Abstract
        } else if self.eat("local") {
            InterfaceFlavour::Local
        } else {
            InterfaceFlavour::Plain
        };
        self.expect("interface")?;
        let name = self.identifier()?;
        if self.at(";") {
            return Ok(DefinitionKind::Interface(Interface {
                name,
                flavour,
                bases: Vec::new(),
                body: None,
            }));
        }
        // <interface_inheritance_spec>
        let bases = if self.eat(":") {
            self.scoped_names()?
        } else {
            Vec::new()
        };
        let body = Some(self.body(Self::export)?);
        Ok(DefinitionKind::Interface(Interface {
            name,
            flavour,
            bases,
            body,
        }))
    }

    /// `<export>`
    pub(super) fn export(&mut self) -> Parsed<DefinitionKind> {
        match &*self.token().text {
            "typedef" | "struct" | "union" | "enum" | "native" | "const" | "exception" | "typeid"
            | "typeprefix" => self.common_definition(EXPORTS),
            _ if self.at_bits() => self.common_definition(EXPORTS),
            "module" | "interface" | "valuetype" | "abstract" | "local"
                if self.token().kind == Kind::Word =>
            {
                self.unexpected(EXPORTS)
            }
            "readonly" | "attribute" => {
                let attribute = self.attr_dcl()?;
                self.semicolon("this attribute");
                Ok(DefinitionKind::Attribute(attribute))
            }
            _ => {
                let operation = self.op_dcl()?;
                self.semicolon("this operation");
                Ok(DefinitionKind::Operation(operation))
            }
        }
    }

    /// `<op_dcl> ::= [ "oneway" ] <op_type_spec> <identifier> <parameter_dcls> [ <raises_expr> ] [
    /// <context_expr> ]`
    fn op_dcl(&mut self) -> Parsed<Operation> {
        let oneway = self.eat("oneway");
        let result = if self.at("void") {
            TypeSpec {
                span: self.bump().span,
                kind: TypeKind::Basic(Type::Void),
            }
        } else if self.at_type() {
            self.param_type_spec("the result of an operation")?
        } else {
            return self.unexpected(EXPORTS);
        };
        let name = self.identifier()?;
        let parameters = self.parameter_dcls(false)?;
        let raises = self.raises_expr("raises")?;
        let contexts = if self.at("context") {
            self.context_expr()?
        } else {
            Vec::new()
        };
        Ok(Operation {
            name,
            oneway,
            factory: false,
            result,
            parameters,
            raises,
            contexts,
        })
    }

    /// `<parameter_dcls>`; in the `<init_param_dcls>` of a factory there is only `in`.
    pub(super) fn parameter_dcls(&mut self, only_in: bool) -> Parsed<Vec<Parameter>> {
        self.expect("(")?;
        let mut parameters: Vec<Parameter> = Vec::new();
        while !self.eat(")") {
            if !parameters.is_empty() {
                if !self.at(",") {
                    return self.unexpected("`,` or `)`");
                }
                self.bump();
                if let Some(last) = parameters.last_mut() {
                    last.doc = self.with_comment_behind(std::mem::take(&mut last.doc));
                }
            }
            parameters.push(self.param_dcl(only_in)?);
        }
        Ok(parameters)
    }

    /// `<param_dcl> ::= <param_attribute> <param_type_spec> <simple_declarator>`
    fn param_dcl(&mut self, only_in: bool) -> Parsed<Parameter> {
        let doc = self.doc();
        let annotations = self.member_annotations()?;
        let direction_span = self.span();
        let direction = if self.eat("in") {
            Direction::In
        } else if !only_in && self.eat("out") {
            Direction::Out
        } else if !only_in && self.eat("inout") {
            Direction::InOut
        } else if only_in {
            return self.unexpected("`in`");
        } else {
            return self.unexpected("`in`, `out` or `inout`");
        };
        let ty = self.param_type_spec("a parameter")?;
        let name = self.identifier()?;
        Ok(Parameter {
            doc: self.with_comment_behind(doc),
            name,
            direction,
            direction_span,
            annotations,
            ty,
        })
    }

    /// `<param_type_spec>`: a type that has a name or is written as a keyword.
    pub(super) fn param_type_spec(&mut self, place: &str) -> Parsed<TypeSpec> {
        let ty = self.type_spec()?;
        if matches!(
            ty.kind,
            TypeKind::Sequence { .. }
                | TypeKind::Map { .. }
                | TypeKind::Fixed(_)
                | TypeKind::Struct(_)
                | TypeKind::Union(_)
                | TypeKind::Enum(_)
                | TypeKind::Bitmask(_)
                | TypeKind::Bitset(_)
        ) {
            self.report(
                Diagnostic::new(
                    Code::AnonymousType,
                    ty.span,
                    format!("the type of {place} must have a name"),
                )
                .with_help("declare it with `typedef` above, and use that name here"),
            );
        }
        Ok(ty)
    }

    /// `<raises_expr> ::= "raises" "(" <scoped_name> { "," <scoped_name> }* ")"`, also `<get_excep_expr>` and
    /// `<set_excep_expr>`; empty if the keyword is not there.
    pub(super) fn raises_expr(&mut self, keyword: &str) -> Parsed<Vec<Name>> {
        if !self.eat(keyword) {
            return Ok(Vec::new());
        }
        self.expect("(")?;
        let names = self.scoped_names()?;
        self.expect(")")?;
        Ok(names)
    }

    /// `<context_expr> ::= "context" "(" <string_literal> { "," <string_literal> }* ")"`
    fn context_expr(&mut self) -> Parsed<Vec<(String, Span)>> {
        self.expect("context")?;
        self.expect("(")?;
        let mut contexts = Vec::new();
        loop {
            let span = self.span();
            contexts.push((self.string_text()?, span));
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")")?;
        Ok(contexts)
    }

    /// `<attr_dcl> ::= <readonly_attr_spec> | <attr_spec>`
    pub(super) fn attr_dcl(&mut self) -> Parsed<Attribute> {
        let annotations = self.member_annotations()?;
        let readonly = self.eat("readonly");
        self.expect("attribute")?;
        let ty = self.param_type_spec("an attribute")?;
        let declarators = self.simple_declarators()?;
        let raises = if readonly {
            self.at("raises")
        } else {
            self.at("getraises") || self.at("setraises")
        };
        if declarators.len() > 1 && raises {
            let span = self.span();
            self.report(
                Diagnostic::new(Code::Syntax, span, "a list of attributes cannot raise exceptions")
                    .with_help("declare each attribute by itself: the clause belongs to one of them"),
            );
        }
        let (get_raises, set_raises) = if readonly {
            (self.raises_expr("raises")?, Vec::new())
        } else {
            (self.raises_expr("getraises")?, self.raises_expr("setraises")?)
        };
        Ok(Attribute {
            annotations,
            readonly,
            ty,
            declarators,
            get_raises,
            set_raises,
        })
    }
}
