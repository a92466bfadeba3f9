// What I may do, so that nothing is offered that the server would refuse; it looks each right up itself.

import type { Channel, Me } from "../api/wire";

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
