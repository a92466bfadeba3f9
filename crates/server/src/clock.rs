//! The clocks, read in one place, and what they tell of a computer that was asleep.

use std::time::{Duration, Instant, SystemTime};

use delivery::{Moment, Timestamp};
use rustix::time::{ClockId, clock_gettime};

use crate::engine::Now;

/// A sleep that no agent notices.
const ASLEEP_MS_MIN: u64 = 5_000;

/// How far ahead the wall clock has to jump to be taken for a sleep that the other clocks do not tell of, as that of a
/// virtual machine that was halted. It is also set by people and corrected; to be asked then costs an agent nothing.
const JUMP_MS_MIN: i64 = 30_000;

/// A clock that goes on while the computer sleeps.
#[cfg(target_os = "linux")]
const SLEEPLESS: ClockId = ClockId::Boottime;
#[cfg(not(target_os = "linux"))]
const SLEEPLESS: ClockId = ClockId::Monotonic;

/// Wall and monotonic time. The latter counts time asleep: what was idle all night has been idle for long.
#[derive(Clone, Copy)]
pub(crate) struct Clock {
    zero: Duration,
    awake_zero: Instant,
}

impl Clock {
    /// One that begins now.
    pub(crate) fn new() -> Self {
        Self { zero: sleepless(), awake_zero: Instant::now() }
    }

    /// The time.
    pub(crate) fn now(self) -> Now {
        let wall = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Now {
            wall: Timestamp { ms: i64::try_from(wall.as_millis()).unwrap_or(i64::MAX) },
            mono: Moment { ms: ms(sleepless().saturating_sub(self.zero)) },
        }
    }

    /// The time, and how much of it the computer was awake.
    pub(crate) fn reading(self) -> Reading {
        Reading { now: self.now(), awake_ms: ms(self.awake_zero.elapsed()) }
    }
}

fn sleepless() -> Duration {
    Duration::try_from(clock_gettime(SLEEPLESS)).unwrap_or_default()
}

fn ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// What all clocks said at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    pub(crate) now: Now,
    /// Time since the beginning without time asleep.
    pub(crate) awake_ms: u64,
}

/// Notices that the computer was asleep.
#[derive(Debug)]
pub(crate) struct Alarm {
    seen: Reading,
}

impl Alarm {
    /// From this moment on.
    pub(crate) fn new(now: Reading) -> Self {
        Self { seen: now }
    }

    /// Whether it was asleep since the last call, or since [`Self::new`].
    pub(crate) fn rings(&mut self, now: Reading) -> bool {
        let before = std::mem::replace(&mut self.seen, now);
        let asleep = |reading: &Reading| reading.now.mono.ms.saturating_sub(reading.awake_ms);
        let ahead = |reading: &Reading| {
            reading.now.wall.ms.saturating_sub(i64::try_from(reading.now.mono.ms).unwrap_or(i64::MAX))
        };
        asleep(&now).saturating_sub(asleep(&before)) >= ASLEEP_MS_MIN
            || ahead(&now).saturating_sub(ahead(&before)) >= JUMP_MS_MIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;
    const DAY: i64 = 24 * HOUR;

    /// Milliseconds by which each clock went on: wall, monotonic, awake.
    type Step = (i64, u64, u64);

    /// Fault experiment 11, rule 6.4 and public report J87: a sleep is noticed by whatever clock tells of it, and once.
    #[test]
    fn a_sleep_is_noticed_once() {
        let check = |steps: &[(Step, bool)]| {
            let at = |wall: i64, mono: u64, awake_ms: u64| Reading {
                now: Now { wall: Timestamp { ms: wall }, mono: Moment { ms: mono } },
                awake_ms,
            };
            let (mut wall, mut mono, mut awake) = (1_000 * DAY, 0, 0);
            let mut alarm = Alarm::new(at(wall, mono, awake));
            for (n, ((by_wall, by_mono, by_awake), rings)) in steps.iter().enumerate() {
                (wall, mono, awake) = (wall + by_wall, mono + by_mono, awake + by_awake);
                assert_eq!(alarm.rings(at(wall, mono, awake)), *rings, "step {n} of {steps:?}");
            }
        };
        let minute = (60_000, 60_000, 60_000);
        check(&[(minute, false), ((0, 0, 0), false), ((DAY, 86_400_000, 86_400_000), false)]);
        // The lid was closed for the night, and for a moment.
        check(&[(minute, false), ((8 * HOUR, 28_800_000, 40), true), (minute, false)]);
        check(&[((4_000, 4_000, 100), false), ((6_000, 6_000, 100), true)]);
        // A virtual machine was halted: its own clocks know of nothing.
        check(&[((HOUR, 30, 30), true), (minute, false)]);
        // The wall clock is set: ahead, it might have been a sleep; back, or a little, it was none.
        check(&[((DAY, 10, 10), true), ((-DAY, 10, 10), false), ((29_000, 10, 10), false)]);
        check(&[((-HOUR, 60_000, 60_000), false), (minute, false)]);
        // Asleep while the wall clock was set back.
        check(&[((-HOUR, 28_800_000, 40), true)]);
    }

    #[test]
    fn clocks_that_are_read_go_on() {
        let clock = Clock::new();
        let mut alarm = Alarm::new(clock.reading());
        let (one, two) = (clock.reading(), clock.reading());
        assert!(one.now.mono <= two.now.mono && one.awake_ms <= two.awake_ms);
        assert!(one.now.wall.ms > 1_700_000_000_000);
        assert!(!alarm.rings(two));
    }
}
