//! What there is to say of an agent that was tried at the emulated provider.

use server::wire::{Finding, Level};
use sim::report::grouped;

use crate::commands::measure::Rehearsed;
use crate::failure::Failure;

/// What there is to say of it.
pub(super) fn findings(rehearsed: Result<Rehearsed, Failure>) -> Vec<Finding> {
    let rehearsed = match rehearsed {
        Ok(rehearsed) => rehearsed,
        Err(failure) => {
            let text = format!("tried at an emulated provider, it does not answer: {}", failure.message());
            return vec![found(Level::Fault, text, failure.remedy().or(Some(AGAIN.to_owned())))];
        }
    };
    let new =
        rehearsed.uncached_tokens.map(|tokens| format!(", {} of them new at the second", grouped(tokens)));
    let text = format!(
        "tried at an emulated provider: it answered three mentions with {} requests of {} tokens{}",
        rehearsed.requests,
        grouped(rehearsed.input_tokens),
        new.unwrap_or_default(),
    );
    let mut findings = vec![found(Level::Ok, text, None)];
    if rehearsed.side_requests > 0 {
        let text = format!("it asks its model for {} more beside the turns", rehearsed.side_requests);
        findings.push(found(Level::Note, text, None));
    }
    findings.push(match rehearsed.lease_after_restart.as_str() {
        "restored" => {
            found(Level::Ok, "its session went on in another process after a restart".to_owned(), None)
        }
        lease => {
            let text = format!("its session did not go on after a restart: the next turn was {lease}");
            found(
                Level::Warning,
                text,
                Some("highwater run show says why; each restart costs its memory".to_owned()),
            )
        }
    });
    if rehearsed.breaks.is_empty() {
        let text = "each of its requests was the one before and something more: the provider's cache holds";
        findings.push(found(Level::Ok, text.to_owned(), None));
    }
    findings.extend(rehearsed.breaks.into_iter().map(|(mention, before, after)| {
        let text =
            format!("at mention {mention} it changed what it had sent before: {before} became {after}");
        found(
            Level::Warning,
            text,
            Some("docs/cache-breaks.md says which of these are the agent's own".to_owned()),
        )
    }));
    findings
}

/// Where nothing better is known.
const AGAIN: &str = "highwater measure --mentions 1 --agent NAME tries it again";

fn found(level: Level, text: String, remedy: Option<String>) -> Finding {
    Finding { level, text, remedy }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Kind;

    #[test]
    fn a_try_is_told_by_what_it_showed() {
        let check = |rehearsed: Result<Rehearsed, Failure>, expected: &[(Level, &str)]| {
            let findings = findings(rehearsed);
            let levels: Vec<Level> = findings.iter().map(|finding| finding.level).collect();
            let wanted: Vec<Level> = expected.iter().map(|(level, _)| *level).collect();
            assert_eq!(levels, wanted, "{findings:#?}");
            for (finding, (_, part)) in findings.iter().zip(expected) {
                assert!(finding.text.contains(part), "{part:?} is not in {finding:?}");
                assert!(finding.level <= Level::Note || finding.remedy.is_some(), "{finding:?}");
            }
        };
        let plain = Rehearsed {
            lease_after_restart: "restored".to_owned(),
            requests: 3,
            side_requests: 0,
            input_tokens: 31_400,
            uncached_tokens: Some(140),
            breaks: Vec::new(),
        };
        let answered =
            (Level::Ok, "three mentions with 3 requests of 31,400 tokens, 140 of them new at the second");
        let went_on = (Level::Ok, "went on in another process");
        check(Ok(plain.clone()), &[answered, went_on, (Level::Ok, "the provider's cache holds")]);
        let worse = Rehearsed {
            lease_after_restart: "cold".to_owned(),
            side_requests: 2,
            breaks: vec![(2, "a".to_owned(), "b".to_owned())],
            ..plain
        };
        let expected = [
            answered,
            (Level::Note, "2 more beside the turns"),
            (Level::Warning, "did not go on after a restart: the next turn was cold"),
            (Level::Warning, "at mention 2 it changed what it had sent before: a became b"),
        ];
        check(Ok(worse), &expected);
        let failure = Failure::new(Kind::RunFailed, "its run failed").hint("look there");
        check(Err(failure), &[(Level::Fault, "does not answer: its run failed")]);
    }
}
