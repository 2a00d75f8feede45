//! Components, homes, ports, connectors and template modules (clauses 7.4.13, 7.4.15 to 7.4.19).
//!
//! Their syntax is checked; their contents are discarded.

use super::{Parsed, Parser};
use crate::ast::{DefinitionKind, Ident, Name};

impl Parser<'_> {
    /// `<component> ::= <component_dcl> | <component_forward_dcl>`
    pub(super) fn component(&mut self) -> Parsed<DefinitionKind> {
        self.expect("component")?;
        let name = self.identifier()?;
        if !self.at(";") {
            self.base_and_supports()?;
            self.body(Self::component_export)?;
        }
        Ok(accepted("component", name))
    }

    /// `[ ":" <scoped_name> ] [ "supports" <scoped_name> { "," <scoped_name> }* ]`
    fn base_and_supports(&mut self) -> Parsed<()> {
        if self.eat(":") {
            self.scoped_name()?;
        }
        if self.eat("supports") {
            self.scoped_names()?;
        }
        Ok(())
    }

    /// `<component_export>`: `<provides_dcl>`, `<uses_dcl>`, `<emits_dcl>`, `<publishes_dcl>`,
    /// `<consumes_dcl>`, `<port_dcl>` or `<attr_dcl>`
    fn component_export(&mut self) -> Parsed<DefinitionKind> {
        if self.at_any(&["readonly", "attribute"]) {
            let attribute = self.attr_dcl()?;
            self.semicolon("this attribute");
            return Ok(DefinitionKind::Attribute(attribute));
        }
        let construct = match &*self.token().text {
            "provides" => "provides",
            "uses" => "uses",
            "emits" => "emits",
            "publishes" => "publishes",
            "consumes" => "consumes",
            "port" => "port",
            "mirrorport" => "mirrorport",
            _ => return self.unexpected("a port (`provides`, `uses`, `emits`, ...) or an attribute"),
        };
        self.bump();
        if construct == "uses" {
            self.eat("multiple");
        }
        // <interface_type> ::= <scoped_name> | "Object"
        if !self.eat("Object") {
            self.scoped_name()?;
        }
        let name = self.identifier()?;
        self.semicolon("this port");
        Ok(accepted(construct, name))
    }

    /// `<home_dcl> ::= <home_header> "{" <home_export>* "}"`
    pub(super) fn home(&mut self) -> Parsed<DefinitionKind> {
        self.expect("home")?;
        let name = self.identifier()?;
        if self.at(";") {
            return Ok(accepted("home", name));
        }
        self.base_and_supports()?;
        self.expect("manages")?;
        self.scoped_name()?;
        if self.eat("primarykey") {
            self.scoped_name()?;
        }
        self.body(Self::home_export)?;
        Ok(accepted("home", name))
    }

    /// `<home_export> ::= <export> | <factory_dcl> | <finder_dcl>`
    fn home_export(&mut self) -> Parsed<DefinitionKind> {
        for keyword in ["factory", "finder"] {
            if self.at(keyword) {
                let operation = self.init_dcl(keyword)?;
                self.semicolon("this operation");
                return Ok(DefinitionKind::Operation(operation));
            }
        }
        self.export()
    }

    /// `<porttype_dcl> ::= "porttype" <identifier> "{" <port_export>+ "}"`, or its forward declaration
    pub(super) fn porttype(&mut self) -> Parsed<DefinitionKind> {
        self.expect("porttype")?;
        let name = self.identifier()?;
        if !self.at(";") {
            self.body(Self::component_export)?;
        }
        Ok(accepted("porttype", name))
    }

    /// `<connector> ::= "connector" <identifier> [ ":" <scoped_name> ] "{" <connector_export>+ "}"`
    pub(super) fn connector(&mut self) -> Parsed<DefinitionKind> {
        self.expect("connector")?;
        let name = self.identifier()?;
        self.base_and_supports()?;
        self.body(Self::component_export)?;
        Ok(accepted("connector", name))
    }

    /// Text after `"module" <scoped_name>`: `"<" <formal_parameters> ">" "{" <tpl_definition>+ "}"`, or
    /// `"<" <actual_parameters> ">" <identifier>`
    pub(super) fn template_module(&mut self, scoped: Name) -> Parsed<DefinitionKind> {
        self.expect("<")?;
        self.templates += 1;
        let parsed = self.template_parameters();
        self.templates -= 1;
        parsed?;
        if self.at("{") {
            let name = self.single(scoped)?;
            self.template_body()?;
            return Ok(accepted("template module", name));
        }
        Ok(accepted("template module instance", self.identifier()?))
    }

    /// Formal or actual parameters up to the closing `>`; which of the two is decided by what follows.
    fn template_parameters(&mut self) -> Parsed<()> {
        loop {
            self.template_parameter()?;
            if !self.eat(",") {
                break;
            }
        }
        self.close_template()
    }

    /// `<formal_parameter> ::= <formal_parameter_type> <identifier>` or
    /// `<actual_parameter> ::= <type_spec> | <const_exp>`
    fn template_parameter(&mut self) -> Parsed<()> {
        const KINDS: &[&str] = &[
            "typename",
            "interface",
            "valuetype",
            "eventtype",
            "struct",
            "union",
            "exception",
            "enum",
        ];
        let bare_sequence = self.at("sequence") && self.peek(1).text.as_ref() != "<";
        if self.at_any(KINDS) || bare_sequence {
            self.bump();
            self.identifier()?;
        } else if self.eat("const") {
            self.const_type()?;
            self.identifier()?;
        } else if self.at("sequence") {
            // A formal parameter has a name behind the type, an actual one has not.
            self.type_spec()?;
            if !self.at_any(&[",", ">", ">>"]) {
                self.identifier()?;
            }
        } else if self.at_type() && !self.at("::") && !matches!(&*self.peek(1).text, "::" | "," | ">" | ">>")
        {
            // A basic type of several words, or an expression that begins with a name.
            if crate::token::is_keyword(&self.token().text) {
                self.type_spec()?;
            } else {
                self.const_exp()?;
            }
        } else if self.at_type() {
            self.type_spec()?;
        } else {
            self.const_exp()?;
        }
        Ok(())
    }

    /// `<template_module_ref> ::= "alias" <scoped_name> "<" <formal_parameter_names> ">" <identifier>`
    pub(super) fn template_module_ref(&mut self) -> Parsed<DefinitionKind> {
        self.expect("alias")?;
        self.scoped_name()?;
        self.expect("<")?;
        self.scoped_names()?;
        self.expect(">")?;
        Ok(accepted("alias", self.identifier()?))
    }
}

fn accepted(construct: &'static str, name: Ident) -> DefinitionKind {
    DefinitionKind::Accepted { construct, name }
}
