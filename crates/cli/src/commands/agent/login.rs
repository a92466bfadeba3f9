//! `highwater agent login`: logs somebody in with an agent, by the agent's own way.

use agents::{Login as Way, LoginBy};
use clap::Args;

use crate::commands::doctor::{Local, shown};
use crate::context::Context;
use crate::display;
use crate::failure::{Failure, Kind};

/// Log in with a preset's agent, by the agent's own way
///
/// Runs on this machine, as the user that runs highwater serve. The agent keeps the login where it always does; Highwater
/// does not see it. For the profile lean, and for a server of its own user, give the agent a key or a long-lived token
/// instead: highwater agent add … --env NAME.
#[derive(Debug, Args)]
#[command(after_help = "Example: highwater agent login claude")]
pub(crate) struct Login {
    /// Preset
    preset: String,
    /// Way to log in, where the agent has several
    #[arg(long, value_name = "ID")]
    method: Option<String>,
}

impl Login {
    /// Carries it out.
    pub(crate) fn run(self, context: &Context) -> Result<(), Failure> {
        let local = Local::new(context)?;
        let ways = local.logins(&self.preset)?;
        let way = choose(&ways, &self.preset, self.method.as_deref())?;
        match &way.by {
            LoginBy::Terminal { program, arguments } => {
                let (own, env) = local.program(&self.preset)?;
                let program = program.as_ref().unwrap_or(&own);
                attend(program, arguments, &env)?;
            }
            LoginBy::Itself => {
                display::note(&format!("{} logs in by {}: it may open a browser", self.preset, way.name));
                local.log_in(&self.preset, &way.id, |text| display::note(text.trim_end()))?;
            }
            LoginBy::Variables(names) => return Err(by_variable(&self.preset, names)),
        }
        let examined = local.examine(&self.preset)?;
        let about = examined.findings.iter().filter(|finding| finding.text.contains("logged in"));
        display::print(&about.map(shown).collect::<String>())
    }
}

fn attend(program: &str, arguments: &[String], env: &[(String, String)]) -> Result<(), Failure> {
    let command: Vec<String> = [program.to_owned()].iter().chain(arguments).cloned().collect();
    let ended = agents::attend(&command, env)
        .map_err(|error| Failure::new(Kind::Invalid, format!("{program} could not be started: {error}")))?;
    if ended.success() {
        return Ok(());
    }
    Err(Failure::new(Kind::Denied, format!("{} ended with {ended}", command.join(" "))))
}

/// The way that was asked for, else the only one there is.
fn choose<'a>(ways: &'a [Way], preset: &str, wanted: Option<&str>) -> Result<&'a Way, Failure> {
    let list = || {
        let ways = ways.iter().map(|way| format!("\n  --method {:<18} {}", way.id, way.name));
        display::block(&ways.collect::<String>())
    };
    match (ways, wanted) {
        ([], _) => Err(Failure::new(Kind::Invalid, format!("{preset} offers no way to log in"))
            .hint("log in as you do in your terminal")),
        (_, Some(wanted)) => ways.iter().find(|way| way.id == wanted).ok_or_else(|| {
            Failure::new(
                Kind::NotFound,
                format!("{preset} has no way {wanted:?} to log in; it has:{}", list()),
            )
        }),
        ([only], None) => Ok(only),
        (_, None) => Err(Failure::new(
            Kind::Invalid,
            format!("{preset} has several ways to log in; choose one:{}", list()),
        )),
    }
}

fn by_variable(preset: &str, names: &[String]) -> Failure {
    let name = names.first().map_or("NAME", String::as_str);
    Failure::new(Kind::Invalid, format!("this way is a key in the variable {}", names.join(" or ")))
        .hint(format!("highwater agent add HANDLE --channel NAME --preset {preset} --env {name}"))
}

#[cfg(test)]
mod tests;
