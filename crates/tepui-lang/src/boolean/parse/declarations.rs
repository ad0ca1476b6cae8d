//! Declarations: constants, kinds, records, variables, and the heads of procedures.

use super::super::syntax::{Access, Declaration, Definition, Init, KindName, Operation};
use super::*;

impl Parser<'_, '_> {
    pub(super) fn item(&mut self, module: &mut Module) -> Fallible<()> {
        let braces = self.dialect.has_braces();
        match self.now().text {
            "decl" => self.declaration(&mut module.enumerations, &mut module.shared),
            "lock" if braces => self.declaration(&mut module.enumerations, &mut module.shared),
            "enum" if braces => {
                self.next();
                let name = self.name("the name of the enumeration")?;
                let values = self.enumerated()?;
                self.take(Kind::Semicolon);
                module.enumerations.push((name, values));
                Ok(())
            }
            "const" | "kind" | "record" if braces => {
                let definition = self.definition(&mut module.enumerations)?;
                module.definitions.push(definition);
                Ok(())
            }
            "semaphore" | "barrier" | "condition" if braces => self.synchronisation(module),
            // A kind may have this name, too, and then a procedure follows that returns it.
            "exclusive" if braces && matches!(self.tokens[self.at + 2].kind, Kind::Semicolon | Kind::Comma) => {
                self.next();
                module.exclusive.push(self.label_name()?);
                while self.take(Kind::Comma) {
                    module.exclusive.push(self.label_name()?);
                }
                self.semicolon()
            }
            "tasks" if braces && self.tokens[self.at + 2].kind == Kind::Semicolon => {
                let first = self.next();
                let order = self.word_as_name();
                if module.order.replace(order).is_some() {
                    return Err(Diagnostic::error(0, first.span(), "the order of tasks is given twice", "again here"));
                }
                self.semicolon()
            }
            _ if matches!(self.now().kind, Kind::Word | Kind::Open)
                || (braces && matches!(self.now().kind, Kind::Number | Kind::Minus)) =>
            {
                let procedure = self.procedure(module)?;
                module.procedures.push(procedure);
                Ok(())
            }
            _ => Err(self.unexpected("a declaration or a procedure")),
        }
    }

    fn enumerated(&mut self) -> Fallible<Vec<Name>> {
        self.expect(Kind::OpenBrace, "`{`")?;
        let values = self.names("a value")?;
        self.expect(Kind::CloseBrace, "`}` after the values")?;
        Ok(values)
    }

    /// `const N = 4;`, `kind K = 0..N;` or `record R { a; b: K; }`.
    fn definition(&mut self, enumerations: &mut Vec<(Name, Vec<Name>)>) -> Fallible<Definition> {
        let word = self.next().text;
        let name = self.name("a name")?;
        if word == "record" {
            self.expect(Kind::OpenBrace, "`{` and the fields")?;
            let mut fields = Vec::new();
            while !self.take(Kind::CloseBrace) {
                while !self.declared(enumerations, &mut fields)? {}
                self.semicolon()?;
            }
            self.take(Kind::Semicolon);
            return Ok(Definition::Record(name, fields));
        }
        self.expect(Kind::Equal, "`=`")?;
        let definition = match word {
            "const" => Definition::Constant(name, self.arithmetic()?),
            _ => Definition::Kind(name, self.kind()?),
        };
        self.semicolon()?;
        Ok(definition)
    }

    /// `semaphore s := 2;`, `barrier b(3);` or `condition c;`, each with dimensions if it is an array of them.
    fn synchronisation(&mut self, module: &mut Module) -> Fallible<()> {
        let word = self.next().text;
        loop {
            let (name, dimensions) = self.declared_name("a name")?;
            match word {
                "condition" => module.conditions.push((name, dimensions)),
                "barrier" => {
                    self.expect(Kind::Open, "`(` and how many threads meet here")?;
                    let kind = KindName::Barrier(self.expression()?);
                    self.expect(Kind::Close, "`)`")?;
                    module.shared.push(Declaration { name, dimensions, kind, init: None });
                }
                _ => {
                    let number =
                        |number: i64| Expression { span: name.span.clone(), operation: Operation::Number(number) };
                    let kind = KindName::Range(number(0), number(255));
                    let init = if self.take(Kind::Becomes) { Some(self.init()?) } else { None };
                    module.shared.push(Declaration { name, dimensions, kind, init });
                }
            }
            if !self.take(Kind::Comma) {
                return self.semicolon();
            }
        }
    }

