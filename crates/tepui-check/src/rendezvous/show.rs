//! What things of threads that meet are called.

use tepui_model::rendezvous::Symbol;

use super::views::Meeting;
use crate::show::Show;
use crate::system::Move;

impl Show for Meeting<'_> {
    fn thread_name(&self, thread: usize) -> String {
        self.model.threads()[thread].name.clone()
    }

    fn show_symbol(&self, thread: usize, symbol: Symbol) -> String {
        let owner = &self.model.threads()[thread];
        let Some(frame) = self.frame(thread, symbol) else {
            return if symbol.is_bottom() { "-".to_owned() } else { "(a frame that is not listed)".to_owned() };
        };
        let name = if frame.symbol.is_bottom() { "floor" } else { owner.symbol_name(frame.symbol) };
        frame.control.map_or(name.to_owned(), |control| format!("{name}@{}", owner.control_name(control)))
    }

    fn show_shared(&self, _: u32) -> String {
        String::new()
    }

    fn show_initial(&self, _: usize) -> String {
        self.model.display_state(self.model.init(), usize::MAX)
    }

    fn show_move(&self, thread: usize, step: &Move) -> String {
        let owner = &self.model.threads()[thread];
        let rule = &owner.rules[step.number];
        let line = if rule.line == 0 { String::new() } else { format!(" (line {})", rule.line) };
        format!("action {} of thread {}{line}", self.model.action_name(rule.action), owner.name)
    }
}
