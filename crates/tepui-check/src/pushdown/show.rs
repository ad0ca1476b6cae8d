//! What things of a pushdown system are called.

use tepui_model::pushdown::{Shared, Symbol};

use super::system::Rules;
use crate::show::Show;
use crate::system::{Move, NOWHERE};

impl Show for Rules<'_> {
    fn thread_name(&self, thread: usize) -> String {
        self.model.threads()[thread].name.clone()
    }

    fn show_symbol(&self, thread: usize, symbol: Symbol) -> String {
        self.model.threads()[thread].symbol_name(symbol).to_owned()
    }

    fn show_shared(&self, shared: u32) -> String {
        if shared == NOWHERE { "?".to_owned() } else { self.model.shared_name(Shared(shared)) }
    }

    fn show_initial(&self, _: usize) -> String {
        self.model.display_state(self.model.init())
    }

    fn show_move(&self, thread: usize, step: &Move) -> String {
        let owner = &self.model.threads()[thread];
        let rule = &owner.rules[step.number];
        let line = if rule.line == 0 { String::new() } else { format!(" (line {})", rule.line) };
        format!("rule `{}` of thread {}{line}", self.model.display_rule(thread, rule), owner.name)
    }
}