    /// `decl x, y : KIND := e;` or `lock l;`.
    pub(super) fn declaration(
        &mut self,
        enumerations: &mut Vec<(Name, Vec<Name>)>,
        into: &mut Vec<Declaration>,
    ) -> Fallible<()> {
        if self.next().text != "lock" {
            while !self.declared(enumerations, into)? {}
            return self.semicolon();
        }
        loop {
            let (name, dimensions) = self.declared_name("the name of a lock")?;
            if !matches!(self.now().kind, Kind::Comma | Kind::Semicolon) {
                return Err(self.unexpected("`;`").hint("a lock is free at first, and has no kind"));
            }
            into.push(Declaration { name, dimensions, kind: KindName::Bool, init: None });
            if !self.take(Kind::Comma) {
                return self.semicolon();
            }
        }
    }

    /// A name and dimensions.
    fn declared_name(&mut self, what: &str) -> Fallible<(Name, Vec<Expression>)> {
        let name = self.name(what)?;
        let mut dimensions = Vec::new();
        while self.dialect.has_braces() && self.take(Kind::OpenBracket) {
            dimensions.push(self.expression()?);
            self.expect(Kind::CloseBracket, "`]`")?;
        }
        Ok((name, dimensions))
    }

    /// Variables of one kind, with values if there are any. Whether that is all: after a kind or a value others may follow.
    fn declared(&mut self, enumerations: &mut Vec<(Name, Vec<Name>)>, into: &mut Vec<Declaration>) -> Fallible<bool> {
        let mut names = vec![self.declared_name("the name of a variable")?];
        while self.take(Kind::Comma) {
            names.push(self.declared_name("the name of a variable")?);
        }
        let mut kind = None;
        if self.take(Kind::Colon) {
            if self.now().text == "enum" {
                let mut name = self.word_as_name();
                name.text = format!("{}$", names[0].0.text);
                enumerations.push((name.clone(), self.enumerated()?));
                kind = Some(KindName::Named(name));
            } else {
                kind = Some(self.kind()?);
            }
        }
        let inits = if self.take(Kind::Becomes) { self.inits(names.len())? } else { Vec::new() };
        let last = (kind.is_none() && inits.is_empty()) || !self.take(Kind::Comma);
        self.require_fitting(&names, &inits);
        let kind = kind.unwrap_or(KindName::Bool);
        for (index, (name, dimensions)) in names.into_iter().enumerate() {
            let init = if inits.len() > 1 { inits.get(index) } else { inits.first() };
            into.push(Declaration { name, dimensions, kind: kind.clone(), init: init.cloned() });
        }
        Ok(last)
    }

    /// One value for all variables, or as many as there are. What follows a comma may be another declaration.
    fn inits(&mut self, names: usize) -> Fallible<Vec<Init>> {
        let mut inits = vec![self.init()?];
        while self.now().kind == Kind::Comma && !self.another_declaration(names, inits.len()) {
            self.next();
            inits.push(self.init()?);
        }
        Ok(inits)
    }

    /// Whether the comma here is followed by the name of another variable rather than by another value.
    fn another_declaration(&self, names: usize, values: usize) -> bool {
        let mut ahead = self.tokens[self.at + 1..].iter();
        let named = ahead.next().is_some_and(|token| token.kind == Kind::Word && !is_keyword(token.text, self.dialect));
        let mut nested = 0_usize;
        let after = ahead.find(|token| {
            match token.kind {
                Kind::OpenBracket => nested += 1,
                Kind::CloseBracket => nested = nested.saturating_sub(1),
                Kind::End => return true,
                kind => return nested == 0 && kind != Kind::CloseBracket,
            }
            false
        });
        let declares = after.is_some_and(|token| matches!(token.kind, Kind::Becomes | Kind::Colon));
        named && (declares || values >= names && names == 1)
    }

    fn require_fitting(&mut self, names: &[(Name, Vec<Expression>)], inits: &[Init]) {
        if inits.len() < 2 || inits.len() == names.len() {
            return;
        }
        let span = inits[0].span().start..inits[inits.len() - 1].span().end;
        let variables = if names.len() == 1 { "1 variable".to_owned() } else { format!("{} variables", names.len()) };
        let message = format!("{variables} and {} values", inits.len());
        let hint = "values come after all names: `decl x, y := 1, 0;`; give one value for all, or one for each";
        self.sink.push(Diagnostic::error(0, span, message, "these values").hint(hint));
    }

    /// `e`, or `[e, f]` for an array.
    fn init(&mut self) -> Fallible<Init> {
        let start = self.now().start;
        if !self.dialect.has_braces() || !self.take(Kind::OpenBracket) {
            return Ok(Init::One(self.expression()?));
        }
        self.depth += 1;
        let found = if self.depth > DEEPEST { Err(self.too_deep()) } else { self.listed() };
        self.depth -= 1;
        let found = found?;
        let end = self.expect(Kind::CloseBracket, "`]`")?.span().end;
        Ok(Init::List(found, start..end))
    }

