//! Reading: statements.

use super::lexer::Token;
use super::parser::{Parser, Read};
use super::tree::{Access, BlockId, Case, Expr, ExprId, Place, Stmt, StmtId, What};

/// Words that begin a statement, and so are no variables there.
const WORDS: [&str; 17] = [
    "if", "while", "foreach", "break", "continue", "return", "new", "send", "announce", "raise", "goto", "receive",
    "assert", "assume", "print", "pop", "var",
];

impl Parser {
    /// What stands between braces.
    pub(super) fn body(&mut self) -> Read<BlockId> {
        self.want("{")?;
        let mut statements = Vec::new();
        while !self.sign("}") {
            if let Some(statement) = self.statement()? {
                statements.push(statement);
            }
        }
        Ok(self.new_block(statements))
    }

    /// A statement as a block of its own.
    fn branch(&mut self) -> Read<BlockId> {
        if self.is_sign("{") {
            return self.body();
        }
        self.uses("block without braces");
        let statement = self.statement()?;
        Ok(self.new_block(statement.into_iter().collect()))
    }

    fn made(&mut self, what: What, exprs: Vec<ExprId>) -> StmtId {
        let mut effects = Vec::new();
        exprs.iter().for_each(|expr| self.program.effects(*expr, &mut effects));
        self.program.stmts.push(Stmt { what, exprs, effects });
        self.program.stmts.len() - 1
    }

    fn statement(&mut self) -> Read<Option<StmtId>> {
        if self.is_sign("{") {
            self.uses("block");
            let block = self.body()?;
            return Ok(Some(self.made(What::Block(block), Vec::new())));
        }
        if self.sign(";") {
            self.uses("empty statement");
            return Ok(None);
        }
        let Token::Word(word) = self.peek().clone() else { return self.fail("a statement") };
        let special = WORDS.contains(&word.as_str()) && (self.program.old || word != "pop");
        let statement = if special { self.special_statement(&word) } else { self.plain_statement() };
        statement.map(Some)
    }

    fn special_statement(&mut self, word: &str) -> Read<StmtId> {
        if word == "new" {
            self.uses("new as a statement");
            let expr = self.expression()?;
            self.want(";")?;
            return Ok(self.made(What::Do, vec![expr]));
        }
        self.next();
        match word {
            "if" => self.if_statement(),
            "while" => self.while_statement(),
            "foreach" => self.foreach(),
            "receive" => self.receive(),
            "var" => {
                self.uses("local variable");
                let names = self.names()?;
                self.want(":")?;
                let of = self.a_type()?;
                self.want(";")?;
                Ok(self.made(What::Declare(names, of), Vec::new()))
            }
            "goto" => {
                let state = self.name()?;
                let arguments = self.arguments("goto")?;
                Ok(self.made(What::Goto(state), arguments))
            }
            _ => self.listed_statement(word),
        }
    }

    /// Statements that are a word and expressions.
    fn listed_statement(&mut self, word: &str) -> Read<StmtId> {
        let (what, least) = listed(word);
        if word == "pop" {
            self.uses("old: pop");
        }
        let mut exprs = Vec::new();
        for number in 0..least {
            if number > 0 {
                self.want(",")?;
            }
            exprs.push(self.expression()?);
        }
        if word == "return" && !self.is_sign(";") {
            exprs.push(self.expression()?);
            self.uses("return of a value");
        }
        let mut rest = self.arguments(word)?;
        if matches!(word, "assert" | "assume") {
            // A message: nothing depends on it.
            rest.clear();
        }
        exprs.extend(rest);
        Ok(self.made(what, exprs))
    }

    /// Expressions after commas, up to the semicolon.
    fn arguments(&mut self, word: &str) -> Read<Vec<ExprId>> {
        let mut all = Vec::new();
        while self.sign(",") {
            all.push(self.expression()?);
        }
        self.uses(&format!("{word} with {}", ["nothing", "one value", "several values"][all.len().min(2)]));
        self.want(";")?;
        Ok(all)
    }

    fn if_statement(&mut self) -> Read<StmtId> {
        self.want("(")?;
        let condition = self.expression()?;
        self.want(")")?;
        let yes = self.branch()?;
        let no = if self.word("else") { Some(self.branch()?) } else { None };
        self.uses(if no.is_some() { "else" } else { "no else" });
        Ok(self.made(What::If(yes, no), vec![condition]))
    }

