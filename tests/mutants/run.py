#!/usr/bin/env python3
"""Mistakes in what need not be believed, one at a time: how programs are made ready and executed, what is reduced, how things
are numbered, the table of rules, the product of threads that meet and the ways back.

A mistake there must cost an answer, and never give a wrong one. Each mutant below is a piece of text that is replaced by
another. The tree is copied, the mutant is built, and a test with random programs is run. Most mutants are judged by the
comparison with the second reading (tests/tests/second_reading.rs): one is caught if the checker refuses a certificate or
the interpreter cannot follow a trace ("not believed"); if a verdict is wrong, the checker has failed. One that no random
program shows gets another chance on the sentences of the book and on the examples of crates/tepui-cli/tests/hostile.
Others have a test that should notice: they are caught if it fails in any way, and survive if it passes.

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
ENGINES = "crates/tepui-engines/src/"
PROGRAM = ENGINES + "program/"
TABLE = PROGRAM + "table/"

# name, file, text, replacement
MUTANTS = [
    # Forgetting.
    ("forget-a-condition", PROGRAM + "variables.rs", "            | Action::While(condition, _) => self.need(procedure, condition, constants),", "            | Action::While(condition, _) => drop((procedure, condition)),"),
    ("forget-a-lock", PROGRAM + "variables.rs", "                place.slots().into_iter().for_each(|slot| self.mark(procedure, slot));", "                let _ = place;"),
    ("forget-a-result", PROGRAM + "variables.rs", "                    if self.results[procedure][result] {", "                    if self.results[procedure][result] && result > 0 {"),
    ("forget-an-argument", PROGRAM + "variables.rs", "            if self.locals[to][parameter] {", "            if self.locals[to][parameter] && parameter > 0 {"),
    ("forget-what-is-live-after-a-call", PROGRAM + "variables.rs", "                    let after = live[flows[number].next[position]].clone();", "                    let after = live[flows[number].next[position]].clone().only(&Variables::first(1));"),
    ("forget-what-is-enforced", PROGRAM + "variables.rs", "    let always = procedure.enforced.as_ref().map_or(none(), |condition| read(&[condition]));", "    let always = none();"),
    ("forget-a-constraint", PROGRAM + "variables.rs", "        let mut used = read(&expressions);", "        if let Action::Assign { constraint: Some(constraint), .. } = &statement.action {\n            expressions.retain(|expression| *expression != constraint);\n        }\n        let mut used = read(&expressions);"),
    ("constant-although-assigned", PROGRAM + "variables.rs", "                    refute(target, constant);", "                    if constant.is_none() {\n                        refute(target, None);\n                    }"),
    # Running on.
    ("pass-a-shared-read", PROGRAM + "local_steps.rs", "        Action::If(condition, ..) | Action::While(condition, _) | Action::Assert(condition) => local(condition),", "        Action::If(..) | Action::While(..) => true,\n        Action::Assert(condition) => local(condition),"),
    ("pass-a-shared-write", PROGRAM + "local_steps.rs", "constraint: None } => targets.iter().all(is_own) && values.iter().all(local),", "constraint: None } => { let _ = targets; values.iter().all(local) }"),
    ("pass-assume", PROGRAM + "local_steps.rs", "        Action::Skip | Action::Goto(_) => true,", "        Action::Skip | Action::Goto(_) | Action::Assume(_) => true,"),
    ("pass-the-entry-of-a-block", PROGRAM + "local_steps.rs", " || watched || unseen.is_some() && at != position {", " || watched {"),
    ("pass-a-local-loop", PROGRAM + "local_steps.rs", "                rests[position] |= !left[position];", "                let _ = &left;"),
    ("pass-what-returns-come-back-to", PROGRAM + "local_steps.rs", "                rests[flow.next[position]] |= !always && !inside", "                rests[flow.next[position]] |= false && !always && !inside"),
    ("pass-a-failing-assertion", PROGRAM + "local_steps.rs", "            Action::Assert(_) => Passed::UnlessFails,", "            Action::Assert(_) => Passed::Always,"),
    ("pass-a-label", PROGRAM + "local_steps.rs", "            .any(|target| target.procedure == number && stands(procedure, position, target.position));", "            .any(|target| false && target.procedure == number && stands(procedure, position, target.position));"),
    ("pass-enforce", PROGRAM + "local_steps.rs", "        if procedure.enforced.is_some() || watched", "        if watched"),
    # Calls.
    ("results-in-the-wrong-order", PROGRAM + "machine.rs", "                    match machine.store(targets.iter().map(Option::as_ref), values, None) {", "                    let values: Vec<_> = values.iter().rev().copied().collect();\n                    match machine.store(targets.iter().map(Option::as_ref), &values, None) {"),
    ("results-are-lost", PROGRAM + "machine.rs", "                    match machine.store(targets.iter().map(Option::as_ref), values, None) {", "                    match machine.store(targets.iter().map(Option::as_ref).take(0), values, None) {"),
    ("goes-on-at-the-call", PROGRAM + "machine.rs", "                instruction.next\n            }\n            _ => head.position(),", "                instruction.at\n            }\n            _ => head.position(),"),
    ("callee-keeps-the-arguments-of-another", PROGRAM + "machine.rs", "        self.enter(procedure, &machine.values, &mut machine.frame);", "        self.enter(procedure, &vec![0; machine.values.len()], &mut machine.frame);"),
    # Starting.
    ("one-thread-less", PROGRAM + "setup.rs", "(*count as usize).min(room)));", "(*count as usize).min(room).min(1)));"),
    ("arguments-of-another", PROGRAM + "code.rs", "fields.zip(given).map(|(field, &code)| field.low + i64::from(code)).collect();", "fields.zip(given).map(|(field, _)| field.low).collect();"),
    ("arguments-of-a-start-are-lost", PROGRAM + "machine.rs", "                self.enter(*procedure, &machine.values, &mut machine.started);", "                self.enter(*procedure, &vec![0; machine.values.len()], &mut machine.started);"),
    ("main-ends-too-soon", PROGRAM + "setup.rs", "        setup.main = (!ends).then_some(first);", "        let _ = ends;\n        setup.main = None;"),
    ("initial-values-of-main-are-lost", PROGRAM + "code.rs", "            program.shared.iter_mut().zip(&setup.shared).for_each(|(variable, init)| variable.init = *init);", "            let _ = &setup.shared;"),
    ("a-start-without-a-place-is-no-step", PROGRAM + "system.rs", "            return self.full((row, thread), machine, news, next, found);", "            return;"),
    ("a-place-too-many", TABLE + "pairs.rs", "                Mode::Starting { count, .. } if (from.live + count) as usize > places => {", "                Mode::Starting { count, .. } if (from.live + count) as usize > places + 1 => {"),
    # Atomic sections.
    ("the-end-of-a-section-is-forgotten", PROGRAM + "steps.rs", "        let held = u64::from(self.is_uninterrupted(machine.head()));", "        let held = machine.shared[0] & HELD | u64::from(self.is_uninterrupted(machine.head()));"),
    ("the-section-of-a-caller-is-forgotten", PROGRAM + "machine.rs", "        let under = head.is_under() || instruction.executed_inside;", "        let under = head.is_under() && instruction.executed_inside;"),
    ("a-return-ends-a-section", PROGRAM + "machine.rs", "        machine.set_head(head.at(next).in_stage(Stage::Running).insisting(insists));", "        machine.set_head(head.at(next).in_stage(Stage::Running).insisting(insists && head.insists()));"),
    ("atomic-begin-is-nothing", PROGRAM + "machine.rs", "                machine.set_head(head.insisting(*insists).at(next));", "                machine.set_head(head.insisting(*insists && head.insists()).at(next));"),
    # Sleeping and deadlock.
    ("sleepers-count-as-moving", PROGRAM + "violations.rs", "        if frames.iter().all(Option::is_none) ||", "        let sleeps = |(top, _): &(&[u64], _)| Head(top[0]).stage() == Stage::Asleep;\n        if frames.iter().flatten().any(sleeps) || frames.iter().all(Option::is_none) ||"),
    ("sleepers-count-as-moving-in-the-table", TABLE + "pairs.rs", "            Stage::Asleep => return self.say_blocked(kind, (global, point), from.shared, count, held),", "            Stage::Asleep => return,"),
    ("a-broadcast-wakes-nobody", PROGRAM + "system.rs", "            let Some(awake) = self.awake(top, condition) else { continue };", "            let Some(awake) = self.awake(top, condition).filter(|_| !all) else { continue };"),
    ("refused-returns-count-as-moving", PROGRAM + "violations.rs", "                let mut accepted = below.is_none();", "                let mut accepted = true;"),
    ("refused-returns-count-as-moving-in-the-table", TABLE + "pairs.rs", "                for shared in self.steps.refuses(from.shared, callee, frame) {", "                for shared in self.steps.refuses(from.shared, callee, frame).into_iter().take(0) {"),
    ("a-blocked-section-is-no-deadlock", TABLE + "pairs.rs", "        let mode = if held { Mode::Stuck } else { self.probed(count + 1) };", "        let mode = if held { Mode::Probing(0) } else { self.probed(count + 1) };"),
    ("deadlock-for-each-thread-apart", PROGRAM + "violations.rs", "        settle(&open, &mut shared.to_vec()", "        settle(&[], &mut shared.to_vec()"),
    # The way back to the source.
    ("rows-are-dropped", "crates/tepui/src/kinds/program/certify.rs", "        translated.dedup();\n        let views = Rows::of(lemma", "        translated.dedup();\n        translated.truncate(translated.len().saturating_sub(1).max(1));\n        let views = Rows::of(lemma"),
    ("below-is-dropped", "crates/tepui/src/kinds/program/certify.rs", "        lower.extend(rest.map(|rest| (word, rest, symbols)));", "        lower.extend(rest.filter(|_| symbols.len() > 1).map(|rest| (word, rest, symbols)));"),
    ("different-kinds-are-alike", TABLE + "model.rs", "        self.tell_kinds_apart(&mut symbols);", "        let _ = Self::tell_kinds_apart;"),
    ("a-chain-of-blocks-is-cut", PROGRAM + "local_steps.rs", "        let Some(&first) = block.first() else { return false };\n        at = first;", "        let Some(&first) = block.first() else { return false };\n        at = first;\n        return at == position;"),
]

# The tests: a file of tests/tests, and the test's name.
READINGS = ["second_reading", "two_readings_agree"]
SENTENCES = ["second_reading", "sentences_of_the_book_hold"]
WAITING = ["reduction", "what_waits_hides_nothing"]
ROWS = ["rows", "steps_on_demand_lead_to_the_rows_of_the_table"]

# Steps that are worked out when they are asked for, and threads that wait, with the test that should notice.
ON_DEMAND_MUTANTS = [
    # Numbers.
    ("frames-are-numbered-from-the-last-chunk-on", PROGRAM + "tables.rs", "        for news in news {\n            for frame in", "        for news in news.iter_mut().rev() {\n            for frame in", WAITING),
    ("a-frame-is-numbered-twice", PROGRAM + "word_rows.rs", "        if let Some(known) = self.find(wanted) {", "        if let Some(known) = self.find(wanted).filter(|_| false) {", WAITING),
    ("rows-with-something-new-are-not-ordered", PROGRAM + "system.rs", "        news.settle(row);\n        self.canonicalise(row, place)", "        let new = News::is_new(row);\n        news.settle(row);\n        if new { place } else { self.canonicalise(row, place) }", WAITING),
    ("what-was-seen-in-another-shared-state", PROGRAM + "system.rs", "        let key = (row[0], row[thread.field()],", "        let key = (0, row[thread.field()],", ROWS),
    ("a-broadcast-wakes-nobody-in-the-table", TABLE + "raw.rs", "            (Mode::Waking, Stage::Asleep, Doing::Plain) => {", "            (Mode::Waking, Stage::Asleep, Doing::Plain) if false => {", ROWS),
    # Variables without a value.
    ("a-chosen-value-is-not-kept", PROGRAM + "steps.rs", "                machine.put(variable, value);\n                self.executed(machine, found);", "                machine.put(variable, value);\n                self.executed(machine, &mut |machine, outcome| {\n                    if variable.shared {\n                        machine.put(variable, variable.field.unset);\n                    }\n                    found(machine, outcome);\n                });", READINGS),
    ("no-value-is-the-lowest", PROGRAM + "machine.rs", "        self.needs.get_or_insert(variable);", "        let _ = &self.needs;", READINGS),
    ("needed-in-the-first-way-only", PROGRAM + "steps.rs", "            self.execute(machine);\n            let more = machine.choices.advance();", "            self.execute(machine);\n            let more = false;", READINGS),
    # What is owed.
    ("owed-is-taken-for-reached", ENGINES + "obligations.rs", "            if number.is_none() {", "            if number.is_none() && false {", READINGS),
    ("facts-are-not-looked-at-again", ENGINES + "obligations.rs", "                while let Some(fact) = self.abstraction.next_fact() {\n                    self.look_again(fact, system, workers, budget)?;", "                while let Some(fact) = self.abstraction.next_fact() {\n                    let _ = fact;", READINGS),
    ("only-one-frame-below-is-owed", PROGRAM + "views.rs", "                for &revealed in self.words.revealed(thread, word) {\n                    self.owed_by", "                for &revealed in self.words.revealed(thread, word).iter().take(1) {\n                    self.owed_by", READINGS),
    # What threads touch.
    ("touched-without-the-rest-of-a-section", PROGRAM + "footprints.rs", "                open.extend(after.into_iter().filter(|&next| is_inside(next)));", "                open.extend(after.into_iter().filter(|&next| is_inside(next)).take(0));", WAITING),
    ("a-parameter-with-another-value", PROGRAM + "footprints.rs", "known.get(number).copied().flatten())", "known.get(number).copied().flatten().map(|value| (value - 1).max(0)))", WAITING),
    ("only-the-lowest-index-is-written", PROGRAM + "footprints.rs", "            Place::Element(element) => element.slots_within(&bounds),", "            Place::Element(element) => element.slots_within(&|index: &Index| (bounds(index).0, bounds(index).0)),", WAITING),
    ("touched-without-the-frames-below", PROGRAM + "persistent.rs", "                let lower = known[rest as usize].ever;", "                let lower = footprints.of_nobody().ever;", WAITING),
    ("touched-without-the-frames-below-others", PROGRAM + "persistent.rs", "            || touching.grown > 0\n", "            || touching.grown == usize::MAX\n", WAITING),
    ("a-first-read-is-only-a-read", PROGRAM + "footprints.rs", "            let unset = unset.get(word).copied().unwrap_or(0);", "            let unset = unset.get(word).copied().unwrap_or(0) & 0;", WAITING),
    # Who waits.
    ("sets-of-threads-are-not-closed", PROGRAM + "persistent.rs", "                    set.push(other);", "                    let _ = other;", WAITING),
    ("sets-of-threads-are-not-completed", ENGINES + "closure/rounds.rs", "        if std::mem::replace(&mut known.futures, system.futures()) != system.futures() {", "        if std::mem::replace(&mut known.futures, system.futures()) == usize::MAX {", WAITING),
    ("threads-of-a-set-may-be-stuck", PROGRAM + "persistent.rs", "            if better && !self.may_be_stuck(row, &set) {", "            if better {", WAITING),
    ("threads-are-ignored-at-states", ENGINES + "closure/rounds.rs", "                true => self.reduced.as_mut().map(|reduced| reduced.round(&self.explorer)).unwrap_or_default(),", "                true => Vec::new(),", WAITING),
    ("threads-are-ignored-at-views", ENGINES + "closure/rounds.rs", "                false => self.round(index, budget)?,", "                false => Vec::new(),", WAITING),
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
    """Whether the checker notices on programs that are kept: for what the book says, and because they fooled somebody once."""
    command = ["cargo", "test", "--offline", "-p", "tepui-tests", "--test", *SENTENCES]
    result = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    output = result.stdout + result.stderr
    if told := re.findall(r" differ:\n(.*)", output):
        return ("WRONG VERDICT" if "safe, but" in output else "caught"), ["on a sentence: " + told[0][:200]]
    command = ["cargo", "test", "--offline", "-p", "tepui-cli", "--test", "cli", "hostile::verdicts_are_right"]
    result = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    told = re.findall(r"the certificate fails[^\"]*|cannot follow a trace[^\"]*", result.stdout + result.stderr)
    return ("caught", ["on an example: " + told[0][:100]]) if result.returncode != 0 and told else ("SURVIVED", [])


# For each list of mutants the test that judges them.
TESTS = [
    (MUTANTS, READINGS),
    (PRODUCT_MUTANTS, ["rendezvous", "views::what_is_accepted_is_right"]),
    (ENGINE_MUTANTS, ["engines", "agreement::engines_agree_with_each_other"]),
    *(([mutant[:4]], mutant[4]) for mutant in ON_DEMAND_MUTANTS),
]

# Where any failure of the test will do.
NOTICED = {mutant[0] for mutant in ON_DEMAND_MUTANTS}


def grouped(output):
    """The differences that the comparison with the second reading has found."""
    groups = re.findall(r"^=== (.*?): seeds \[([^\]]*)\]", output, re.M)
    seeds = sum(len(seeds.split(",")) for _, seeds in groups)
    wrong = [f"{name}: seeds {seeds}" for name, seeds in groups if "not believed" not in name and "safe, but" in name]
    if wrong:
        return "WRONG VERDICT", wrong
    return ("caught", [f"{seeds} programs: " + "; ".join(name for name, _ in groups)]) if groups else None


def judge(tree, programs, name, tests):
    """Whether the test notices, and how."""
    # A target folder of its own: cargo takes crates at the same place of two trees for the same.
    environment = dict(os.environ, TEPUI_RANDOM_PROGRAMS=str(programs), TEPUI_RANDOM_SHOWN="0", RUST_BACKTRACE="0")
    environment["CARGO_TARGET_DIR"] = os.path.join(tree, "target")
    command = ["cargo", "test", "--offline", "-p", "tepui-tests", "--test", *tests]
    result = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    output = result.stdout + result.stderr
    if result.returncode == 0:
        return examples(tree, environment) if tests == READINGS and name not in NOTICED else ("SURVIVED", [])
    if found := grouped(output):
        return found
    told = re.findall(r"panicked at .*\n(.*)", output)
    if any("SelfCheckFailed" in line or "the certificate fails" in line for line in told):
        return "caught", [told[0][:150]]
    # Both searches have been believed, and they differ.
    verdicts = re.findall(r"(?:left|right): (Safe|Unsafe)$", output, re.M)
    if any("accepted" in line for line in told) or len(verdicts) == 2:
        return "WRONG VERDICT", told + output.splitlines()[-60:]
    # What an engine says must agree with what it said before: debug builds stop it otherwise.
    if any("were violated, now" in line for line in told) or told and name in NOTICED:
        return "caught", [told[0][:150]]
    return "DOES NOT BUILD OR ENDS OTHERWISE", told or output.strip().splitlines()[-5:]


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
            verdict, details = judge(tree, arguments.programs, mutant[0], tests)
            verdicts.setdefault(verdict, []).append(mutant[0])
            print(f"{mutant[0]:45} {verdict}", *details, sep="\n    ", flush=True)
            with open(path, "w", encoding="utf-8") as target:
                target.write(content)
    print(", ".join(f"{len(names)} {verdict}" for verdict, names in sorted(verdicts.items())))
    return 0 if set(verdicts) == {"caught"} else 1


if __name__ == "__main__":
    sys.exit(main())
