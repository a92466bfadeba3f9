//! What there is to say of a preset's agent, by what it tells when it is started and asked.

use agents::{LoginBy, Modes, Refused, Seen, Versions};

use super::{Doctor, claude, found, gemini, remedy};
use crate::preset::{self, Ability, Known, Preset};
use crate::wire::{Examined, Finding, Level, LoginState};

/// Starts it and asks it.
pub(super) async fn examine(doctor: &Doctor, preset: Preset) -> Examined {
    let known = preset::known(preset.name);
    let probe = doctor.probe(&preset);
    let wanted = probe.spec.manner.mode.clone();
    let is_there = doctor.finds(&preset.command);
    let mut examined = Examined {
        preset: preset.name.to_owned(),
        title: preset.title.to_owned(),
        profiles: preset.profiles.to_vec(),
        command: preset.command.clone(),
        found: is_there,
        version: None,
        start_ms: None,
        login: LoginState::Unknown,
        reloads: None,
        system_prompt: None,
        steering: None,
        findings: Vec::new(),
    };
    if !is_there {
        examined.findings.push(missing(&preset));
        return examined;
    }
    if let Some(least) = known.and_then(|known| known.node) {
        examined.findings.extend(node(doctor, least).await);
    }
    let seen = match probe.run(&doctor.holder).await {
        Ok(seen) => seen,
        Err(reason) => {
            let install = preset.install.unwrap_or("cargo build --release");
            let again = format!("read what it says above; to install it anew: {install}");
            examined.findings.push(remedy(Level::Fault, format!("it does not start: {reason}"), again));
            return examined;
        }
    };
    let logged_in = login_status(doctor, &preset, known).await;
    let (login, findings) = findings(&seen, logged_in, wanted.as_deref(), &preset);
    examined.login = login;
    examined.findings.extend(findings);
    if preset.name == preset::claude::NAME {
        examined.findings.extend(claude::settings(doctor));
    }
    if preset.name == preset::gemini::NAME {
        examined.findings.extend(gemini::defaults(doctor));
    }
    Examined {
        version: seen.version,
        start_ms: u64::try_from(seen.took.as_millis()).ok(),
        reloads: Some(seen.load || seen.resume),
        system_prompt: Some(seen.system_prompt),
        steering: Some(seen.steering),
        ..examined
    }
}

/// What there is to say of what it told; `wanted` is the mode that its preset sets.
pub(super) fn findings(
    seen: &Seen,
    logged_in: Option<bool>,
    wanted: Option<&str>,
    preset: &Preset,
) -> (LoginState, Vec<Finding>) {
    let known = preset::known(preset.name);
    let state = login_state(seen, logged_in, known);
    let mut findings = vec![version(seen, preset, known), login(seen, state, preset, known)];
    if let Ok(modes) = &seen.session {
        findings.extend(mode(modes, wanted));
    }
    findings.extend(abilities(seen, known));
    findings.extend(known.into_iter().flat_map(breaks));
    (state, findings)
}

fn missing(preset: &Preset) -> Finding {
    let program = preset.command.first().map_or("its program", String::as_str);
    let text = format!("{program} was not found on the server's PATH");
    match preset.install {
        Some(install) => remedy(Level::Note, text, format!("to use it: {install}")),
        None => remedy(Level::Fault, text, "start the server again from where its program is"),
    }
}

/// Node, where it is older than the agent needs: npm then quietly installs an older agent.
async fn node(doctor: &Doctor, least: u64) -> Option<Finding> {
    let command = ["node".to_owned(), "--version".to_owned()];
    let told = doctor.told(doctor.plain(&command, doctor.folder.join("node"))).await?;
    let major: u64 = told.output.trim_start_matches('v').split('.').next()?.parse().ok()?;
    let text = format!("Node is {}; the agent needs {least} or newer", told.output);
    (major < least)
        .then(|| remedy(Level::Warning, text, format!("install Node {least} or newer, then the agent anew")))
}

fn version(seen: &Seen, preset: &Preset, known: Option<&Known>) -> Finding {
    let took = format!("it starts in {:.1} s", seen.took.as_secs_f64());
    let Some(version) = &seen.version else {
        return found(Level::Note, format!("{took}, and does not tell its version"));
    };
    let Some(tried) = known.and_then(|known| Versions::new(known.versions)) else {
        return found(Level::Ok, took);
    };
    if tried.hold(version) {
        return found(Level::Ok, format!("{took}; its version, {version}, is one that was tried"));
    }
    let install = preset.install.unwrap_or_default();
    remedy(
        Level::Note,
        format!("{took}; its version is {version}, and {tried} was tried"),
        format!("it may work as well; if something is odd: {install}"),
    )
}

