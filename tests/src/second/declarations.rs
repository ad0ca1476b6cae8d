//! Declarations: of variables, of what variables take, and of what procedures return.

use super::lexer::Token;
use super::parser::{Parsed, Parser};
use super::tree::{Definition, Expression, Initial, Kind, Place, Tree, Variable};

/// Signs after a name that make it the beginning of a range.
const IN_RANGES: [&str; 6] = ["..", "+", "-", "*", "/", "%"];

impl Parser {
    /// What Tepui's own dialect has outside of procedures, if something of it comes next.
    pub(super) fn definition(&mut self, tree: &mut Tree) -> Parsed<bool> {
        let Token::Word(word) = self.token().clone() else { return Ok(false) };
        match word.as_str() {
            "lock" | "semaphore" | "barrier" | "condition" => tree.shared.extend(self.declaration(&word)?),
            "enum" => {
                self.place += 1;
                tree.enumerations.push(self.enumeration()?);
            }
            "const" => tree.definitions.push(self.constant()?),
            "kind" => tree.definitions.push(self.kind_definition()?),
            "record" => tree.definitions.push(self.record()?),
            "exclusive" if self.is_list() => {
                self.place += 1;
                tree.exclusive.push(self.label()?);
                while self.takes(",") {
                    tree.exclusive.push(self.label()?);
                    self.count("exclusive with several");
                }
                self.expect(";")?;
                self.count("exclusive");
            }
            "tasks" if matches!(self.tokens_from(2), Some(Token::Sign(";"))) => {
                self.place += 1;
                let order = self.name()?;
                if tree.tasks.is_some() || !["bag", "fifo", "lifo"].contains(&order.as_str()) {
                    return Err(format!("{order} is no order of tasks, or it is said twice"));
                }
                self.expect(";")?;
                self.count(&format!("tasks {order}"));
                tree.tasks = Some(order);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Whether the word at hand begins a list of names, and no procedure.
    fn is_list(&self) -> bool {
        matches!(self.tokens_from(2), Some(Token::Sign(";" | ",")))
    }

    fn constant(&mut self) -> Parsed<Definition> {
        self.place += 1;
        let name = self.name()?;
        self.expect("=")?;
        let value = self.expression()?;
        self.expect(";")?;
        self.count(if matches!(value, Expression::Number(_)) { "const" } else { "const that is computed" });
        Ok(Definition::Constant(name, value))
    }

    fn kind_definition(&mut self) -> Parsed<Definition> {
        self.place += 1;
        let name = self.name()?;
        self.expect("=")?;
        let kind = self.kind("kind")?;
        self.expect(";")?;
        self.count("kind");
        let sort = self.sort(&kind);
        self.sorts.insert(name.clone(), sort);
        Ok(Definition::Kind(name, kind))
    }

    /// What a kind is called in counts.
    fn sort(&self, kind: &Kind) -> &'static str {
        match kind {
            Kind::Boolean => "a Boolean",
            Kind::Named(name) => self.sorts.get(name).copied().unwrap_or("an enumeration"),
            Kind::Range(..) | Kind::Semaphore => "a range",
            Kind::Barrier(_) => "a barrier",
            Kind::Condition => "a condition",
        }
    }

    fn record(&mut self) -> Parsed<Definition> {
        self.place += 1;
        let name = self.name()?;
        self.expect("{")?;
        let mut fields = Vec::new();
        while !self.takes("}") {
            let (group, _) = self.group("field", &Kind::Boolean)?;
            if group.len() > 1 {
                self.count("several fields at once");
            }
            self.expect(";")?;
            fields.extend(group);
        }
        self.count("record");
        self.sorts.insert(name.clone(), "a record");
        Ok(Definition::Record(name, fields))
    }

    /// A declaration that begins with `decl`, or with the word for something else.
    pub(super) fn declaration(&mut self, place: &str) -> Parsed<Vec<Variable>> {
        self.place += 1;
        let kind = match place {
            "semaphore" => Kind::Semaphore,
            "condition" => Kind::Condition,
            _ => Kind::Boolean,
        };
        let mut variables = Vec::new();
        loop {
            let (mut more, group) = self.group(place, &kind)?;
            let valued = self.takes(":=");
            if valued {
                if group > 0 {
                    self.count("a value for the last group");
                }
                self.initial(&mut more[group..])?;
            }
            variables.extend(more);
            // Where there are braces, further variables may follow a value.
            if !(valued && self.dialect.braces() && self.takes(",")) {
                break;
            }
            self.count("variables after a value");
        }
        self.expect(";")?;
        let several = if variables.len() > 1 { " of several" } else { "" };
        let plain = place == "shared" || place == "local";
        self.count(&format!("{place} declaration{}", if plain { several } else { "" }));
        Ok(variables)
    }

    /// Variables between commas, and which of them is the first of the last group: a group ends with a colon and its
    /// kind.
    fn group(&mut self, place: &str, kind: &Kind) -> Parsed<(Vec<Variable>, usize)> {
        let (mut variables, mut group) = (Vec::<Variable>::new(), 0);
        loop {
            variables.push(self.variable(place, kind)?);
            let colon = self.kind_before;
            if colon && variables.len() > group + 1 {
                self.count("a kind for several variables");
                let kind = variables[variables.len() - 1].kind.clone();
                variables[group..].iter_mut().for_each(|variable| variable.kind = kind.clone());
            }
            if !self.takes(",") {
                return Ok((variables, group));
            }
            group = if colon { variables.len() } else { group };
        }
    }

    /// Reads values, one or as many as there are variables, and gives them to the variables.
    fn initial(&mut self, variables: &mut [Variable]) -> Parsed<()> {
        let mut values = vec![self.initial_value()?];
        while values.len() < variables.len() && self.takes(",") {
            values.push(self.initial_value()?);
        }
        match (variables.len(), values.len()) {
            (1, 1) => self.count("one value for one variable"),
            (_, 1) => self.count("one value for several variables"),
            (wanted, given) if wanted == given => self.count("a value for each of several variables"),
            _ => return self.error("a value for each variable"),
        }
        for (index, variable) in variables.iter_mut().enumerate() {
            variable.initial = values[if values.len() == 1 { 0 } else { index }].clone();
            let array = !variable.dimensions.is_empty();
            match (&variable.initial, self.sort(&variable.kind)) {
                (Initial::Value(Expression::Any), "a range") => self.count("any number at first"),
                (Initial::Value(Expression::Any), "a record") => self.count("any record at first"),
                (Initial::Value(Expression::Any), _) => self.count("any value at first"),
                (Initial::Value(_), _) if array => self.count("one value for all elements"),
                (_, "an enumeration") => self.count("value of an enumeration at first"),
                _ => {}
            }
        }
        Ok(())
    }

    /// A value, or values in brackets.
    fn initial_value(&mut self) -> Parsed<Initial> {
        if !self.dialect.braces() || !self.takes("[") {
            return Ok(Initial::Value(self.expression()?));
        }
        let mut list = vec![self.initial_value()?];
        while self.takes(",") {
            list.push(self.initial_value()?);
        }
        self.expect("]")?;
        let lists = matches!(list[0], Initial::List(_));
        self.count(if lists { "list of lists of values" } else { "list of values" });
        Ok(Initial::List(list))
    }

    /// A name, with what its indices are, and with its kind if there is a colon.
    pub(super) fn variable(&mut self, place: &str, otherwise: &Kind) -> Parsed<Variable> {
        let (name, mut dimensions) = (self.name()?, Vec::new());
        while self.dialect.braces() && self.takes("[") {
            dimensions.push(self.expression()?);
            self.expect("]")?;
        }
        let declares = ["shared", "local", "parameter", "field"].contains(&place);
        let colon = self.dialect.braces() && declares && self.takes(":");
        self.kind_before = colon;
        let kind = match colon {
            true => self.kind(place)?,
            false if place == "barrier" => {
                self.expect("(")?;
                let threads = self.expression()?;
                self.expect(")")?;
                Kind::Barrier(threads)
            }
            false => otherwise.clone(),
        };
        self.count_variable(place, &dimensions, &kind, colon);
        Ok(Variable { name, dimensions, kind, initial: Initial::Unsaid })
    }

    fn count_variable(&mut self, place: &str, dimensions: &[Expression], kind: &Kind, colon: bool) {
        match dimensions.len() {
            0 => {}
            1 => self.count(&format!("{place} array")),
            _ => self.count("array of two dimensions"),
        }
        for dimension in dimensions {
            if let Expression::Old(Place { name, .. }) = dimension {
                let enumeration = self.sorts.get(name).is_none_or(|sort| *sort == "an enumeration");
                self.count(if enumeration { "index with a name" } else { "index of a range" });
            }
        }
        let sort = self.sort(kind);
        if colon && sort != "a Boolean" {
            let word = if place == "parameter" || place == "field" { "" } else { " variable" };
            self.count(&format!("{place}{word} of {sort}"));
        }
        if place == "field" && !colon {
            self.count("field without a kind");
        }
        if sort == "a record" && !dimensions.is_empty() {
            self.count("array of records");
        }
    }

    /// A kind: a word, a name or a range.
    pub(super) fn kind(&mut self, place: &str) -> Parsed<Kind> {
        let inline = place == "shared" || place == "local";
        if self.takes("bool") {
            self.count("`: bool`");
            return Ok(Kind::Boolean);
        }
        if inline && self.takes("enum") {
            self.count("enumeration in a declaration");
            // No name has a space.
            let kind = format!("enum {}", self.unnamed.len());
            let values = self.values()?;
            self.unnamed.push((kind.clone(), values));
            return Ok(Kind::Named(kind));
        }
        match (self.token(), self.second()) {
            (Token::Word(_), Token::Sign(sign)) if IN_RANGES.contains(sign) => self.range(),
            (Token::Word(_), _) => Ok(Kind::Named(self.name()?)),
            _ => self.range(),
        }
    }

    /// Two expressions with two dots between them.
    fn range(&mut self) -> Parsed<Kind> {
        let low = self.expression()?;
        self.expect("..")?;
        let high = self.expression()?;
        if [&low, &high].iter().any(|bound| !matches!(bound, Expression::Number(_))) {
            self.count("range with constants");
        }
        Ok(Kind::Range(low, high))
    }

    fn enumeration(&mut self) -> Parsed<(String, Vec<String>)> {
        self.count("enumeration");
        Ok((self.name()?, self.values()?))
    }

    /// The values of an enumeration.
    fn values(&mut self) -> Parsed<Vec<String>> {
        self.expect("{")?;
        let mut values = vec![self.name()?];
        while self.takes(",") {
            values.push(self.name()?);
        }
        self.expect("}")?;
        Ok(values)
    }

    /// What a procedure returns.
    pub(super) fn results(&mut self) -> Parsed<Vec<Kind>> {
        if self.takes("void") {
            self.count("no result");
            return Ok(Vec::new());
        }
        if self.dialect.braces() && self.takes("(") {
            let mut kinds = vec![self.kind("result")?];
            while self.takes(",") {
                kinds.push(self.kind("result")?);
            }
            self.expect(")")?;
            self.count("results in brackets");
            return Ok(kinds);
        }
        if !self.takes("bool") {
            let kind = if self.dialect.braces() { self.kind("result")? } else { Kind::Named(self.name()?) };
            let sort = self.sort(&kind);
            self.count(&format!("result of {sort}"));
            return Ok(vec![kind]);
        }
        if !self.takes("<") {
            self.count("one result");
            return Ok(vec![Kind::Boolean]);
        }
        self.count("bool<n>");
        let count = self.number()?;
        self.expect(">")?;
        Ok(vec![Kind::Boolean; count])
    }
}
