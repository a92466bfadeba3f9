//! What people, agents and machines say in a made channel: sentences with places for the things that a topic is about.
//!
//! In a sentence `{t}` is a thing, `{p}` a place in the code, `{n}` a number, `{w}` a person. An author never
//! names themselves.

/// What a stretch of a channel is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Topic {
    /// Things: noun phrases with their article.
    pub(super) things: [&'static str; 5],
    /// Places in the code: files, modules, services.
    pub(super) places: [&'static str; 5],
}

/// The people of every made channel.
pub(super) const PEOPLE: [&str; 5] = ["aiko", "ben", "chloe", "dmitri", "olive"];

pub(super) const TOPICS: [Topic; 8] = [
    Topic {
        things: [
            "the checkout spec",
            "the retry test",
            "the nightly suite",
            "the flaky login test",
            "the seed data",
        ],
        places: ["checkout_spec.rb", "spec/support", "login_test.rs", "the test runner", "ci/nightly.yml"],
    },
    Topic {
        things: ["the staging deploy", "the canary", "the rollout", "the release branch", "the health check"],
        places: ["deploy.sh", "the staging cluster", "release.toml", "the load balancer", "infra/canary"],
    },
    Topic {
        things: [
            "the slow query",
            "the orders index",
            "the migration",
            "the read replica",
            "the nightly vacuum",
        ],
        places: ["orders.sql", "db/migrate", "the reports page", "the replica", "query_plan.txt"],
    },
    Topic {
        things: [
            "the rounding bug",
            "the invoice export",
            "the tax table",
            "the refund flow",
            "the price cache",
        ],
        places: ["billing/round.rs", "invoice.py", "the export job", "tax_rates.csv", "billing/refund"],
    },
    Topic {
        things: ["the memory leak", "the worker pool", "the job queue", "the heap graph", "the retry loop"],
        places: ["worker.rs", "the queue service", "pool.go", "the metrics board", "jobs/retry"],
    },
    Topic {
        things: [
            "the settings page",
            "the dark theme",
            "the search box",
            "the date picker",
            "the empty state",
        ],
        places: ["Settings.svelte", "theme.css", "the search view", "DatePicker.ts", "the design file"],
    },
    Topic {
        things: [
            "the token refresh",
            "the sign-in loop",
            "the session cookie",
            "the rate limit",
            "the audit log",
        ],
        places: ["auth/token.rs", "the gateway", "session.ts", "limits.yaml", "the sign-in page"],
    },
    Topic {
        things: [
            "the release notes",
            "the upgrade guide",
            "the changelog",
            "the API docs",
            "the install script",
        ],
        places: ["CHANGELOG.md", "docs/upgrade.md", "the docs site", "install.sh", "openapi.json"],
    },
];

/// What people say to each other.
pub(super) const CHAT: [&str; 64] = [
    "anyone else seeing {t} fail?",
    "{t} broke again on main",
    "I think {t} is fine now, {n} green runs in a row",
    "can we move {t} to next week?",
    "{w} did you touch {p} yesterday?",
    "yes, but only the comments in {p}",
    "it is red for me too, same line in {p}",
    "I reverted my change in {p}, no difference",
    "{t} takes {n} seconds here, it used to take two",
    "let me look at {p} after lunch",
    "that was me, sorry, fixed in {p}",
    "works on my machine, of course",
    "do we have a ticket for {t}?",
    "yes, number {n}, nobody has picked it up",
    "I would rather fix {t} than write another workaround",
    "agreed, {p} has too many of those already",
    "the error only shows up under load",
    "{w} and I looked at it for an hour, no luck",
    "it started after the merge on Tuesday",
    "the log says nothing useful, as usual",
    "so is {t} blocking the release or not?",
    "not blocking, but customers will notice",
    "I can reproduce it with {n} parallel clients",
    "interesting, with one client it never happens",
    "then it smells like a race in {p}",
    "coffee first, then {p}",
    "pushed a branch with more logging in {p}",
    "thanks, running it now",
    "still the same after {n} tries",
    "support has {n} tickets about {t} since this morning",
    "please don't restart anything in {p} before I have a dump",
    "ok, hands off",
    "who is on call this weekend?",
    "{w} is, I take over on Monday",
    "the graph drops right when {t} starts",
    "maybe a timeout? the default is {n} seconds",
    "I set it to {n} and it helps a bit",
    "helps, but why? that is what bothers me",
    "let's write that down somewhere before we forget",
    "added a note in {p}",
    "nice find, that explains {t} as well",
    "can someone review my change to {p}?",
    "looking, give me ten minutes",
    "two small comments, otherwise good",
    "merged, thanks {w}",
    "deploying in {n} minutes unless someone shouts",
    "no objections from me",
    "all green, I am off for today",
    "did the backup finish before {t} started?",
    "{w}, could you paste the output from {p}?",
    "I have seen this once before, in March I think",
    "{p} was touched by {n} people this month",
    "we should really delete half of {p}",
    "only if {w} promises to review it",
    "the fix for {t} needs one more test",
    "who owns {p} these days?",
    "nobody, that is the problem",
    "{t} passed on the second try, so it is flaky",
    "moving this to the ticket, it gets long",
    "{n} failures since midnight, all in {p}",
    "the customer from yesterday asks about {t} again",
    "tell them Thursday, {w} wants to test it first",
    "I left a comment in {p} about the odd default",
    "can somebody with access look at {p}?",
];

/// What they say where a line of 20 to 26 tokens is due.
pub(super) const KNOWN: [&str; 6] = [
    "I would rather fix {t} than write another workaround for it",
    "support has {n} tickets about it since this morning, all the same",
    "it is red for me too, on the same line in {p} as yesterday",
    "please don't restart anything in {p} before I have a dump",
    "{w} and I looked at {t} for an hour, no luck so far",
    "pushed a branch with more logging in {p}, running it now",
];

/// What the agent that is not played says.
pub(super) const AGENT: [&str; 10] = [
    "Checked {p}: no change since the last release.",
    "{n} runs passed after the change in {p}, none failed.",
    "Opened a draft with a fix in {p}, tests are running.",
    "The failing step is the one that loads {p}.",
    "Bisect points at the merge that touched {p}.",
    "Coverage for {p} is {n} percent, no new gaps.",
    "No open review touches {p} at the moment.",
    "I see {n} warnings in {p}, none of them new.",
    "Rebased on main, one conflict in {p} resolved.",
    "Summary posted in the ticket, including {t}.",
];

/// What people ask the agent that is played; its handle comes first.
pub(super) const ASK: [&str; 16] = [
    "why does {t} fail since the last merge?",
    "can you check whether {p} still needs that lock?",
    "what changed in {p} this week?",
    "please write a test for {t}",
    "is it safe to drop the workaround in {p}?",
    "how many callers does {p} have?",
    "find out why {t} takes {n} seconds",
    "can you open a fix for {t}?",
    "summarise what we know about {t}",
    "does {w}'s change explain {t}?",
    "please revert the last change to {p}",
    "what would break if we raised the limit to {n}?",
    "compare {p} with the version of last week",
    "who last touched the timeout in {p}?",
    "can you reproduce {t} with {n} clients?",
    "draft a short note about {t} for support",
];

/// What it answers; this lives in its session alone.
pub(super) const REPLY: [&str; 14] = [
    "It fails because {p} reads the clock twice. I moved the read up, and {n} runs in a row pass.",
    "Nothing needs that lock any more. I removed it in {p}, ran the suite twice, and opened a draft for review.",
    "Three commits touched {p} this week. Only the last one changes what it does, in the path for retries.",
    "I added a test for {t}. It fails on main and passes with the fix in {p}, which is in the same branch.",
    "Not yet: {p} still depends on it for old clients. I listed the {n} callers that would have to change first.",
    "It waits for a connection. The pool in {p} has {n} places, and all of them are taken while the export runs.",
    "The change is in a branch. {p} keeps its interface, so that nobody else has to change anything for it.",
    "Yes, that explains it: the order of the two writes in {p} was swapped, and a crash between them loses one.",
    "Reverted in {p}. The tests are green again, and {t} behaves as it did before; the ticket says why.",
    "I could reproduce it with {n} clients: a stale entry stays in the cache of {p} after the second sign-in.",
    "Only the timeout differs from last week. It was {n} seconds in {p} and is five now, which is too short.",
    "Here is a note for support: we know about {t}, the cause is found, and a fix is on its way for today.",
    "I found {n} callers of {p}, most of them in tests. Two rely on the old order and would break with the change.",
    "Not proven yet. {t} passes here {n} times out of fifty, and the failing runs all stop in {p}.",
];

/// What somebody says above a log that they paste.
pub(super) const PASTED: [&str; 4] = [
    "this is what the runner prints:",
    "from the staging log just now:",
    "full output, sorry for the length:",
    "here is the trace again:",
];

/// Lines of pasted logs, behind the time of each.
pub(super) const LOG: [&str; 16] = [
    "info: connecting to the primary database, attempt {n}",
    "info: connection established, reading {p}",
    "warning: no value for timeout, using the default of {n} s",
    "info: worker {n} started, waiting for the next message",
    "error: request failed, the upstream closed the connection",
    "error: could not complete the operation in {p}",
    "info: retrying the request after {n} ms",
    "warning: response took {n} ms longer than expected",
    "error: expected the order to be paid, but it was pending",
    "info: finished with one failure, see the report for details",
    "note: last known state before the process was restarted",
    "info: cleaning up {n} temporary files, closing connections",
    "debug: pool has {n} connections, all of them in use",
    "info: loaded {p} in {n} ms",
    "warning: {n} messages waited for more than a minute",
    "error: gave up after {n} attempts, see {p}",
];