/// What its program says of its login, where it has a way to be asked.
async fn login_status(doctor: &Doctor, preset: &Preset, known: Option<&Known>) -> Option<bool> {
    let arguments = known?.login_status;
    let program = preset.command.first().filter(|_| !arguments.is_empty())?;
    let mut spec = doctor.spec(preset);
    spec.command = [program.as_str()].iter().chain(arguments).map(|word| (*word).to_owned()).collect();
    doctor.told(spec).await.map(|told| told.status == Some(0))
}

fn login_state(seen: &Seen, logged_in: Option<bool>, known: Option<&Known>) -> LoginState {
    match (&seen.session, logged_in, &seen.account) {
        (Err(Refused { login: true, .. }), _, _) | (_, Some(false), _) => LoginState::Out,
        (Ok(_), Some(true), _) | (Ok(_), None, Some(_)) => LoginState::In,
        (Ok(_), None, None) if known.is_none() => LoginState::In,
        (Ok(_), None, None) | (Err(_), Some(true) | None, _) => LoginState::Unknown,
    }
}

fn login(seen: &Seen, state: LoginState, preset: &Preset, known: Option<&Known>) -> Finding {
    let name = preset.name;
    let variables = known.map_or(&[][..], |known| known.login_variables);
    let key = match variables.first() {
        Some(variable) => format!(", or give a channel's agent a key of its own: --env {variable}"),
        None => String::new(),
    };
    let log_in = match seen.logins.iter().any(|way| !matches!(way.by, LoginBy::Variables(_))) {
        true => format!("highwater agent login {name}{key}"),
        false => format!("log in as you do in your terminal{key}"),
    };
    match (state, &seen.session) {
        (LoginState::In, _) if known.is_none() => found(Level::Ok, "it needs no login"),
        (LoginState::In, _) => {
            let by = seen.account.as_ref().map(|account| format!(" ({account})")).unwrap_or_default();
            found(
                Level::Ok,
                format!(
                    "somebody is logged in{by}; whether the provider takes it shows at the first mention"
                ),
            )
        }
        (LoginState::Out, _) => remedy(Level::Warning, "nobody is logged in", log_in),
        (LoginState::Unknown, Ok(_)) => remedy(
            Level::Note,
            "it does not tell whether somebody is logged in before its first turn",
            log_in,
        ),
        (LoginState::Unknown, Err(Refused { text, .. })) => remedy(
            Level::Warning,
            format!("it begins no session: {text}"),
            format!("it may want a login: {log_in}"),
        ),
    }
}

/// The mode that the preset sets must be one that it has: else its processes are given up.
fn mode(modes: &Modes, wanted: Option<&str>) -> Option<Finding> {
    let wanted = wanted?;
    let current = modes.current.as_deref().unwrap_or("another");
    Some(if modes.all.iter().any(|mode| mode == wanted) {
        let text = match current == wanted {
            true => format!("it begins in its permission mode {wanted}, in which people are asked"),
            false => format!(
                "Highwater sets its permission mode {wanted}, in which people are asked, instead of {current}"
            ),
        };
        found(Level::Ok, text)
    } else {
        let has = modes.all.join(", ");
        remedy(
            Level::Fault,
            format!("it has no permission mode {wanted}, in which people are asked; it has {has}"),
            "install the version that was tried (highwater agent presets)",
        )
    })
}

/// What it can do, and what of that is new or missing.
fn abilities(seen: &Seen, known: Option<&Known>) -> Vec<Finding> {
    let has = |ability: Ability| match ability {
        Ability::Reload => seen.load || seen.resume,
        Ability::SystemPrompt => seen.system_prompt,
        Ability::Steering => seen.steering,
    };
    let Some(known) = known else { return Vec::new() };
    let all = Ability::ALL.into_iter();
    all.map(|ability| match (has(ability), known.can.contains(&ability)) {
        (true, _) => found(Level::Ok, can(ability)),
        (false, true) => remedy(
            Level::Warning,
            format!("{}, though the version that was tried could", cannot(ability)),
            "install the version that was tried (highwater agent presets)",
        ),
        (false, false) => found(Level::Note, cannot(ability)),
    })
    .collect()
}

fn can(ability: Ability) -> &'static str {
    match ability {
        Ability::Reload => "its sessions are reloaded: a restart or an eviction costs no memory",
        Ability::SystemPrompt => "its sessions take the framing as system prompt: no turn carries it",
        Ability::Steering => "a running turn can be steered (highwater run steer)",
    }
}

fn cannot(ability: Ability) -> &'static str {
    match ability {
        Ability::Reload => "its sessions cannot be reloaded: a restart or an eviction begins a new one",
        Ability::SystemPrompt => "its sessions take no system prompt: the first turn carries the framing",
        Ability::Steering => "a running turn cannot be steered",
    }
}

fn breaks(known: &Known) -> impl Iterator<Item = Finding> {
    known
        .breaks
        .iter()
        .map(|what| found(Level::Note, format!("it breaks the provider's cache itself at {what}")))
}
