//! Rules that the seeded world breaks on purpose, to see that it would notice. In every other build they hold.
//!
//! Each stands where the code holds the rule, as `broken(Rule::…)`. Without the feature `faults`, which the world alone
//! asks for, that is a constant: no rule can be broken, and nothing of this is left in the program.

#[cfg(feature = "faults")]
use std::cell::Cell;

macro_rules! rules {
    ($($(#[doc = $what:literal])* $name:ident $number:literal,)*) => {
        /// A rule that can be broken, with its number in the specification.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Rule {
            $($(#[doc = $what])* $name,)*
        }

        impl Rule {
            /// All there are.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// Its number in the specification.
            pub fn number(self) -> &'static str {
                match self {
                    $(Self::$name => $number,)*
                }
            }

            /// What it says, in a sentence.
            pub fn sentence(self) -> &'static str {
                match self {
                    $(Self::$name => concat!($($what),*).trim_ascii(),)*
                }
            }
        }
    };
}

rules! {
    /// One message reaches so many agents and no more.
    MaxRecipients "2.1",
    /// A message that is posted again with its client id is there once.
    PostedOnce "2.1",
    /// A reply stands where the mention was.
    RepliesInPlace "2.4",
    /// A turn without a text and a post is told of.
    SilenceIsTold "2.5",
    /// Queued mentions get their turns in order.
    TurnsInOrder "2.6",
    /// A stop by a person holds what waits behind it.
    StopHolds "2.6",
    /// What is held by a stop is said.
    HeldIsSaid "2.6",
    /// A person who mentions the agent again lets go what was held.
    PersonLetsGo "2.6",
    /// A paused key begins nothing.
    PauseHolds "2.6",
    /// A pause takes back what waits for a process or its turn.
    PauseTakesBack "2.6",
    /// The pause of a channel and that of all are apart.
    PausesAreApart "2.6",
    /// An agent never calls itself.
    NeverItself "2.7",
    /// Agents take so many turns in a row, then a person must write.
    TurnsInARow "2.7",
    /// A restart picks up what is queued.
    QueuedIsPickedUp "2.8",
    /// A restart begins nothing again that may have begun.
    BegunIsNotBegunAgain "2.8",
    /// A process that dies with a written prompt fails its run.
    WrittenFails "2.8",
    /// A prompt that was not written is tried again.
    UnwrittenIsTriedAgain "2.8",
    /// A turn that failed for a passing reason is tried again.
    PassingIsTriedAgain "2.8",
    /// What an agent began to do is not done twice.
    ActedIsNotTriedAgain "2.8",
    /// The time that a provider names is kept.
    RetryAfterIsKept "2.8",
    /// Nobody waits for a provider that names a very long time.
    LongWaitsFail "2.8",
    /// A run is tried so often and no more.
    TriesEnd "2.8",
    /// A restart goes on to wait.
    WaitsOutliveServers "2.8",
    /// A restart holds what was held.
    HoldsOutliveServers "2.8",
    /// A restart lets nothing paused go on.
    PausesOutliveServers "2.8",
    /// Who may not address an agent makes no run of it.
    WhoMayAddress "2.9",
    /// A warm turn carries no framing.
    WarmWithoutFraming "3.1",
    /// A new session gets the framing.
    ColdWithFraming "3.1",
    /// A resident process is never given its own transcript.
    OldTurnsOnce "3.2",
    /// What a restored history holds of the framing is not sent again.
    HeldFramingIsNotSent "3.4",
    /// The brief is reminded of once a session has it.
    BriefOnce "3.6",
    /// The next try is told as much as a first one.
    TriedAgainIsWhole "3.6",
    /// After a turn that failed the payload is whole again.
    WholeAfterFailure "3.6",
    /// After a reload the payload is whole again.
    WholeAfterReload "3.6",
    /// The addressed message is no line of its own block.
    AddressedIsNoLine "4.1",
    /// The newest lines are kept.
    NewestAreKept "4.1",
    /// What an agent session wrote is no news to it.
    OwnIsNoNews "4.4",
    /// Queued mentions are no context.
    QueuedIsNoContext "4.5",
    /// What waits is remembered, and comes later if its run ends otherwise.
    WaitingIsRemembered "4.5",
    /// What the limit leaves out is counted.
    LeftOutIsCounted "4.6",
    /// Line breaks in a body are indented.
    BreaksAreIndented "4.7",
    /// A cut says how many characters are missing.
    MissingIsCounted "4.8",
    /// Edits of what was shown are told.
    EditsAreTold "4.9",
    /// Deletions of what was shown are told.
    DeletionsAreTold "4.9",
    /// A change is told once.
    ChangesAreToldOnce "4.9",
    /// What was deleted before it was shown is never shown.
    DeletedIsNeverShown "4.9",
    /// The first mention in a thread brings its root.
    RootComesFirst "4.10",
    /// The root is not told to a session that was given it.
    RootIsToldOnce "4.10",
    /// The watermark moves to what stood there.
    MarkAdvances "5.1",
    /// The addressed message is among the ids.
    AddressedIsRemembered "5.1",
    /// A watermark counts for its own native session alone.
    MarkOfItsSession "5.2",
    /// Who keeps no session has no watermark.
    NoSessionNoMark "5.3",
    /// A turn that failed commits nothing.
    FailureCommitsNothing "5.4",
    /// A decline commits.
    DeclineCommits "5.4",
    /// Times within a channel grow, whatever the clock does.
    TimesGrow "5.5",
    /// A transaction that does not end well leaves nothing.
    AllOrNothing "5.6",
    /// What comes from an older epoch changes nothing.
    OldEpochsAreDead "5.7",
    /// So many processes are alive at once, and no more.
    PoolSize "6.1",
    /// An idle process ends after its time.
    IdleEnds "6.1",
    /// The least recently used process makes room.
    LeastRecentlyUsed "6.3",
    /// A process that died is not handed out.
    DeadIsGone "6.4",
    /// Idle processes prove that they live after the computer slept.
    SleepersProve "6.4",
    /// With the session policy `fresh` each run has a new session.
    FreshEachRun "6.5",
    /// With the session policy `saved` no process stays between turns.
    SavedEndsAfterTurn "6.5",
    /// Under `base` resident sessions are begun anew, not reloaded.
    BaseBeginsAnew "6.5",
    /// A session that cannot be reloaded is told of.
    LostSessionIsTold "6.6",
    /// A session that was reloaded on the agent's word, and is another, is not used again.
    DoubtedIsLeft "6.6",
    /// A session whose process goes away again and again is left.
    CrashingIsLeft "6.6",
    /// A fresh start is not taken back by a restart.
    FreshIsDurable "6.7",
    /// Start fresh ends a busy session after its turn.
    FreshAfterTurn "6.7",
    /// A stop ends the idle processes.
    StopEndsAll "6.8",
    /// A permission card that nobody answers is rejected in time.
    CardsTimeOut "6.10",
    /// A permission card ends with its run.
    CardsEndWithTheirRun "6.10",
    /// A permission card ends with its server.
    CardsEndWithTheServer "6.10",
    /// Without supervision rules decide, not people.
    UnsupervisedByRule "6.10",
    /// A turn that failed frees its key.
    FailedFreesItsKey "6.9",
    /// A session of which the provider takes no request is replaced.
    PoisonedIsReplaced "6.12",
    /// After a process failed the next one waits.
    FailedProcessesWait "6.12",
    /// A process that fails again and again waits for a person.
    CrashLoopsEnd "6.12",
    /// An answer forgives the processes that failed before.
    AnswerForgives "6.12",
    /// What a session fetched counts as shown to it.
    FetchedIsShown "7.7",
}

/// Whether this build can break rules.
pub const BREAKABLE: bool = cfg!(feature = "faults");

#[cfg(feature = "faults")]
thread_local! {
    static BROKEN: Cell<Option<Rule>> = const { Cell::new(None) };
}

/// Breaks a rule on this thread from now on, or mends what was broken.
#[cfg(feature = "faults")]
pub fn break_rule(rule: Option<Rule>) {
    BROKEN.set(rule);
}

/// Whether a rule is broken on this thread.
#[cfg(feature = "faults")]
pub fn broken(rule: Rule) -> bool {
    BROKEN.get() == Some(rule)
}

/// Whether a rule is broken on this thread: none can be.
#[cfg(not(feature = "faults"))]
pub const fn broken(_rule: Rule) -> bool {
    false
}
