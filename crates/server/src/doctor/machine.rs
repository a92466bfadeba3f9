//! What there is to say of the machine.

use agents::{Secrets, Sight, Spec, Trial};

use super::{Doctor, found, remedy};
use crate::wire::{Finding, Level};

/// Bytes that should be free where the data is.
const FREE_BYTES_MIN: u64 = 1 << 30;

/// Where records of the trial stand, in the folder of what is asked.
const RECORDS: &str = "records";

pub(super) async fn findings(doctor: &Doctor) -> Vec<Finding> {
    let mut findings = kept_apart(doctor).await;
    findings.push(git(doctor).await);
    findings.extend(space(doctor));
    findings
}

/// What the system refuses of what keeps agents apart (6.11).
async fn kept_apart(doctor: &Doctor) -> Vec<Finding> {
    let program = doctor.holder.iter().take(1).cloned().chain(["--version".to_owned()]).collect::<Vec<_>>();
    let own = doctor.folder.join("trial");
    let spec =
        Spec { memory_max: doctor.memory_max, secrets: Secrets::default(), ..doctor.plain(&program, own) };
    let Trial { sight, notices } = agents::trial(&doctor.holder, &doctor.folder.join(RECORDS), &spec).await;
    let mut findings: Vec<Finding> = notices
        .into_iter()
        .map(|notice| {
            remedy(
                Level::Warning,
                notice,
                "allow user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone), or run the \
                 server in a container or as a user of its own",
            )
        })
        .collect();
    if sight == Sight::All && agents::runs_as_root() {
        findings.push(remedy(
            Level::Warning,
            "as root, agents can read each other's environment",
            "give the server a user of its own",
        ));
    }
    if findings.is_empty() {
        let seen = match sight {
            Sight::Own => "agents see neither the data folder nor each other's processes",
            Sight::All => {
                "agents do not see the data folder; they see each other's processes, as the settings say"
            }
        };
        findings.push(found(Level::Ok, seen));
    }
    findings
}

async fn git(doctor: &Doctor) -> Finding {
    let command = ["git".to_owned(), "--version".to_owned()];
    let told = match doctor.finds(&command) {
        true => doctor.told(doctor.plain(&command, doctor.folder.join("git"))).await,
        false => None,
    };
    match told.filter(|told| told.status == Some(0)) {
        Some(told) => found(Level::Ok, format!("{} is there, for projects", told.output)),
        None => remedy(Level::Note, "git was not found: channels cannot have projects", "install git"),
    }
}

/// Where space runs out.
fn space(doctor: &Doctor) -> Option<Finding> {
    let folder = doctor.hidden.as_ref()?;
    let seen = rustix::fs::statvfs(folder).ok()?;
    let free = seen.f_bavail.saturating_mul(seen.f_frsize);
    let unit = if free < FREE_BYTES_MIN { 1 << 20 } else { 1 << 30 };
    let amount = agents::amount(free / unit * unit);
    Some(if free < FREE_BYTES_MIN {
        let text = format!("the disk of {} has {amount} left", folder.display());
        remedy(Level::Warning, text, "make room: without any, messages are refused")
    } else {
        found(Level::Ok, format!("the disk of the data folder has {amount} left"))
    })
}