    fn while_statement(&mut self) -> Read<StmtId> {
        self.uses("while");
        self.want("(")?;
        let condition = self.expression()?;
        self.want(")")?;
        let body = self.branch()?;
        Ok(self.made(What::While(body), vec![condition]))
    }

    fn foreach(&mut self) -> Read<StmtId> {
        self.uses("foreach");
        self.program.ordered = true;
        self.want("(")?;
        let variable = self.name()?;
        self.want_word("in")?;
        let collection = self.expression()?;
        self.want(")")?;
        let body = self.branch()?;
        Ok(self.made(What::Foreach(variable, body), vec![collection]))
    }

    fn receive(&mut self) -> Read<StmtId> {
        self.want("{")?;
        let mut cases = Vec::new();
        while !self.sign("}") {
            self.want_word("case")?;
            let events = self.names()?;
            self.uses(if events.len() > 1 { "case of several events" } else { "case of an event" });
            events.iter().for_each(|event| self.special(*event, "case"));
            self.want(":")?;
            let parameter = if self.sign("(") { self.parameters()?.first().copied() } else { None };
            self.uses(if parameter.is_some() { "case with parameter" } else { "case without parameter" });
            let body = self.body()?;
            cases.push(Case { events, parameter, body });
        }
        self.uses(if cases.len() > 1 { "receive with several cases" } else { "receive with a case" });
        Ok(self.made(What::Receive(cases), Vec::new()))
    }

    /// A call, an assignment, an insertion or a removal.
    fn plain_statement(&mut self) -> Read<StmtId> {
        let start = self.expression_place()?;
        if matches!(self.program.exprs[start], Expr::Call(..)) {
            self.uses("call as a statement");
            self.want(";")?;
            return Ok(self.made(What::Do, vec![start]));
        }
        let mut exprs = Vec::new();
        let place = self.place(start, &mut exprs)?;
        if self.sign("=") {
            self.uses("assignment");
            exprs.push(self.expression()?);
            self.want(";")?;
            return Ok(self.made(What::Assign(place), exprs));
        }
        if self.sign("-=") {
            self.uses("removal");
            exprs.push(self.expression()?);
            self.want(";")?;
            return Ok(self.made(What::Remove(place), exprs));
        }
        self.want("+=")?;
        self.want("(")?;
        exprs.push(self.expression()?);
        let two = self.sign(",");
        if two {
            exprs.push(self.expression()?);
        }
        self.uses(if two { "insertion with a place" } else { "insertion into a set" });
        self.want(")")?;
        self.want(";")?;
        Ok(self.made(if two { What::Insert(place) } else { What::Add(place) }, exprs))
    }

    /// An expression as a place; its indices are appended.
    fn place(&mut self, of: ExprId, indices: &mut Vec<ExprId>) -> Read<Place> {
        let (inner, access) = match self.program.exprs[of] {
            Expr::Name(variable) => return Ok(Place { variable, way: Vec::new() }),
            Expr::Field(inner, name) => (inner, Access::Field(name)),
            Expr::Position(inner, position) => (inner, Access::Position(position)),
            Expr::Index(inner, _) => (inner, Access::Index),
            _ => return self.fail("something that can be assigned to"),
        };
        let mut place = self.place(inner, indices)?;
        if let Expr::Index(_, index) = self.program.exprs[of] {
            indices.push(index);
        }
        self.uses(match access {
            Access::Field(_) => "field as a place",
            Access::Position(_) => "position as a place",
            Access::Index => "element as a place",
        });
        place.way.push(access);
        Ok(place)
    }
}

/// What a word says, and how many expressions it needs.
fn listed(word: &str) -> (What, usize) {
    match word {
        "break" => (What::Break, 0),
        "continue" => (What::Continue, 0),
        "return" => (What::Return, 0),
        "send" => (What::Send, 2),
        "announce" => (What::Announce, 1),
        "raise" => (What::Raise, 1),
        "assert" => (What::Assert, 1),
        "assume" => (What::Assume, 1),
        "print" => (What::Print, 1),
        _ => (What::Pop, 0),
    }
}
