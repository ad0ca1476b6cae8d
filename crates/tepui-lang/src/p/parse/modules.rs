//! Modules and tests.

use super::*;
use crate::p::syntax::{ModuleExpression, ModuleForm, Parametric, Test};

impl Parser<'_, '_> {
    pub(super) fn module(&mut self) -> Fallible<()> {
        self.next();
        let name = self.name("the name of a module")?;
        self.expect(Kind::Becomes, "`=` and what it is made of")?;
        let module = self.module_expression()?;
        self.semicolon()?;
        self.project.modules.push((name, module));
        Ok(())
    }

    /// `test t [main=M]: m;`, or `test t: main M in m;` in the old dialect.
    pub(super) fn test(&mut self) -> Fallible<()> {
        let token = self.next();
        let implementation = token.text == "implementation";
        if implementation {
            self.particular(false, "`implementation`", token.place);
        }
        let parametric = if self.now().is("param") && self.peek().kind == Kind::Open {
            let place = self.now().place;
            self.particular(false, "a parametric test", place);
            Some(self.parametric()?)
        } else {
            None
        };
        let name = self.name("the name of a test")?;
        let mut main = None;
        if self.now().kind == Kind::OpenBracket {
            let place = self.next().place;
            self.particular(false, "`[main=..]`", place);
            self.expect_word("main")?;
            self.expect(Kind::Becomes, "`=` and a machine")?;
            main = Some(self.name("a machine")?);
            self.expect(Kind::CloseBracket, "`]`")?;
        }
        self.expect(Kind::Colon, "`:` and a module")?;
        let module = self.module_expression()?;
        let refines = self.now().is("refines").then(|| self.now().place);
        if refines.is_some() {
            self.next();
            self.module_expression()?;
        }
        self.semicolon()?;
        self.project.tests.push(Test { name, main, module, implementation, refines, parametric });
        Ok(())
    }

    /// `param (x in [1, 2], b in [true, false]) assume (e) (2 wise)`.
    fn parametric(&mut self) -> Fallible<Parametric> {
        self.next();
        self.expect(Kind::Open, "`(`")?;
        let mut values = Vec::new();
        loop {
            let name = self.name("a parameter")?;
            self.expect_word("in")?;
            self.expect(Kind::OpenBracket, "`[` and values")?;
            let list = self.expressions_before(Kind::CloseBracket)?;
            self.expect(Kind::CloseBracket, "`,` or `]`")?;
            values.push((name, list));
            if !self.take(Kind::Comma) {
                break;
            }
        }
        self.expect(Kind::Close, "`,` or `)`")?;
        let mut assume = None;
        if self.word("assume") {
            assume = Some(self.expression()?);
        }
        let mut wise = None;
        if self.now().kind == Kind::Open {
            let place = self.next().place;
            let count = if self.word("pairwise") { 2 } else { self.integer("a number")? };
            if self.now().is("wise") {
                self.next();
            }
            wise = Some((count as u32, place.to(self.now().place)));
            self.expect(Kind::Close, "`)`")?;
        }
        Ok(Parametric { values, assume, wise })
    }

    fn module_expression(&mut self) -> Fallible<ModuleExpression> {
        self.nested(|parser| {
            let token = parser.now();
            let form = match token.text {
                "(" => {
                    parser.next();
                    let inner = parser.module_expression()?;
                    parser.expect(Kind::Close, "`)`")?;
                    inner.form
                }
                "{" => parser.bindings()?,
                "union" | "compose" if parser.peek().kind != Kind::Semicolon => {
                    parser.next();
                    let mut parts = vec![parser.module_expression()?];
                    while parser.take(Kind::Comma) {
                        parts.push(parser.module_expression()?);
                    }
                    ModuleForm::Union(parts)
                }
                "assert" => {
                    parser.next();
                    let specs = parser.names()?;
                    parser.expect_word("in")?;
                    ModuleForm::Assert(specs, Box::new(parser.module_expression()?))
                }
                "main" => {
                    parser.next();
                    let main = parser.name("a machine")?;
                    parser.expect_word("in")?;
                    ModuleForm::Main(main, Box::new(parser.module_expression()?))
                }
                "hidee" | "hidei" | "rename" => parser.hiding()?,
                _ => ModuleForm::Named(parser.name("a module")?.text),
            };
            Ok(ModuleExpression { place: token.place.to(parser.before().place), form })
        })
    }

    /// `{ A, B -> C }`.
    fn bindings(&mut self) -> Fallible<ModuleForm> {
        self.next();
        let mut bindings = Vec::new();
        while self.now().kind != Kind::CloseBrace {
            let left = self.name("a machine")?;
            let right = if self.take(Kind::Arrow) { Some(self.name("a machine")?) } else { None };
            bindings.push((left, right));
            if !self.take(Kind::Comma) {
                break;
            }
        }
        self.expect(Kind::CloseBrace, "`,` or `}`")?;
        Ok(ModuleForm::Bindings(bindings))
    }

    /// What is read and not supported.
    fn hiding(&mut self) -> Fallible<ModuleForm> {
        let form = match self.next().text {
            "hidee" => ModuleForm::Unsupported("hidee"),
            "hidei" => ModuleForm::Unsupported("hidei"),
            _ => ModuleForm::Unsupported("rename"),
        };
        while !self.now().is("in") && !matches!(self.now().kind, Kind::Semicolon | Kind::End) {
            self.next();
        }
        self.expect_word("in")?;
        self.module_expression()?;
        Ok(form)
    }
}
