//! Breaks each rule on purpose and looks for the first seed that notices.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use delivery::faults::{Rule, break_rule};

use crate::play;

/// Seeds in which a broken rule must be noticed.
const SEEDS_MAX: u64 = 1_000;

/// Breaks those rules whose name or number has this in it; tells of each; whether all were noticed.
pub fn run(name: &str, folder: &Path, tell: &mut (dyn FnMut(&str) + Send)) -> bool {
    let name = name.to_lowercase();
    let is_meant = |rule: &&Rule| format!("{} {rule:?}", rule.number()).to_lowercase().contains(&name);
    let rules: Vec<Rule> = Rule::ALL.iter().filter(is_meant).copied().collect();
    let next = AtomicUsize::new(0);
    let told = Mutex::new((tell, 0_usize));
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(rule) = rules.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (line, noticed) = look(*rule, folder);
                    let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
                    (told.0)(&line);
                    told.1 += usize::from(noticed);
                }
            });
        }
    });
    let (tell, noticed) = told.into_inner().unwrap_or_else(PoisonError::into_inner);
    tell(&format!("{noticed} of {} broken rules were noticed", rules.len()));
    noticed == rules.len()
}

/// The first seed that notices that a rule is broken, in a line.
fn look(rule: Rule, folder: &Path) -> (String, bool) {
    let found = (1..=SEEDS_MAX).find_map(|seed| {
        break_rule(Some(rule));
        let failed = play(seed, folder).failed;
        break_rule(None);
        // A seed that fails anyway has noticed nothing.
        let failed = failed.filter(|_| play(seed, folder).failed.is_none());
        failed.map(|failed| (seed, failed))
    });
    let head = format!("{:5} {:24}", rule.number(), format!("{rule:?}"));
    match found {
        Some((seed, failed)) => {
            let what: String = failed.breach.to_string().replace('\n', " ").chars().take(110).collect();
            (format!("{head} seed {seed:3}: {what}"), true)
        }
        None => (format!("{head} NOT NOTICED in {SEEDS_MAX} seeds: {}", rule.sentence()), false),
    }
}
