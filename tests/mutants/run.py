#!/usr/bin/env python3
"""Mistakes in the compiler of programs, in its reductions, in the product of threads that meet and in the ways back, one at a time.

None of that has to be believed: a mistake there must cost an answer, and never give a wrong one. Each mutant below is a
piece of text that is replaced by another. The tree is copied, the mutant is built, and random programs are verified and
compared with the second reading (tests/tests/second_reading.rs). A mutant is caught if the checker refuses a certificate or
the interpreter cannot follow a trace ("not believed"); if a verdict is wrong, the checker has failed. One that no random
program shows gets another chance on the examples of crates/tepui-cli/tests/hostile.

usage: tests/mutants/run.py [--programs N] [--only NAME]... [--list]
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
COMPILE = "crates/tepui-engines/src/program/table/"

# name, file, text, replacement
MUTANTS = [
    # Forgetting.
    ("forget-a-condition", COMPILE + "variables.rs", "            | Action::While(condition, _) => self.need(procedure, condition, constants),", "            | Action::While(condition, _) => drop((procedure, condition)),"),
    ("forget-a-lock", COMPILE + "variables.rs", "            Action::Lock(slot) => self.mark(procedure, *slot),", "            Action::Lock(_) => {}"),
    ("forget-a-result", COMPILE + "variables.rs", "                    if self.results[procedure][result] {\n                        self.need(procedure, value, constants);", "                    if self.results[procedure][result] && result > 0 {\n                        self.need(procedure, value, constants);"),
    ("forget-an-argument", COMPILE + "variables.rs", "            if self.locals[to][parameter] {\n                self.need(from, argument, constants);", "            if self.locals[to][parameter] && parameter > 0 {\n                self.need(from, argument, constants);"),
    ("forget-what-is-live-after-a-call", COMPILE + "variables.rs", "                    let after = live[flows[number].next[position]];", "                    let after = live[flows[number].next[position]] & 1;"),
    ("forget-what-is-enforced", COMPILE + "variables.rs", "    let always = procedure.enforced.as_ref().map_or(0, |condition| read(&[condition]));", "    let always = 0;"),
    ("forget-a-constraint", COMPILE + "variables.rs", "                (all(values) | read(&constraint), written(layout, targets))", "                { let _ = &constraint; (all(values), written(layout, targets)) }"),
    ("constant-although-assigned", COMPILE + "variables.rs", "                    refute(target, if let Expression::Value(value, _) = value { Some(*value) } else { None });", "                    if !matches!(value, Expression::Value(..)) {\n                        refute(target, None);\n                    }"),
    # Running on.
    ("pass-a-shared-read", COMPILE + "local_steps.rs", "        Action::If(condition, ..) | Action::While(condition, _) | Action::Assert(condition) => local(condition),", "        Action::If(..) | Action::While(..) => true,\n        Action::Assert(condition) => local(condition),"),
    ("pass-a-shared-write", COMPILE + "local_steps.rs", "            targets.iter().all(own) && values.iter().all(local)", "            { let _ = own; let _ = targets; values.iter().all(local) }"),
    ("pass-assume", COMPILE + "local_steps.rs", "        Action::Skip | Action::Goto(_) => true,\n        Action::Assign { targets, values, constraint: None } => {", "        Action::Skip | Action::Goto(_) | Action::Assume(_) => true,\n        Action::Assign { targets, values, constraint: None } => {"),
    ("pass-the-entry-of-a-block", COMPILE + "local_steps.rs", "            && !enters\n", ""),
    ("pass-a-local-loop", COMPILE + "local_steps.rs", "                rests[position] |= !left[position];", "                let _ = &left;"),
    ("pass-what-returns-come-back-to", COMPILE + "local_steps.rs", "            rests[flow.next[position]] = true;", "            rests[flow.next[position]] |= false;"),
    ("pass-a-failing-assertion", COMPILE + "local_steps.rs", "            Action::Assert(condition) => reads_shared(condition) || self.fails_at(condition, point),", "            Action::Assert(condition) => reads_shared(condition) && self.fails_at(condition, point),"),
    ("pass-a-label", COMPILE + "local_steps.rs", "            && !watched()\n", "            && (true || !watched())\n"),
    ("pass-enforce", COMPILE + "local_steps.rs", "            && self.program.procedures[procedure].enforced.is_none();", "            && (true || self.program.procedures[procedure].enforced.is_none());"),
    # Calls.
    ("results-in-the-wrong-order", COMPILE + "steps.rs", "        let results: Vec<_> = (0..kinds.len()).map(|number| layout.get(results, number)).collect();", "        let results: Vec<_> = (0..kinds.len()).rev().map(|number| layout.get(results, number)).collect();"),
    ("results-are-lost", COMPILE + "steps.rs", "        let (shared, locals) = self.store(&scope, targets, &results);\n        let point = Point { locals, insists", "        let (_, locals) = self.store(&scope, targets, &results);\n        let point = Point { locals, insists"),
    ("goes-on-at-the-call", COMPILE + "steps.rs", "        self.go(shared, point, self.flows[procedure].next[call], found);", "        self.go(shared, point, call, found);"),
    ("callee-keeps-the-arguments-of-another", COMPILE + "steps.rs", "                    for callee in self.entered(*called, &arguments, false, under, point.insists) {", "                    for callee in self.entered(*called, &vec![0; arguments.len()], false, under, point.insists) {"),
    # Starting.
    ("one-thread-less", COMPILE + "setup.rs", "                self.started.extend(std::iter::repeat_n(thread, (*count).min(u32::from(u16::MAX) + 1) as usize));", "                self.started.extend(std::iter::repeat_n(thread, (*count).min(1) as usize));"),
    ("arguments-of-another", COMPILE + "steps.rs", "            true => self.first(first.procedure as usize, &self.arguments(&first)),", "            true => self.first(first.procedure as usize, &vec![0; self.arguments(&first).len()]),"),
    ("main-ends-too-soon", COMPILE + "setup.rs", "        setup.main = (!ends).then_some(first);", "        let _ = ends; setup.main = None;"),
    ("initial-values-of-main-are-lost", COMPILE + "mod.rs", "        program.shared.iter_mut().zip(&setup.shared).for_each(|(variable, init)| variable.init = *init);", "        let _ = &setup.shared;"),
    ("a-place-too-many", COMPILE + "pairs.rs", "                Mode::Starting { count, .. } if (from.live + count) as usize > places => {", "                Mode::Starting { count, .. } if (from.live + count) as usize > places + 1 => {"),
    # Atomic sections.
    ("the-end-of-a-section-is-forgotten", COMPILE + "steps.rs", "        let within = self.flows[point.procedure as usize].atomics(to).next().is_some();", "        let within = point.within || self.flows[point.procedure as usize].atomics(to).next().is_some();"),
    ("the-section-of-a-caller-is-forgotten", COMPILE + "steps.rs", "                let under = point.under || flow.atomics(position).next().is_some();", "                let under = flow.atomics(position).next().is_some() && point.under;"),
    ("atomic-begin-is-nothing", COMPILE + "steps.rs", "                let insists = matches!(action, Action::AtomicBegin);", "                let insists = matches!(action, Action::AtomicBegin) && point.insists;"),
    # Sleeping and deadlock.
    ("sleepers-count-as-moving", COMPILE + "pairs.rs", "            Stage::Asleep => return self.say_blocked(kind, (global, point), count, atomic),", "            Stage::Asleep => return,"),
    ("a-broadcast-wakes-nobody", COMPILE + "steps.rs", "            (Mode::Waking(_), Stage::Asleep) => {", "            (Mode::Waking(true), Stage::Asleep) => {"),
    ("refused-returns-count-as-moving", COMPILE + "pairs.rs", "                if self.steps.refuses(from.shared, callee, frame) {", "                if false && self.steps.refuses(from.shared, callee, frame) {"),
    ("a-blocked-section-is-no-deadlock", COMPILE + "pairs.rs", "        let mode = if atomic { Mode::Stuck } else { self.probed(count + 1) };", "        let mode = if atomic { Mode::Calm } else { self.probed(count + 1) };"),
    # The way back to the source.
    ("rows-are-dropped", "crates/tepui/src/kinds/program/certify.rs", "        translated.sort_unstable();\n        translated.dedup();\n        let mut views", "        translated.sort_unstable();\n        translated.dedup();\n        translated.truncate(translated.len().saturating_sub(1).max(1));\n        let mut views"),
    ("below-is-dropped", "crates/tepui/src/kinds/program/certify.rs", "        lower.extend(rest.map(|rest| (word, rest, symbols)));", "        lower.extend(rest.filter(|_| symbols.len() > 1).map(|rest| (word, rest, symbols)));"),
    ("different-kinds-are-alike", COMPILE + "model.rs", "        self.tell_kinds_apart(&mut symbols);", "        let _ = Self::tell_kinds_apart;"),
    ("a-chain-of-blocks-is-cut", COMPILE + "steps.rs", "            let Some(&first) = block.first() else { return false };\n            at = first;", "            let Some(&first) = block.first() else { return false };\n            return first == position;"),
]


PRODUCT = "crates/tepui-engines/src/rendezvous/product/"

# The product of threads that meet, and the way back to them.
PRODUCT_MUTANTS = [
    ("a-thread-too-many-is-needed", PRODUCT + "mod.rs", "        thread.knows.iter().for_each(|action| needed[action.0 as usize].push(number));", "        let _ = thread;\n        (0..needed.len()).for_each(|action| needed[action].push(number));"),
    ("the-floor-is-popped", PRODUCT + "mod.rs", "        let symbols = rule.right.len() + usize::from(rule.top.is_bottom());", "        let symbols = rule.right.len().max(usize::from(rule.top.is_bottom()));"),
    ("the-control-state-is-lost-by-a-return", PRODUCT + "mod.rs", "        let top = self.frame(Frame::Top(control, symbol, below));\n        self.add((phase, Frame::Under(symbol, below))", "        let top = self.frame(Frame::Top(Control(0), symbol, below));\n        self.add((phase, Frame::Under(symbol, below))"),
    ("automata-stand-still", PRODUCT + "mod.rs", "                let above = self.places.above(below, lower);", "                let above = below;"),
    ("the-wrong-symbol-on-top", PRODUCT + "mod.rs", "                    2 => (after, Frame::Top(rule.to, word[0], above)),", "                    2 => (after, Frame::Top(rule.to, word[1], above)),"),
    ("nobody-answers-queries", PRODUCT + "mod.rs", "                if locals[self.thread].as_ref().is_none_or(meant) {", "                if locals[self.thread].as_ref().is_some_and(meant) && self.thread > 0 {"),
    ("rows-of-the-product-are-dropped", PRODUCT + "certificate.rs", "        rows.insert(cells);", "        if rows.len() < 3 {\n            rows.insert(cells);\n        }"),
    ("below-of-the-product-is-dropped", PRODUCT + "certificate.rs", "                below.entry(word).or_default().extend(symbols.iter().filter_map(|&symbol| frames.symbol(symbol)));", "                below.entry(word).or_default().extend(symbols.iter().take(1).filter_map(|&symbol| frames.symbol(symbol)));"),
    ("automata-of-others", PRODUCT + "certificate.rs", "        let nodes = self.columns.iter().map(|&column| place[column]).collect();", "        let nodes = self.columns.iter().map(|_| place[0]).collect();"),
]

# What the search takes for interchangeable, in pushdown systems: programs tell the kinds of their threads apart.
ENGINE_MUTANTS = [
    ("alike-although-they-are-not", "crates/tepui-engines/src/pushdown/compiled.rs", "    (rule.from, rule.top, rule.to, rule.action)", "    (rule.from, rule.top, rule.from, rule.action)"),
]


def apply(tree, mutant):
    _, file, text, replacement = mutant
    path = os.path.join(tree, file)
    with open(path, encoding="utf-8") as source:
        content = source.read()
    if content.count(text) != 1:
        raise SystemExit(f"{mutant[0]}: its text occurs {content.count(text)} times in {file}")
    with open(path, "w", encoding="utf-8") as target:
        target.write(content.replace(text, replacement))
    return path, content


def examples(tree, environment):
    """Whether the checker notices on the programs that are kept because they fooled somebody once."""
    command = ["cargo", "test", "--offline", "-p", "tepui-cli", "--test", "cli", "hostile::verdicts_are_right"]
    result = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    told = re.findall(r"the certificate fails[^\"]*|cannot follow a trace[^\"]*", result.stdout + result.stderr)
    return ("caught", ["on an example: " + told[0][:100]]) if result.returncode != 0 and told else ("SURVIVED", [])


# For each list of mutants the tests that judge them.
TESTS = [
    (MUTANTS, ["second_reading", "two_readings_agree"]),
    (PRODUCT_MUTANTS, ["rendezvous", "views::what_is_accepted_is_right"]),
    (ENGINE_MUTANTS, ["engines", "agreement::engines_agree_with_each_other"]),
]


def judge(tree, programs, tests):
    """Whether the tests notice, and how: groups of differences."""
    of_programs = tests == TESTS[0][1]
    # A target folder of its own: cargo takes crates at the same place of two trees for the same.
    environment = dict(os.environ, TEPUI_RANDOM_PROGRAMS=str(programs), CARGO_TARGET_DIR=os.path.join(tree, "target"))
    command = ["cargo", "test", "--offline", "-p", "tepui-tests", "--test", *tests]
    result = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    output = result.stdout + result.stderr
    if not of_programs and result.returncode != 0:
        told = re.findall(r"panicked at .*\n(.*)", output)
        if any("SelfCheckFailed" in line or "the certificate fails" in line for line in told):
            return "caught", [told[0][:150]]
        if any("accepted" in line for line in told):
            return "WRONG VERDICT", told
    groups = re.findall(r"^=== (.*?): seeds \[([^\]]*)\]", output, re.M)
    if result.returncode == 0:
        return examples(tree, environment) if of_programs else ("SURVIVED", [])
    if not groups:
        panics = re.findall(r"panicked at .*\n.*", output)
        return "DOES NOT BUILD OR ENDS OTHERWISE", panics or output.strip().splitlines()[-5:]
    wrong = [name for name, _ in groups if "not believed" not in name]
    seeds = sum(len(seeds.split(",")) for _, seeds in groups)
    kind = "WRONG VERDICT" if any("safe, but" in name for name in wrong) else "caught"
    return kind, [f"{seeds} programs: " + "; ".join(name for name, _ in groups)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=600)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    known = [(mutant, tests) for mutants, tests in TESTS for mutant in mutants]
    chosen = [(mutant, tests) for mutant, tests in known if not arguments.only or mutant[0] in arguments.only]
    if arguments.list:
        for (name, file, _, _), _ in chosen:
            print(f"{name:45} {file}")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        tree = os.path.join(folder, "tepui")
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns("target", ".git"))
        verdicts = {}
        for mutant, tests in chosen:
            path, content = apply(tree, mutant)
            verdict, details = judge(tree, arguments.programs, tests)
            verdicts.setdefault(verdict, []).append(mutant[0])
            print(f"{mutant[0]:45} {verdict}", *details, sep="\n    ", flush=True)
            with open(path, "w", encoding="utf-8") as target:
                target.write(content)
    print(", ".join(f"{len(names)} {verdict}" for verdict, names in sorted(verdicts.items())))
    return 0 if set(verdicts) == {"caught"} else 1


if __name__ == "__main__":
    sys.exit(main())
