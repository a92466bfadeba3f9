// The live connection in a world of its own: no network, no time but what the test lets pass.

import { expect, test } from "vitest";
import { delay } from "./backoff";
import { type Heard, Live, type Surroundings } from "./connection";

class World implements Surroundings {
  at = 0;
  sockets: { path: string; protocols: string[]; heard: Heard; closed: boolean }[] = [];
  timers: { at: number; act: () => void }[] = [];
  log: string[] = [];
  live = new Live(this, () => "5ec2e7", {
    event: (event) => this.log.push(`event ${event.kind} ${event.cursor ?? ""}`.trim()),
    begun: (fresh) => this.log.push(fresh ? "begun fresh" : "begun"),
    state: (state) => this.log.push(state),
    refused: () => this.log.push("refused"),
  });

  open(path: string, protocols: string[], heard: Heard): () => void {
    const made = { path, protocols, heard, closed: false };
    this.sockets.push(made);
    return () => void (made.closed = true);
  }
  after(ms: number, act: () => void): () => void {
    const timer = { at: this.at + ms, act };
    this.timers.push(timer);
    return () => void (this.timers = this.timers.filter((one) => one !== timer));
  }
  now(): number {
    return this.at;
  }
  random(): number {
    return 1;
  }

  get last() {
    return this.sockets.at(-1)!;
  }
  say(...events: object[]): void {
    for (const event of events) this.last.heard.message(JSON.stringify(event));
  }
  pass(ms: number): void {
    const end = this.at + ms;
    for (;;) {
      const due = this.timers.filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.timers = this.timers.filter((timer) => timer !== due);
      this.at = due.at;
      due.act();
    }
    this.at = end;
  }
  taken(): string[] {
    return this.log.splice(0);
  }
}

const hello = { kind: "hello", cursor: "c0" };

// Public report C30: it goes on from the last event that it read, not from now.
test("it goes on where it was, with the secret as a protocol", () => {
  const world = new World();
  world.live.start();
  expect(world.last.path).toBe("/api/v1/events/ws?html=true");
  expect(world.last.protocols).toEqual(["highwater.v1", "highwater.secret.5ec2e7"]);
  world.say(hello, { kind: "person_added", cursor: "c 1" }, { kind: "answer" }, { kind: "heartbeat" });
  expect(world.taken()).toEqual(["connecting", "open", "begun fresh", "event person_added c 1", "event answer"]);
  world.last.heard.closed();
  world.pass(499);
  expect(world.sockets.length).toBe(1);
  world.pass(1);
  expect(world.last.path).toBe("/api/v1/events/ws?html=true&since=c%201");
  world.say({ ...hello, cursor: "c 1" });
  expect(world.taken()).toEqual(["waiting", "connecting", "open", "begun"]);
});

test("it waits longer with each failure, and says that it was refused", () => {
  const world = new World();
  world.live.start();
  for (const wait of [500, 1_000, 2_000, 4_000]) {
    const before = world.sockets.length;
    world.last.heard.closed();
    world.pass(wait - 1);
    expect(world.sockets.length).toBe(before);
    world.pass(1);
    expect(world.sockets.length).toBe(before + 1);
  }
  expect(world.taken().filter((line) => line === "refused").length).toBe(4);
  world.last.heard.closed();
  world.live.nudge();
  expect(world.sockets.length).toBe(6);
});

test("a resync is followed from its cursor, afresh unless the reader was slow", () => {
  for (const [reason, begun] of [["too_old", "begun fresh"], ["unknown", "begun fresh"], ["slow", "begun"]]) {
    const world = new World();
    world.live.start();
    world.say(hello);
    world.taken();
    const old = world.last;
    world.say({ kind: "resync", reason, cursor: "c9" });
    expect([old.closed, world.last.path]).toEqual([true, "/api/v1/events/ws?html=true&since=c9"]);
    old.heard.message(JSON.stringify({ kind: "answer" }));
    world.say(hello);
    expect(world.taken()).toEqual(["connecting", "open", begun]);
  }
});

// Public report C32: a connection over which nothing comes, not even a heartbeat, is dead, whatever it says of itself.
test("silence ends a connection; so does a sleep", () => {
  const world = new World();
  world.live.start();
  world.say(hello);
  for (let n = 0; n < 10; n += 1) {
    world.pass(15_000);
    world.say({ kind: "heartbeat" });
  }
  expect(world.sockets.length).toBe(1);
  world.pass(40_000);
  expect(world.last.closed).toBe(true);
  world.pass(500);
  world.say(hello);
  expect(world.sockets.length).toBe(2);
  world.at += 3_600_000;
  world.live.nudge();
  expect(world.sockets.length).toBe(3);
});

test("stopped, it stays so", () => {
  const world = new World();
  world.live.start();
  world.say(hello);
  world.live.stop();
  world.live.nudge();
  world.pass(1_000_000);
  expect([world.sockets.length, world.last.closed, world.log.at(-1)]).toEqual([1, true, "closed"]);
});

test("the wait has a limit", () => {
  expect([0, 1, 5, 50].map((n) => [delay(n, 0), delay(n, 1)])).toEqual([[250, 500], [500, 1_000], [7_500, 15_000], [7_500, 15_000]]);
});
