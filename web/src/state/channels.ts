// What events do to channels: they come, change their names, close, and go.

import type { ChannelInfo, LiveEvent } from "../api/wire";
import { stale, type World } from "./world";

/** A channel as it stands now. One that was not known is read with all that is in it. */
export function channelTold(world: World, told: ChannelInfo): World {
  const known = world.channels[told.id];
  if (known === undefined) return stale(world, "channels");
  const next = { ...world, channels: { ...world.channels, [told.id]: { ...known, ...told } } };
  return known.name === told.name ? next : renamed(next, known.name, told.name);
}

export function membership(world: World, id: string, event: LiveEvent): World {
  const channel = world.channels[id];
  const role = world.me?.person.role;
  const mine = world.me?.person.id;
  switch (event.kind) {
    case "channel_closed":
      if (channel === undefined || role === "owner") return world;
      return channel.rank === null ? gone(world, id) : world;
    case "member_added":
      if (event.member.person.id !== mine) return world;
      if (channel === undefined) return stale(world, "channels");
      return { ...world, channels: { ...world.channels, [id]: { ...channel, rank: event.member.rank } } };
    case "member_removed": {
      if (event.person_id !== mine || channel === undefined) return world;
      if (role === "guest" || (role === "member" && channel.access === "private")) return gone(world, id);
      return { ...world, channels: { ...world.channels, [id]: { ...channel, rank: null } } };
    }
    default:
      return world;
  }
}

/** Everything that stood under the old name stands under the new one. */
function renamed(world: World, from: string, to: string): World {
  const name = (channel: string) => (channel === from ? to : channel);
  const key = (feed: string) => (feed === from || feed.startsWith(`${from}/`) ? to + feed.slice(from.length) : feed);
  const move = <T extends { readonly channel: string }>(values: Readonly<Record<string, T>>) =>
    mapped(values, (id, value) => [id, value.channel === from ? { ...value, channel: to } : value]);
  const feeds = mapped(world.feeds, (feed, value) => {
    if (key(feed) === feed) return [feed, value];
    return [key(feed), { ...value, messages: value.messages.map((one) => ({ ...one, channel: to })) }];
  });
  return {
    ...world,
    feeds,
    threads: mapped(world.threads, (channel, threads) => [name(channel), threads]),
    agents: move(world.agents),
    runs: move(world.runs),
    permissions: move(world.permissions),
    answers: move(world.answers),
    pending: world.pending.map((one) => ({ ...one, channel: name(one.channel) })),
  };
}

/** What may not be read any more is not known any more. */
function gone(world: World, id: string): World {
  const name = world.channels[id]?.name ?? "";
  const elsewhere = <T extends { readonly channel: string }>(values: Readonly<Record<string, T>>) =>
    filtered(values, (_, value) => value.channel !== name);
  return {
    ...world,
    channels: filtered(world.channels, (key) => key !== id),
    feeds: filtered(world.feeds, (key) => key !== name && !key.startsWith(`${name}/`)),
    threads: filtered(world.threads, (key) => key !== name),
    agents: elsewhere(world.agents),
    runs: elsewhere(world.runs),
    permissions: elsewhere(world.permissions),
    answers: elsewhere(world.answers),
  };
}

function mapped<T>(values: Readonly<Record<string, T>>, by: (key: string, value: T) => [string, T]): Record<string, T> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => by(key, value)));
}

function filtered<T>(values: Readonly<Record<string, T>>, keep: (key: string, value: T) => boolean): Record<string, T> {
  return Object.fromEntries(Object.entries(values).filter(([key, value]) => keep(key, value)));
}