    fn listed(&mut self) -> Fallible<Vec<Init>> {
        let mut found = vec![self.init()?];
        while self.take(Kind::Comma) {
            found.push(self.init()?);
        }
        Ok(found)
    }

    /// `bool`, a name, or the bounds of a range.
    pub(super) fn kind(&mut self) -> Fallible<KindName> {
        if self.word("bool") {
            return Ok(KindName::Bool);
        }
        let (now, after) = (self.now(), self.tokens[(self.at + 1).min(self.tokens.len() - 1)].kind);
        if now.text == "int" && self.dialect.has_braces() {
            let error = Diagnostic::error(0, now.span(), "`int` is not supported", "all integers");
            return Err(error.hint("a number has a range: `decl n: 0..7;`"));
        }
        let range = now.kind != Kind::Word || after == Kind::DotDot || after.is_arithmetic();
        if range && self.dialect.has_braces() && now.kind != Kind::Semicolon {
            let (first, last) = self.range()?;
            return Ok(KindName::Range(first, last));
        }
        Ok(KindName::Named(self.name("`bool` or an enumeration")?))
    }

    /// `0..N-1`.
    pub(super) fn range(&mut self) -> Fallible<(Expression, Expression)> {
        let first = self.arithmetic()?;
        self.expect(Kind::DotDot, "`..` and the last number")?;
        Ok((first, self.arithmetic()?))
    }

    /// What a procedure returns: `void`, `bool`, `bool<2>`, `0..3` or `(bool, Id)`.
    pub(super) fn results(&mut self) -> Fallible<Vec<KindName>> {
        let word = self.now();
        if word.text == "dfs" && !self.dialect.has_braces() {
            return Err(self.unsupported(word, "a procedure that is marked `dfs`"));
        }
        if self.word("void") {
            return Ok(Vec::new());
        }
        if self.dialect.has_braces() && self.take(Kind::Open) {
            let mut results = vec![self.kind()?];
            while self.take(Kind::Comma) {
                results.push(self.kind()?);
            }
            self.expect(Kind::Close, "`)` after the results")?;
            return Ok(results);
        }
        let kind = self.kind()?;
        let mut count = 1;
        if self.take(Kind::Less) {
            let number = self.expect(Kind::Number, "how many results there are")?;
            let parsed = number.text.parse().ok().filter(|&count| count <= 64);
            count = parsed.ok_or_else(|| Diagnostic::error(0, number.span(), "more than 64 results", "so many"))?;
            self.expect(Kind::Greater, "`>`")?;
        }
        Ok(vec![kind; count])
    }

    /// `x: Id, a[4]: 0..7)`.
    pub(super) fn parameters(&mut self) -> Fallible<Vec<Declaration>> {
        let mut parameters = Vec::new();
        while self.now().kind != Kind::Close {
            let (name, dimensions) = self.declared_name("the name of a parameter")?;
            let kind = if self.take(Kind::Colon) { self.kind()? } else { KindName::Bool };
            parameters.push(Declaration { name, dimensions, kind, init: None });
            if !self.take(Kind::Comma) {
                break;
            }
        }
        self.expect(Kind::Close, "`)` after the parameters")?;
        Ok(parameters)
    }

    pub(super) fn paths(&mut self, what: &str) -> Fallible<Vec<Path>> {
        let mut paths = vec![self.path(what)?];
        while self.take(Kind::Comma) {
            paths.push(self.path(what)?);
        }
        Ok(paths)
    }

    /// A variable, an element or a field.
    pub(in crate::boolean) fn path(&mut self, what: &str) -> Fallible<Path> {
        let name = self.name(what)?;
        let (mut steps, start) = (Vec::new(), name.span.start);
        while self.dialect.has_braces() {
            if self.take(Kind::OpenBracket) {
                steps.push(Access::Index(self.expression()?));
                self.expect(Kind::CloseBracket, "`]`")?;
            } else if self.take(Kind::Dot) {
                steps.push(Access::Field(self.name("a field")?));
            } else {
                break;
            }
        }
        let end = self.tokens[self.at - 1].span().end;
        Ok(Path { name, steps, span: start..end })
    }
}

impl Init {
    /// Where it stands.
    pub(in crate::boolean) fn span(&self) -> std::ops::Range<usize> {
        match self {
            Self::One(expression) => expression.span.clone(),
            Self::List(_, span) => span.clone(),
        }
    }
}
