//! The words that Highwater says to an agent: framing, brief, reminder and headers.

/// Tells an agent what it is and the house rules. Constant: the same for every channel, person, date and run.
pub const FRAMING: &str = "";

/// The first sentence of a mention's user turn (2.3).
pub const MENTIONED: &str = "You were mentioned in a team chat channel. The details are below.";

/// How to act on a mention; at most 480 tokens of cl100k_base.
pub fn channel_task_brief() -> &'static str {
    unimplemented!()
}

/// Stands for the brief once a session has it; at most 30 tokens of cl100k_base (3.6).
pub const REMINDER: &str = "";

/// The framing with a binding's own instructions behind it (3.8), if it has any that are not blank.
pub fn framing(instructions: Option<&str>) -> String {
    let _ = instructions;
    unimplemented!()
}

/// What stands in a true system prompt (3.4, 3.6): the framing, and after it the brief.
pub fn system_prompt(instructions: Option<&str>) -> String {
    let _ = instructions;
    unimplemented!()
}
