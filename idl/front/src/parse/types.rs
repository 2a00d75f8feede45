//! Type declarations and type specifications (clause 7.4.4), exceptions (7.4.5).

use std::rc::Rc;

use super::{Parsed, Parser};
use crate::ast::{
    Case, CaseLabel, Declarator, DefinitionKind, Enum, Ident, Listed, Member, Struct, TypeKind, TypeSpec,
    Union,
};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::hir::Type;
use crate::lexer::Kind;
use crate::source::Span;
use crate::token::{TYPE_KEYWORDS, is_keyword};

impl Parser<'_> {
    /// `<type_dcl> ::= "typedef" <type_declarator> | <struct_type> | <union_type> | <enum_type> |
    /// "native" <simple_declarator> | <constr_forward_decl>`
    pub(super) fn type_dcl(&mut self) -> Parsed<DefinitionKind> {
        if self.at("typedef") {
            let annotations = self.member_annotations()?;
            self.bump();
            // <type_declarator> ::= <type_spec> <declarators>
            let ty = self.type_spec()?;
            return Ok(DefinitionKind::Typedef {
                annotations,
                ty,
                declarators: self.declarators()?,
            });
        }
        if self.eat("native") {
            return Ok(DefinitionKind::Native(self.identifier()?));
        }
        // <constr_forward_decl>
        if self.peek(2).text.as_ref() == ";" && self.at_any(&["struct", "union"]) {
            let is_struct = self.bump().text.as_ref() == "struct";
            let name = self.identifier()?;
            return Ok(match is_struct {
                true => DefinitionKind::ForwardStruct(name),
                false => DefinitionKind::ForwardUnion(name),
            });
        }
        Ok(DefinitionKind::Constructed(self.type_spec()?))
    }

    /// Whether a type can begin here.
    pub(super) fn at_type(&self) -> bool {
        self.at("::")
            || (self.token().kind == Kind::Word
                && (!is_keyword(&self.token().text) || self.at_any(TYPE_KEYWORDS)))
    }

    /// `<type_spec> ::= <simple_type_spec> | <constr_type_spec>`
    pub(super) fn type_spec(&mut self) -> Parsed<TypeSpec> {
        self.nested(|this| {
            let first = this.span();
            let kind = this.type_kind()?;
            Ok(TypeSpec {
                span: first.to(this.previous()),
                kind,
            })
        })
    }

    fn type_kind(&mut self) -> Parsed<TypeKind> {
        if !self.at_type() {
            return self.unexpected("a type");
        }
        Ok(match &*self.token().text {
            "struct" => self.struct_type()?,
            "union" => self.union_type()?,
            "enum" => self.enum_type()?,
            "sequence" => self.sequence_type()?,
            // Words of IDL 4.2, which are names in older specifications.
            "map" if self.peek(1).text.as_ref() == "<" => self.map_type()?,
            "bitmask" if self.at_bits() => self.bitmask_type()?,
            "bitset" if self.at_bits() => self.bitset_type()?,
            "string" | "wstring" => self.string_type()?,
            "fixed" => self.fixed_pt_type()?,
            word if TYPE_KEYWORDS.contains(&word) => TypeKind::Basic(self.base_type_spec()?),
            _ => TypeKind::Named(self.scoped_name()?),
        })
    }

    /// `<base_type_spec>`: the types that are written with keywords alone.
    fn base_type_spec(&mut self) -> Parsed<Type> {
        Ok(match &*self.bump().text {
            "float" => Type::Float,
            "double" => Type::Double,
            "short" => Type::Short,
            "long" if self.eat("long") => Type::LongLong,
            "long" if self.eat("double") => Type::LongDouble,
            "long" => Type::Long,
            "unsigned" if self.eat("short") => Type::UShort,
            "unsigned" if self.eat("long") => {
                if self.eat("long") {
                    Type::ULongLong
                } else {
                    Type::ULong
                }
            }
            "unsigned" => return self.unexpected("`short` or `long`"),
            "char" => Type::Char,
            "wchar" => Type::WChar,
            "boolean" => Type::Boolean,
            "octet" => Type::Octet,
            "any" => Type::Any,
            "Object" => Type::Object,
            _ => Type::ValueBase,
        })
    }

    /// `<sequence_type> ::= "sequence" "<" <simple_type_spec> [ "," <positive_int_const> ] ">"`
    fn sequence_type(&mut self) -> Parsed<TypeKind> {
        self.expect("sequence")?;
        self.expect("<")?;
        self.templates += 1;
        let result = self.sequence_arguments();
        self.templates -= 1;
        result
    }

    fn sequence_arguments(&mut self) -> Parsed<TypeKind> {
        let element = Box::new(self.type_spec()?);
        let bound = if self.eat(",") {
            Some(self.const_exp()?)
        } else {
            None
        };
        self.close_template()?;
        Ok(TypeKind::Sequence { element, bound })
    }

    /// `<map_type> ::= "map" "<" <type_spec> "," <type_spec> [ "," <positive_int_const> ] ">"`
    fn map_type(&mut self) -> Parsed<TypeKind> {
        self.bump();
        self.expect("<")?;
        self.templates += 1;
        let result = self.map_arguments();
        self.templates -= 1;
        result
    }

    fn map_arguments(&mut self) -> Parsed<TypeKind> {
        let key = Box::new(self.type_spec()?);
        self.expect(",")?;
        let value = Box::new(self.type_spec()?);
        let bound = if self.eat(",") {
            Some(self.const_exp()?)
        } else {
            None
        };
        self.close_template()?;
        Ok(TypeKind::Map { key, value, bound })
    }

    /// The `>` of a type. The first half of a `>>` is consumed by leaving the token for the second half.
    pub(super) fn close_template(&mut self) -> Parsed<()> {
        if self.at(">>") {
            if self.half_closed == Some(self.at) {
                self.half_closed = None;
                self.bump();
                return Ok(());
            }
            if self.templates > 1 {
                self.half_closed = Some(self.at);
                return Ok(());
            }
        }
        if self.eat(">") {
            Ok(())
        } else {
            self.unexpected("`>`")
        }
    }

    /// `<string_type>`, `<wide_string_type>`
    fn string_type(&mut self) -> Parsed<TypeKind> {
        let wide = self.bump().text.as_ref() == "wstring";
        let mut bound = None;
        if self.eat("<") {
            self.templates += 1;
            let parsed = self
                .const_exp()
                .and_then(|bound| self.close_template().map(|()| bound));
            self.templates -= 1;
            bound = Some(parsed?);
        }
        Ok(TypeKind::String { wide, bound })
    }

    /// `<fixed_pt_type> ::= "fixed" "<" <positive_int_const> "," <positive_int_const> ">"`, also
    /// `<fixed_pt_const_type> ::= "fixed"`
    fn fixed_pt_type(&mut self) -> Parsed<TypeKind> {
        self.expect("fixed")?;
        if !self.eat("<") {
            return Ok(TypeKind::Fixed(None));
        }
        self.templates += 1;
        let parsed = self.fixed_arguments();
        self.templates -= 1;
        parsed
    }

    fn fixed_arguments(&mut self) -> Parsed<TypeKind> {
        let digits = self.const_exp()?;
        self.expect(",")?;
        let scale = self.const_exp()?;
        self.close_template()?;
        Ok(TypeKind::Fixed(Some(Box::new((digits, scale)))))
    }

    /// `<declarators> ::= <declarator> { "," <declarator> }*`
    pub(super) fn declarators(&mut self) -> Parsed<Vec<Declarator>> {
        self.declarator_list(Self::declarator)
    }

    /// `<simple_declarator> { "," <simple_declarator> }*`
    pub(super) fn simple_declarators(&mut self) -> Parsed<Vec<Declarator>> {
        self.declarator_list(|this| Ok(Declarator::new(this.identifier()?, Vec::new())))
    }

    fn declarator_list(
        &mut self,
        declarator: fn(&mut Self) -> Parsed<Declarator>,
    ) -> Parsed<Vec<Declarator>> {
        let mut declarators: Vec<Declarator> = Vec::new();
        loop {
            let above = match declarators.is_empty() {
                true => String::new(),
                false => self.doc(),
            };
            let mut next = declarator(self)?;
            next.comments.extend((!above.is_empty()).then(|| above.into()));
            declarators.push(next);
            self.comment_behind_declarators(&mut declarators);
            if !self.eat(",") {
                return Ok(declarators);
            }
            self.comment_behind_declarators(&mut declarators);
        }
    }

    /// Gives the comment behind the token consumed last to the last declarator, and to those before it on the
    /// same line that have none.
    pub(super) fn comment_behind_declarators(&self, declarators: &mut [Declarator]) {
        let Some(comment) = self.source.behind.get(&self.consumed) else {
            return;
        };
        let mut next: Option<Span> = None;
        for declarator in declarators.iter_mut().rev() {
            let place = declarator.name.span;
            let is_on_line = |next| !declarator.has_comment_behind && self.is_same_line(place, next);
            if !next.is_none_or(is_on_line) {
                break;
            }
            declarator.comments.push(Rc::clone(comment));
            declarator.has_comment_behind = true;
            next = Some(place);
        }
    }

    fn is_same_line(&self, first: Span, second: Span) -> bool {
        let text = self
            .source
            .files
            .get(first.file as usize)
            .map_or("", |file| &file.text);
        let between = text.get(first.end as usize..second.start as usize);
        first.file == second.file && between.is_none_or(|between| !between.contains('\n'))
    }

    /// `<declarator> ::= <simple_declarator> | <complex_declarator>`
    fn declarator(&mut self) -> Parsed<Declarator> {
        let name = self.identifier()?;
        let mut dims = Vec::new();
        // <fixed_array_size> ::= "[" <positive_int_const> "]"
        while self.eat("[") {
            dims.push(self.const_exp()?);
            self.expect("]")?;
        }
        Ok(Declarator::new(name, dims))
    }

    /// `<struct_type> ::= "struct" <identifier> [":" <scoped_name>] "{" <member_list> "}"`; with a base, it
    /// may have no member of its own (clause 7.4.13).
    fn struct_type(&mut self) -> Parsed<TypeKind> {
        self.expect("struct")?;
        let name = self.identifier()?;
        let base = match self.eat(":") {
            true => Some(self.scoped_name()?),
            false => None,
        };
        let (members, end) = self.member_list()?;
        self.not_empty(members.is_empty() && base.is_none(), "struct", &name);
        Ok(TypeKind::Struct(Struct {
            name,
            base,
            members,
            end,
        }))
    }

    /// `<except_dcl> ::= "exception" <identifier> "{" <member>* "}"`
    pub(super) fn except_dcl(&mut self) -> Parsed<DefinitionKind> {
        self.expect("exception")?;
        let name = self.identifier()?;
        let (members, end) = self.member_list()?;
        Ok(DefinitionKind::Exception { name, members, end })
    }

    fn not_empty(&mut self, empty: bool, what: &str, name: &Ident) {
        if empty && self.last_error.is_none_or(|at| at < name.at) {
            self.report(
                Diagnostic::new(
                    Code::EmptyBody,
                    name.span,
                    format!("{what} `{}` has no member", name.name),
                )
                .with_help("add a member; only an exception may be empty"),
            );
        }
    }

    /// `"{" <member>* "}"` and the index of the closing token.
    fn member_list(&mut self) -> Parsed<(Vec<Member>, usize)> {
        self.expect("{")?;
        let members = self.parts(Self::member)?;
        let end = self.at;
        self.expect("}")?;
        Ok((members, end))
    }

    /// The parts before `"}"`; after an error continues with the next one.
    fn parts<T>(&mut self, part: fn(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut parts = Vec::new();
        while !self.at("}") && !self.at_end() {
            if self.empty_declaration() {
                continue;
            }
            let first = self.at;
            match part(self) {
                Ok(part) => parts.push(part),
                Err(failed) if self.too_deep => return Err(failed),
                Err(_) => {
                    self.recover(first);
                    if self.at == first {
                        break;
                    }
                }
            }
        }
        Ok(parts)
    }

    /// `<member> ::= <type_spec> <declarators> ";"`
    pub(super) fn member(&mut self) -> Parsed<Member> {
        let doc = self.doc();
        let annotations = self.member_annotations()?;
        let ty = self.type_spec()?;
        let mut declarators = self.declarators()?;
        self.semicolon("this member");
        self.comment_behind_declarators(&mut declarators);
        Ok(Member {
            doc,
            annotations,
            ty,
            declarators,
        })
    }

    /// `<union_type> ::= "union" <identifier> "switch" "(" <switch_type_spec> ")" "{" <switch_body> "}"`
    fn union_type(&mut self) -> Parsed<TypeKind> {
        self.expect("union")?;
        let name = self.identifier()?;
        self.expect("switch")?;
        self.expect("(")?;
        let discriminator = self.type_spec()?;
        self.expect(")")?;
        self.expect("{")?;
        let cases = self.parts(Self::case)?;
        let end = self.at;
        self.expect("}")?;
        self.not_empty(cases.is_empty(), "union", &name);
        Ok(TypeKind::Union(Box::new(Union {
            name,
            discriminator,
            cases,
            end,
        })))
    }

    /// `<case> ::= <case_label>+ <element_spec> ";"`
    fn case(&mut self) -> Parsed<Case> {
        let mut doc = self.doc();
        let mut labels = Vec::new();
        loop {
            if self.at("default") {
                labels.push(CaseLabel::Default(self.bump().span));
            } else if self.eat("case") {
                labels.push(CaseLabel::Value(self.const_exp()?));
            } else if labels.is_empty() {
                return self.unexpected("`case` or `default`");
            } else {
                break;
            }
            self.expect(":")?;
            doc = self.with_comment_behind(doc);
        }
        // <element_spec> ::= <type_spec> <declarator>
        let own_doc = self.doc();
        let annotations = self.member_annotations()?;
        let ty = self.type_spec()?;
        let declarators = vec![self.declarator()?];
        self.semicolon("this case");
        let doc = self.with_comment_behind(if own_doc.is_empty() { doc } else { own_doc });
        Ok(Case {
            labels,
            element: Member {
                doc,
                annotations,
                ty,
                declarators,
            },
        })
    }

    /// `<enum_type> ::= "enum" <identifier> "{" <enumerator> { "," <enumerator> }* "}"`
    fn enum_type(&mut self) -> Parsed<TypeKind> {
        self.expect("enum")?;
        let name = self.identifier()?;
        let enumerators = self.listed_names()?;
        Ok(TypeKind::Enum(Enum { name, enumerators }))
    }

    /// `"{" <identifier> { "," <identifier> }* "}"`
    pub(super) fn listed_names(&mut self) -> Parsed<Vec<Listed>> {
        self.expect("{")?;
        let mut listed = Vec::new();
        loop {
            let (position, doc) = (self.annotated_number("position"), self.doc());
            let name = self.identifier()?;
            let doc = self.with_comment_behind(doc);
            let is_last = !self.eat(",");
            let doc = if is_last {
                doc
            } else {
                self.with_comment_behind(doc)
            };
            listed.push(Listed { name, doc, position });
            if is_last {
                break;
            }
        }
        if !self.at("}") {
            return self.unexpected("`,` or `}`");
        }
        self.bump();
        Ok(listed)
    }
}
