//! protocols/agreement/two_phase.py for Stateright, with sets as bits, which suits it best. Prints a line of JSON.
//!
//!     two-phase-commit MANAGERS THREADS {all|symmetric}
//!
//! `symmetric` is depth-first, the only search in which Stateright has symmetry.

use std::time::Instant;

use stateright::{Checker, Model, Property, Representative};

#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
enum Status {
    Working,
    Prepared,
    Committed,
    Aborted,
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Decision {
    Open,
    Committed,
    Aborted,
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Commitment {
    rm: Vec<Status>,
    decision: Decision,
    prepared: u32,
    sent_prepared: u32,
    sent_commit: bool,
    sent_abort: bool,
}

impl Representative for Commitment {
    fn representative(&self) -> Self {
        let bit = |set: u32, r: usize| set >> r & 1;
        let mut managers: Vec<_> =
            (0..self.rm.len()).map(|r| (self.rm[r], bit(self.prepared, r), bit(self.sent_prepared, r))).collect();
        managers.sort_unstable();
        let set = |bits: &mut dyn Iterator<Item = u32>| bits.enumerate().fold(0, |all, (r, one)| all | one << r);
        Commitment {
            rm: managers.iter().map(|each| each.0).collect(),
            prepared: set(&mut managers.iter().map(|each| each.1)),
            sent_prepared: set(&mut managers.iter().map(|each| each.2)),
            ..self.clone()
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    ReceivePrepared(usize),
    Commit,
    Abort,
    Prepare(usize),
    ChooseToAbort(usize),
    ReceiveCommit(usize),
    ReceiveAbort(usize),
}

struct TwoPhase {
    rms: usize,
}

impl Model for TwoPhase {
    type State = Commitment;
    type Action = Step;

    fn init_states(&self) -> Vec<Commitment> {
        let (rm, decision) = (vec![Status::Working; self.rms], Decision::Open);
        vec![Commitment { rm, decision, prepared: 0, sent_prepared: 0, sent_commit: false, sent_abort: false }]
    }

    fn actions(&self, s: &Commitment, steps: &mut Vec<Step>) {
        let open = s.decision == Decision::Open;
        if open && s.prepared == (1 << self.rms) - 1 {
            steps.push(Step::Commit);
        }
        if open {
            steps.push(Step::Abort);
        }
        for r in 0..self.rms {
            if open && s.sent_prepared >> r & 1 == 1 {
                steps.push(Step::ReceivePrepared(r));
            }
            if s.rm[r] == Status::Working {
                steps.extend([Step::Prepare(r), Step::ChooseToAbort(r)]);
            }
            if s.sent_commit {
                steps.push(Step::ReceiveCommit(r));
            }
            if s.sent_abort {
                steps.push(Step::ReceiveAbort(r));
            }
        }
    }

    fn next_state(&self, before: &Commitment, step: Step) -> Option<Commitment> {
        let mut s = before.clone();
        match step {
            Step::ReceivePrepared(r) => s.prepared |= 1 << r,
            Step::Commit => (s.decision, s.sent_commit) = (Decision::Committed, true),
            Step::Abort => (s.decision, s.sent_abort) = (Decision::Aborted, true),
            Step::Prepare(r) => {
                s.rm[r] = Status::Prepared;
                s.sent_prepared |= 1 << r;
            }
            Step::ChooseToAbort(r) | Step::ReceiveAbort(r) => s.rm[r] = Status::Aborted,
            Step::ReceiveCommit(r) => s.rm[r] = Status::Committed,
        }
        Some(s)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("consistent", |_, s: &Commitment| {
            !(s.rm.contains(&Status::Aborted) && s.rm.contains(&Status::Committed))
        })]
    }
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let number = |at: usize| words[at].parse::<usize>().expect("a number");
    let started = Instant::now();
    let checker = TwoPhase { rms: number(1) }.checker().threads(number(2));
    let (distinct, generated) = if words[3] == "symmetric" {
        let done = checker.symmetry().spawn_dfs().join();
        (done.unique_state_count(), done.state_count())
    } else {
        let done = checker.spawn_bfs().join();
        (done.unique_state_count(), done.state_count())
    };
    let seconds = started.elapsed().as_secs_f64();
    println!("{{\"distinct\": {distinct}, \"generated\": {generated}, \"seconds\": {seconds}}}");
}
