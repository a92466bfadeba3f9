// What I may do, so that nothing is offered that the server would refuse; it looks each right up itself.

import type { AnsweredBy, Channel, Me, Permission, PermissionOption } from "../api/wire";

/** Giving an agent of a channel a new session. */
export function mayStartFresh(me: Me, channel: Channel): boolean {
  return isInside(me, channel);
}

/** Stopping a run or trying it again. `asker` is the person whose message made it. */
export function mayTouchRun(me: Me, channel: Channel, asker: string | undefined): boolean {
  if (asker === me.person.id) return true;
  return isInside(me, channel);
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
