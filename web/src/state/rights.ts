// What I may do, so that nothing is offered that the server would refuse; it looks each right up itself.

import type { AddressedBy, AnsweredBy, Channel, Me, Permission, PermissionOption } from "../api/wire";

/** Giving an agent of a channel a new session. */
export function mayStartFresh(me: Me, channel: Channel): boolean {
  return isInside(me, channel);
}

/** Stopping a run, letting it go on or trying it again. `asker` is the person whose message made it. */
export function mayTouchRun(me: Me, channel: Channel, asker: string | undefined): boolean {
  if (asker === me.person.id) return true;
  return isInside(me, channel);
}

/** Posting in a channel. */
export function mayPost(me: Me, channel: Channel): boolean {
  return channel.rank !== null || (channel.access === "public" && me.person.role !== "guest");
}

/** Putting a message into the turn of a run, which is posted too. */
export function maySteer(me: Me, channel: Channel, asker: string | undefined, by: AddressedBy): boolean {
  const answers = { everyone: true, members: me.person.role !== "guest", owners: me.person.role === "owner" }[by];
  return answers && channel.archived_at === null && mayPost(me, channel) && mayTouchRun(me, channel, asker);
}

/** Pausing the agents of a channel. */
export function mayPause(me: Me, channel: Channel): boolean {
  return me.person.role === "owner" || (me.person.role === "member" && channel.rank === "manager");
}

/** Pausing all agents. */
export function mayPauseAll(me: Me): boolean {
  return me.person.role === "owner";
}

function isInside(me: Me, channel: Channel): boolean {
  return me.person.role !== "guest" && (me.person.role === "owner" || channel.rank !== null);
}

/** Answering a permission card of an agent. */
export function mayAnswer(me: Me, channel: Channel, by: AnsweredBy): boolean {
  if (me.person.role !== "member") return me.person.role === "owner";
  return { owners: false, managers: channel.rank === "manager", members: channel.rank !== null }[by];
}

/** The options of a card that I may choose. */
export function offered(me: Me, card: Permission): readonly PermissionOption[] {
  return card.options.filter((option) => !option.owners_only || me.person.role === "owner");
}
