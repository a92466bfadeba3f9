//! What a holder is to do, as arguments of a command.

use std::ffi::OsString;

use crate::message::{Hide, Sight};

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// What the agent must not see.
    pub(crate) hide: Option<Hide>,
    /// Whose processes it sees.
    pub(crate) sight: Sight,
    /// What to start.
    pub(crate) program: OsString,
    /// Its arguments.
    pub(crate) arguments: Vec<OsString>,
}

/// How [`Plan::parse`] reads one.
pub(super) const USAGE: &str = "[--hide FOLDER --but FOLDER] [--apart] -- COMMAND [ARG…]";

impl Plan {
    /// For a command; `None` if it is empty.
    pub(crate) fn new(command: &[String], hide: Option<Hide>, sight: Sight) -> Option<Self> {
        let (program, arguments) = command.split_first()?;
        let arguments = arguments.iter().map(OsString::from).collect();
        Some(Self { hide, sight, program: program.into(), arguments })
    }

    /// As the arguments that [`Self::parse`] reads.
    pub(crate) fn words(&self) -> Vec<OsString> {
        let mut words = Vec::new();
        if let Some(Hide { folder, but }) = &self.hide {
            words.extend(["--hide".into(), folder.into(), "--but".into(), but.into()]);
        }
        if self.sight == Sight::Own {
            words.push("--apart".into());
        }
        words.extend(["--".into(), self.program.clone()]);
        words.extend(self.arguments.iter().cloned());
        words
    }

    /// Reads arguments; `None` if they are wrong.
    pub(super) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Option<Self> {
        let mut arguments = arguments.into_iter();
        let (mut hide, mut sight) = (None, Sight::All);
        loop {
            let word = arguments.next()?;
            match word.to_str()? {
                "--hide" => {
                    let folder = arguments.next()?.into();
                    if arguments.next()? != "--but" {
                        return None;
                    }
                    hide = Some(Hide { folder, but: arguments.next()?.into() });
                }
                "--apart" => sight = Sight::Own,
                "--" => {
                    return Some(Self {
                        hide,
                        sight,
                        program: arguments.next()?,
                        arguments: arguments.collect(),
                    });
                }
                _ => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(arguments: &[&str], expect: &Option<Plan>) {
        assert_eq!(&Plan::parse(arguments.iter().map(OsString::from)), expect, "{arguments:?}");
        if let Some(plan) = expect {
            assert_eq!(&plan.words(), arguments);
        }
    }

    #[test]
    fn arguments_name_the_agent_and_what_it_must_not_see() {
        let plan = |hide: Option<(&str, &str)>, sight: Sight, command: &[&str]| {
            let hide = hide.map(|(folder, but)| Hide { folder: folder.into(), but: but.into() });
            let command: Vec<String> = command.iter().map(|&word| word.to_owned()).collect();
            Plan::new(&command, hide, sight)
        };
        check(&["--", "a"], &plan(None, Sight::All, &["a"]));
        check(&["--", "a", "--", "-b"], &plan(None, Sight::All, &["a", "--", "-b"]));
        check(&["--apart", "--", "a"], &plan(None, Sight::Own, &["a"]));
        let hidden = Some(("/d", "/d/a"));
        check(&["--hide", "/d", "--but", "/d/a", "--", "a"], &plan(hidden, Sight::All, &["a"]));
        check(&["--hide", "/d", "--but", "/d/a", "--apart", "--", "a"], &plan(hidden, Sight::Own, &["a"]));
        for wrong in [
            &[][..],
            &["a"],
            &["--"],
            &["--apart"],
            &["--hide", "/d", "--", "a"],
            &["--hide", "/d", "--but", "/e", "a"],
        ] {
            check(wrong, &None);
        }
    }
}
