//! Statements about numbers, arrays and records, and about what threads wait for.

use super::data::{Found, Index, Scalar, Shape};
use super::{Kind, Writer};

impl Writer<'_> {
    /// Declares what threads wait for.
    pub(super) fn put_waiting(&mut self) {
        let array = if self.one_in(3) { Some(2) } else { None };
        let suffix = array.map_or(String::new(), |size| format!("[{size}]"));
        match self.rng.usize(..6) {
            0 => {
                self.put("lock f[2];");
                self.data.locks.push(("f".to_owned(), Some(2)));
            }
            1 => {
                let value = ["", " := 1", " := 2"][self.rng.usize(..3)];
                self.put(&format!("semaphore s{suffix}{value};"));
                self.data.semaphores.push(("s".to_owned(), array));
            }
            2..=4 if self.tasks => {}
            2 => {
                let threads = if self.data.constant == Some(2) { "N" } else { "2" };
                self.put(&format!("barrier b{suffix}({threads});"));
                self.data.barriers.push(("b".to_owned(), array));
            }
            3 | 4 => {
                self.put(&format!("condition q{suffix};"));
                self.put("lock g;");
                self.data.conditions.push(("q".to_owned(), array));
                self.data.locks.push(("g".to_owned(), None));
            }
            _ => {}
        }
    }

    /// One of some names, with an index if it is an array.
    fn waiting(&mut self, names: &[(String, Option<i64>)]) -> String {
        let (name, size) = names[self.rng.usize(..names.len())].clone();
        match size {
            None => name,
            Some(size) => {
                // What is used in two steps must not change in between.
                let certain = std::mem::replace(&mut self.now.certain, true);
                let mut index = self.index(Index::Size(size), 0);
                self.now.certain = certain;
                let loops = self.now.loops.iter().filter_map(|(name, range)| Some((name, (*range)?)));
                let fitting: Vec<_> = loops.filter(|(_, (low, high))| *low < size && *high >= 0).collect();
                if let Some((name, _)) = fitting.last() {
                    index.clone_from(name);
                }
                format!("{name}[{index}]")
            }
        }
    }

    /// Something that waits or wakes, if there is something to wait for.
    fn put_wait(&mut self) -> bool {
        let [locks, semaphores, barriers, conditions] =
            [&self.data.locks, &self.data.semaphores, &self.data.barriers, &self.data.conditions].map(Clone::clone);
        if !conditions.is_empty() && !self.one_in(4) {
            self.put_condition(&conditions);
        } else if !locks.is_empty() {
            let (lock, word) = (self.waiting(&locks), self.pick(&["lock", "unlock", "unlock"]));
            self.put(&format!("{word}({lock});"));
        } else if !semaphores.is_empty() {
            let (semaphore, word) = (self.waiting(&semaphores), self.pick(&["acquire", "release"]));
            self.put(&format!("{word}({semaphore});"));
        } else if !barriers.is_empty() {
            let barrier = self.waiting(&barriers);
            self.put(&format!("arrive({barrier});"));
        } else {
            return false;
        }
        true
    }

    fn put_condition(&mut self, conditions: &[(String, Option<i64>)]) {
        self.labels();
        let condition = self.waiting(conditions);
        match self.rng.usize(..5) {
            0 if !self.now.only => {
                let truth = self.data_truth();
                self.put("lock(g);");
                self.put(&format!("while (!{truth}) wait({condition}, g);"));
                self.labels();
                self.put("unlock(g);");
            }
            0 | 1 => self.put(&format!("wait({condition}, g);")),
            2 | 3 => self.put(&format!("signal({condition});")),
            _ => self.put(&format!("broadcast({condition});")),
        }
    }

    /// A statement about data.
    pub(super) fn data_statement(&mut self) {
        match self.rng.usize(..33) {
            30.. if !self.now.only => self.put_idiom(),
            0..=5 => self.put_scalar(Scalar::Number),
            6 => self.put_scalar(Scalar::Boolean),
            7 => self.put_scalar(Scalar::Colour),
            8 | 9 => self.put_whole(),
            10 | 11 => self.put_several(),
            12 => self.put_constrained(),
            13 | 14 => self.put_cas(),
            15 | 16 => self.put_fetch_add(),
            17..=20 | 26.. => {
                if !self.put_wait() {
                    self.put_scalar(Scalar::Number);
                }
            }
            21 | 22 => self.put_data_assertion(),
            23 => {
                let mut variables = self.data_variables();
                variables.retain(|(_, shape)| self.few(shape));
                let dead = self.rng.usize(..variables.len().max(1));
                match variables.get(dead) {
                    None => self.put("skip;"),
                    Some((name, _)) => self.put(&format!("dead {name};")),
                }
            }
            24 => {
                let (word, comparison) = (self.pick(&["assume", "wait"]), self.number_comparison());
                self.put(&format!("{word}({comparison});"));
            }
            25 => self.put_counting(),
        }
    }

    /// What programs with numbers are written for.
    fn put_idiom(&mut self) {
        let place = self.place(Scalar::Number, 0);
        let Some(Found { text, shape: Shape::Range(low, high), .. }) = place else { return self.put("skip;") };
        let [semaphores, barriers] = [&self.data.semaphores, &self.data.barriers].map(Clone::clone);
        match self.rng.usize(..3) {
            0 if !semaphores.is_empty() => {
                let semaphore = self.waiting(&semaphores);
                self.put(&format!("acquire({semaphore});"));
                self.put(&format!("{text} := {text} + 1;"));
                self.labels();
                self.put(&format!("{text} := {text} - 1;"));
                self.put(&format!("release({semaphore});"));
            }
            0 if !barriers.is_empty() => {
                let barrier = self.waiting(&barriers);
                self.put(&format!("fetch_add({text}, 1);"));
                self.labels();
                self.put(&format!("arrive({barrier});"));
                self.put(&format!("assert({text} >= {});", low + 2));
            }
            1 => {
                let variable = self.variable(Kind::Boolean);
                let Some(ok) = variable else { return self.put("skip;") };
                self.put(&format!("while (!{ok}) {{"));
                self.labels();
                self.put(&format!("{ok} := cas({text}, {text}, {text} + 1); }}"));
            }
            _ => {
                self.put(&format!("if ({text} < {high}) {{"));
                self.labels();
                self.put(&format!("{text} := {text} + 1; }}"));
            }
        }
    }

    fn put_scalar(&mut self, scalar: Scalar) {
        let Some(Found { text, shape, .. }) = self.place(scalar, 2) else { return self.put("skip;") };
        let value = self.shaped(&shape);
        self.put(&format!("{text} := {value};"));
    }

    fn put_whole(&mut self) {
        let variables = self.data_variables();
        let whole = |shape: &Shape| matches!(shape, Shape::Array(..) | Shape::Record(_));
        let whole: Vec<_> = variables.into_iter().filter(|(_, shape)| whole(shape)).collect();
        if whole.is_empty() {
            return self.put_scalar(Scalar::Number);
        }
        let (name, shape) = whole[self.rng.usize(..whole.len())].clone();
        let value = self.shaped(&shape);
        self.put(&format!("{name} := {value};"));
    }

    /// Several places at once: of different variables, of different fields, or two elements that change places.
    fn put_several(&mut self) {
        let (one, other) = (self.place(Scalar::Number, 2), self.place(Scalar::Number, 1));
        let (Some(one), Some(other)) = (one, other) else { return self.put("skip;") };
        if one.root != other.root {
            let (first, second) = (self.shaped(&one.shape), self.shaped(&other.shape));
            return self.put(&format!("{}, {} := {first}, {second};", one.text, other.text));
        }
        for (name, shape) in self.data_variables() {
            match shape {
                Shape::Array(Index::Size(size), element) if matches!(*element, Shape::Range(..) | Shape::Boolean) => {
                    let (i, j) = (self.rng.i64(0..size), self.rng.i64(0..size));
                    if i != j {
                        return self.put(&format!("{name}[{i}], {name}[{j}] := {name}[{j}], {name}[{i}];"));
                    }
                }
                Shape::Record(number) => {
                    let fields = self.data.records[number].clone();
                    let (first, second) = (self.shaped(&fields[0].1), self.shaped(&fields[1].1));
                    let (one, other) = (&fields[0].0, &fields[1].0);
                    return self.put(&format!("{name}.{one}, {name}.{other} := {first}, {second};"));
                }
                _ => {}
            }
        }
        self.put_scalar(Scalar::Number);
    }

    fn put_constrained(&mut self) {
        self.now.starless = true;
        let place = self.place(Scalar::Number, 2);
        self.now.starless = false;
        let Some(Found { text, shape, .. }) = place else { return self.put("skip;") };
        let value = if self.one_in(2) { "*".to_owned() } else { self.shaped(&shape) };
        let (operator, other) = (self.pick(&["<", "!=", ">=", "="]), self.sum(0));
        let other = if self.one_in(2) { text.clone() } else { other.text };
        self.put(&format!("{text} := {value} constrain '{text} {operator} {other};"));
    }

    fn put_cas(&mut self) {
        let scalar = [Scalar::Number, Scalar::Number, Scalar::Boolean][self.rng.usize(..3)];
        self.now.starless = true;
        let (place, expected) = (self.place(scalar, 1), self.sum(1));
        self.now.starless = false;
        let whole = if self.one_in(5) { self.whole_pair() } else { None };
        let (place, expected) = match (whole, place) {
            (Some((name, other, shape)), _) => (Found { text: name.clone(), root: name, shape }, other),
            (None, Some(place)) if scalar == Scalar::Number => (place, expected.text),
            (None, Some(place)) => (place, self.known()),
            (None, None) => return self.put("skip;"),
        };
        let value = self.shaped(&place.shape);
        let target = match self.variable(Kind::Boolean) {
            Some(name) if !self.one_in(3) => format!("{name} := "),
            _ if self.one_in(4) => "_ := ".to_owned(),
            _ => String::new(),
        };
        self.put(&format!("{target}cas({}, {expected}, {value});", place.text));
    }

    /// Two whole variables, the first of which can take the second.
    fn whole_pair(&mut self) -> Option<(String, String, Shape)> {
        let whole: Vec<_> = self.data_variables().into_iter().collect();
        if whole.is_empty() {
            return None;
        }
        let (name, shape) = whole[self.rng.usize(..whole.len())].clone();
        let other = self.whole(&shape)?;
        Some((name, other, shape))
    }

    fn put_fetch_add(&mut self) {
        self.now.starless = true;
        let place = self.place(Scalar::Number, 1);
        let targets: Vec<_> = (0..3).filter_map(|_| self.place(Scalar::Number, 0)).collect();
        let other = |target: &Found| place.as_ref().is_some_and(|place| place.root != target.root);
        let target = targets.into_iter().find(other);
        let addend = self.number_place(1);
        self.now.starless = false;
        let Some(Found { text, shape: Shape::Range(low, high), .. }) = place else { return self.put("skip;") };
        let apart = low + addend.low > high || high + addend.high < low;
        let addend = if apart || self.one_in(2) { self.pick(&["1", "-1"]).to_owned() } else { addend.text };
        let target = match target {
            Some(Found { text, shape: Shape::Range(least, most), .. })
                if least <= high && low <= most && !self.one_in(3) =>
            {
                format!("{text} := ")
            }
            _ => String::new(),
        };
        self.put(&format!("{target}fetch_add({text}, {addend});"));
    }

    fn put_data_assertion(&mut self) {
        let array = self.data_variables().into_iter().find_map(|(name, shape)| match shape {
            Shape::Array(Index::Size(size), element) if *element == Shape::Boolean => Some((name, size)),
            _ => None,
        });
        let place = self.number_place(1);
        match array {
            Some((name, size)) if place.low < size && place.high >= 0 && self.one_in(2) => {
                let guard = format!("{} >= 0 & {} < {size}", place.text, place.text);
                let operator = self.pick(&["=>", "=>", "|", "&"]);
                self.put(&format!("assert(({guard}) {operator} {name}[{}]);", place.text));
            }
            _ => {
                let condition = if self.one_in(2) { self.number_comparison() } else { self.chain() };
                self.put(&format!("assert({condition});"));
            }
        }
    }

    /// Counts up to something, or one time too many.
    fn put_counting(&mut self) {
        let place = self.place(Scalar::Number, 0);
        let Some(Found { text, shape: Shape::Range(_, high), .. }) = place else { return self.put("skip;") };
        let operator = self.pick(&["<", "<", "<", "<="]);
        self.put(&format!("while ({text} {operator} {high}) {text} := {text} + 1;"));
    }

    /// A loop over numbers or over an enumeration.
    pub(super) fn put_for(&mut self, depth: usize) {
        let name = format!("i{}", self.now.loops.len());
        let (over, range) = match self.rng.usize(..6) {
            0 | 1 if !self.colours.is_empty() => ("Colour".to_owned(), None),
            2 if self.data.kind.is_some() => ("K".to_owned(), self.data.kind.map(|high| (0, high))),
            3 if self.one_in(2) => ("1..0".to_owned(), Some((1, 1))),
            _ => {
                let low = self.rng.i64(-1..=1);
                let high = low + self.rng.i64(0..=1);
                match self.data.constant.filter(|_| self.rng.bool()) {
                    Some(constant) => ("1..N-1".to_owned(), Some((1, constant - 1))),
                    None => (format!("{low}..{high}"), Some((low, high))),
                }
            }
        };
        self.now.blocks += 1;
        self.now.around.push(self.now.blocks);
        self.text.push_str(&format!("for {name} in {over} "));
        self.now.loops.push((name, range));
        self.braces_or_one(depth);
        self.now.loops.pop();
        self.now.around.pop();
    }

    /// Starts threads in a loop.
    pub(super) fn put_starting_loop(&mut self) {
        let number = self.rng.usize(..self.procedures.len());
        let signature = self.procedures[number].clone();
        let over = if self.data.constant == Some(2) { "1..N" } else { "0..1" };
        let low = if over == "0..1" { 0 } else { 1 };
        let arguments = signature.parameters.iter().map(|&kind| match kind {
            Kind::Data(shape) => match self.data.shapes[shape] {
                Shape::Range(least, most) if least <= low && low < most => "i".to_owned(),
                _ => self.value(kind),
            },
            _ => self.value(kind),
        });
        let arguments = arguments.collect::<Vec<_>>().join(", ");
        let word = if self.tasks { "post" } else { "thread" };
        self.put(&format!("for i in {over} {{ {word} {}({arguments}); }}", signature.name));
    }
}
