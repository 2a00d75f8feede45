//! Constant declarations and expressions (clause 7.4.3).

use super::{Parsed, Parser};
use crate::ast::{DefinitionKind, Expr, Literal, Operator, Step, StepKind, TypeKind, TypeSpec};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::lexer::Kind;

impl Parser<'_> {
    /// `<const_dcl> ::= "const" <const_type> <identifier> "=" <const_exp>`
    pub(super) fn const_dcl(&mut self) -> Parsed<DefinitionKind> {
        self.expect("const")?;
        let ty = self.const_type()?;
        if matches!(ty.kind, TypeKind::Fixed(Some(_))) {
            let message = "the type of a constant is `fixed` without digits, or has a name";
            self.report(
                Diagnostic::new(Code::AnonymousType, ty.span, message).with_help(
                    "write `const fixed`, whose digits are those of the value, or use a `typedef`",
                ),
            );
        }
        let name = self.identifier()?;
        self.expect("=")?;
        let value = self.const_exp()?;
        Ok(DefinitionKind::Constant { name, ty, value })
    }

    /// `<const_type>`; which types may be constant is checked when they are resolved.
    pub(super) fn const_type(&mut self) -> Parsed<TypeSpec> {
        self.type_spec()
    }

    /// `<const_exp> ::= <or_expr>`
    pub(super) fn const_exp(&mut self) -> Parsed<Expr> {
        let first = self.span();
        let mut steps = Vec::new();
        self.binary_expr(0, &mut steps)?;
        Ok(Expr {
            steps,
            span: first.to(self.previous()),
        })
    }

    /// `<or_expr>`, `<xor_expr>`, `<and_expr>`, `<shift_expr>`, `<add_expr>` and `<mult_expr>`, by
    /// precedence: the operators that bind more tightly than `lowest`.
    fn binary_expr(&mut self, lowest: u8, steps: &mut Vec<Step>) -> Parsed<()> {
        self.unary_expr(steps)?;
        while let Some((operator, precedence)) =
            self.operator().filter(|(_, precedence)| *precedence > lowest)
        {
            let span = self.bump().span;
            self.binary_expr(precedence, steps)?;
            steps.push(Step {
                span,
                kind: StepKind::Binary(operator),
            });
        }
        Ok(())
    }

    fn operator(&self) -> Option<(Operator, u8)> {
        if self.token().kind != Kind::Punctuation {
            return None;
        }
        Some(match &*self.token().text {
            "|" => (Operator::Or, 1),
            "^" => (Operator::Xor, 2),
            "&" => (Operator::And, 3),
            "<<" => (Operator::ShiftLeft, 4),
            // `sequence<sequence<long, 4>>` closes two types.
            ">>" if self.templates < 2 => (Operator::ShiftRight, 4),
            "+" => (Operator::Add, 5),
            "-" => (Operator::Subtract, 5),
            "*" => (Operator::Multiply, 6),
            "/" => (Operator::Divide, 6),
            "%" => (Operator::Remainder, 6),
            _ => return None,
        })
    }

    /// `<unary_expr> ::= [ "-" | "+" | "~" ] <primary_expr>`
    fn unary_expr(&mut self, steps: &mut Vec<Step>) -> Parsed<()> {
        let operator = self.at_any(&["-", "+", "~"]).then(|| self.bump());
        self.primary_expr(steps)?;
        if let Some(token) = operator {
            let operator = token.text.chars().next().unwrap_or('+');
            steps.push(Step {
                span: token.span,
                kind: StepKind::Unary(operator),
            });
        }
        Ok(())
    }

    /// `<primary_expr> ::= <scoped_name> | <literal> | "(" <const_exp> ")"`
    fn primary_expr(&mut self, steps: &mut Vec<Step>) -> Parsed<()> {
        if self.eat("(") {
            // Inside parentheses `>>` is a shift.
            let templates = std::mem::take(&mut self.templates);
            let inner = self.nested(|this| this.binary_expr(0, steps));
            self.templates = templates;
            inner?;
            return self.expect(")");
        }
        let span = self.span();
        let kind = match self.token().kind {
            Kind::Word if self.at_any(&["TRUE", "FALSE"]) => {
                StepKind::Literal(Literal::Boolean(self.bump().text.as_ref() == "TRUE"))
            }
            Kind::Word if self.at_type() => StepKind::Name(self.scoped_name()?),
            Kind::Punctuation if self.at("::") => StepKind::Name(self.scoped_name()?),
            Kind::Number | Kind::Char | Kind::WideChar | Kind::String | Kind::WideString => {
                StepKind::Literal(self.literal())
            }
            _ => return self.unexpected("a constant expression"),
        };
        steps.push(Step {
            span: span.to(self.previous()),
            kind,
        });
        Ok(())
    }
}
