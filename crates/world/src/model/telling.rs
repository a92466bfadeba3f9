//! The words of a user turn (2.3, 3.6): payload, brief or reminder, block.

use delivery::{AuthorKind, Policy, prose};

use super::chat::{Bound, Line};
use super::clean;
use super::session::{Fields, Session, Telling};
use super::{Model, Phase, Run};
use crate::breach::Checked;

/// Fields that every payload has.
const ALWAYS: [&str; 4] = ["message_id", "run_id", "author", "text"];

impl Model {
    /// The user turn of a mention, and what it tells.
    pub(super) fn user_turn(
        &self,
        session: &Session,
        run: &Run,
        block: Option<&str>,
    ) -> Checked<(String, Telling)> {
        let spec = self.chat.spec(&run.key)?;
        let is_lean = spec.delivery == Policy::Lean;
        let mut fields = self.fields(run)?;
        if !is_lean {
            fields.retain(|(key, _)| *key != "author");
        }
        let base = session.told.base().filter(|_| is_lean);
        let written: Vec<String> = fields
            .iter()
            .filter(|field| ALWAYS.contains(&field.0) || !base.is_some_and(|base| base.contains(field)))
            .map(|(key, value)| format!("\"{key}\":{value}"))
            .collect();
        let knows_brief = base.is_some() || session.system.is_some();
        let brief = match is_lean && knows_brief {
            true => prose::REMINDER,
            false => prose::channel_task_brief(),
        };
        let mut text = format!("{}\n\n{{{}}}\n\n---\n{brief}", prose::MENTIONED, written.join(","));
        if let Some(block) = block {
            text.push_str(&format!("\n\n{block}"));
        }
        let telling = Telling {
            fields,
            whole: base.is_none(),
            bytes: text.len(),
            compactions: session.told.compactions(),
        };
        Ok((text, telling))
    }

    /// All facts of a mention.
    fn fields(&self, run: &Run) -> Checked<Fields> {
        let spec = self.chat.spec(&run.key)?;
        let line = self.chat.known(&run.message)?;
        let agents = self.chat.agents(&run.key.channel).map(|(id, bound)| {
            let key = delivery::model::Key { channel: run.key.channel.clone(), binding: id.clone() };
            let handle = &bound.spec.handle;
            format!("{{\"handle\":{},\"reachable\":{}}}", quoted(handle), self.reachable(&key, bound))
        });
        let resident = spec.session == delivery::model::SessionPolicy::Resident;
        Ok(vec![
            ("channel_id", quoted(run.key.channel.as_str())),
            ("message_id", quoted(run.message.as_str())),
            ("run_id", quoted(run.id.as_str())),
            ("binding_id", quoted(run.key.binding.as_str())),
            ("runtime", quoted(&format!("cli:{}:agent", spec.preset))),
            ("supervised", spec.supervised.to_string()),
            ("resident", resident.to_string()),
            ("thread_root_id", run.thread.as_ref().map_or("null".to_owned(), |root| quoted(root.as_str()))),
            ("channel_agents", format!("[{}]", agents.collect::<Vec<_>>().join(","))),
            ("max_recipients", self.recipients_max.to_string()),
            ("author", author(line)),
            ("text", quoted(&line.text)),
        ])
    }

    /// Its process lives, or its command can be started. One that is being started may turn out not to.
    fn reachable(&self, key: &delivery::model::Key, bound: &Bound) -> bool {
        let lives = self.processes.get(key).is_some_and(|process| match process.phase {
            Phase::Idle { .. } | Phase::Busy(_) => true,
            Phase::Starting | Phase::Ending => false,
        });
        lives || !self.missing.contains(&bound.spec.handle)
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(clean::text(text)).to_string()
}

fn author(line: &Line) -> String {
    let kind = match line.kind {
        AuthorKind::User => "user",
        AuthorKind::Agent => "agent",
        AuthorKind::System => "system",
    };
    format!("{{\"kind\":\"{kind}\",\"name\":{}}}", quoted(&line.author))
}
