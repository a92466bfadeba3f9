// What the API takes and gives, as JSON. The words are those of the server's wire types.

export type Role = "owner" | "member" | "guest";
export type Rank = "manager" | "member";
export type Scope = "read" | "write" | "admin";

export interface Person {
  id: string;
  name: string;
  role: Role;
  created_at: string;
  deactivated_at: string | null;
}

export interface Me {
  person: Person;
  scopes: Scope[];
  via: "owner-token" | "token" | "sign-in";
  has_password: boolean;
}

export interface SignedIn {
  session: string;
  person: Person;
  expires_at: string;
}

export type AuthorKind = "user" | "agent" | "system";

export interface Author {
  kind: AuthorKind;
  /** A person's name as it was then, or an agent's handle with `@`. */
  name: string;
  person_id?: string;
}

export interface Message {
  id: string;
  /** Number in the channel's sequence; messages are ordered by it. */
  seq: number;
  created_at: string;
  author: Author;
  text: string;
  /** Rendered and sanitised by the server; absent in answers to a post. */
  html?: string;
  thread_root_id: string | null;
  channel: string;
  run_id: string | null;
  revision: number;
  deleted: boolean;
}

export interface Thread {
  root_id: string;
  root_seq: number;
  root_at: string;
  root_deleted: boolean;
  replies: number;
  last_seq: number;
  last_at: string;
}

export interface Channel {
  id: string;
  name: string;
  /** Handle of the agent of a direct conversation. */
  direct: string | null;
  created_at: string;
  last_seq: number;
  access: "public" | "private";
  topic: string;
  archived_at: string | null;
  /** Since when its agents begin nothing. */
  paused_at: string | null;
  /** What I am in it. */
  rank: Rank | null;
  agents: Agent[];
}

/** A channel as events tell it. */
export type ChannelInfo = Pick<Channel, "id" | "name" | "direct" | "created_at" | "access" | "topic" | "archived_at" | "paused_at">;

export interface Agent {
  handle: string;
  binding_id: string;
  channel: string;
  preset: string;
  model: string | null;
  addressed_by: AddressedBy;
  permissions: { answered_by: AnsweredBy };
  session: SessionPolicy;
  hold: Hold | null;
  state: "absent" | "saved" | "waiting_for_place" | "starting" | "idle" | "busy" | "ending";
  reachable: boolean;
  open_runs: number;
}

export type AddressedBy = "everyone" | "members" | "owners";
export type SessionPolicy = "resident" | "saved" | "fresh";

/** Why an agent begins no run until a person lets it. */
export interface Hold {
  why: "stopped" | "crashed";
  run_id: string;
  since: string;
}

/** Since when all agents are paused, if they are. */
export interface Pause {
  paused_at: string | null;
}

/** Who answers an agent's permission cards. */
export type AnsweredBy = "members" | "managers" | "owners";

export type RunStatus = "queued" | "running" | "succeeded" | "failed" | "cancelled" | "declined";

export interface Usage {
  input: number | null;
  output: number | null;
  cached_read: number | null;
  cached_write: number | null;
  total: number | null;
}

/** A run as events tell it. */
export interface RunState {
  id: string;
  status: RunStatus;
  agent: string;
  binding_id: string;
  message_id: string;
  thread_root_id: string | null;
  lease: "cold" | "restored" | "warm" | null;
  error: string | null;
  usage: Usage | null;
  created_at: string;
  started_at: string | null;
  ended_at: string | null;
  retry_of: string | null;
  /** Turns of it that failed for a passing reason. */
  tries: number;
  /** When it is tried again, while it waits for that. */
  again_at: string | null;
}

/** A run with all that is known of it. */
export interface Run extends RunState {
  channel: string;
  lease_why: string | null;
  native: string | null;
  sent?: string;
  system?: string;
  shown: string[];
  omitted: number;
  replies: Message[];
  waiting: string | null;
  events?: RunEvent[];
  permissions?: Permission[];
}

export type PermissionStatus = "pending" | "allowed" | "rejected" | "timed_out" | "cancelled" | "withdrawn" | "lost";
export type ChoiceKind = "allow_once" | "allow_always" | "reject_once" | "reject_always" | "other";

/** What an agent asks people for, and what came of it. Its texts are the agent's, cleaned by the server. */
export interface Permission {
  id: string;
  run_id: string;
  channel: string;
  agent: string;
  binding_id: string;
  message_id: string;
  thread_root_id: string | null;
  title: string;
  tool_kind: string;
  tool: string | null;
  details: PermissionDetail[];
  options: PermissionOption[];
  asked_at: string;
  until: string;
  status: PermissionStatus;
  option: number | null;
  decided_by: string | null;
  decided_at: string | null;
  why: string | null;
}

export interface PermissionDetail {
  what: "command" | "path" | "diff" | "text" | "input";
  path?: string;
  text: string;
}

export interface PermissionOption {
  n: number;
  name: string;
  kind: ChoiceKind;
  owners_only: boolean;
}

export interface RunEvent {
  n: number;
  at: string;
  kind: string;
  body: unknown;
}

export interface Posted {
  message: Message;
  runs: Run[];
}

export interface ErrorBody {
  code: string;
  message: string;
  retry_after_ms?: number;
}

/** How an agent stands in a channel. */
export type Activity = "idle" | "working" | "asking" | "queued" | "waiting" | "held";

/** An agent as events tell it. */
export interface AgentInfo {
  handle: string;
  binding_id: string;
  preset: string;
  model: string | null;
  session: SessionPolicy;
  addressed_by: AddressedBy;
  answered_by: AnsweredBy;
  hold: Hold | null;
}

/** What a live event says; kinds that are not known here are passed over. */
export type Happened =
  | { kind: "hello" }
  | { kind: "resync"; reason: "too_old" | "unknown" | "rights" | "slow" }
  | { kind: "heartbeat" }
  | { kind: "channel_added"; added: ChannelInfo }
  | { kind: "channel_changed"; changed: ChannelInfo }
  | { kind: "channel_closed" }
  | { kind: "member_added"; member: { person: Person; rank: Rank } }
  | { kind: "member_removed"; person_id: string }
  | { kind: "person_added" | "person_changed"; person: Person }
  | { kind: "agent_added" | "agent_removed" | "agent_changed"; agent: AgentInfo }
  | { kind: "message_added" | "message_edited" | "message_deleted"; message: Message }
  | { kind: "run_queued" | "run_started" | "run_ended"; run: RunState }
  | { kind: "run_step" | "permission"; run_id: string; step: RunEvent }
  | { kind: "permission_asked" | "permission_decided"; permission: Permission }
  | { kind: "answer"; run_id: string; agent: string; from: number; text: string }
  | { kind: "pause_changed"; paused_at: string | null }
  | { kind: "agent_state"; agent: string; binding_id: string; state: Activity; open_runs: number; steerable: boolean };

/** What is durable has a cursor; what happened in a channel its id and, unless I may not know it, its present name. */
export type LiveEvent = Happened & { cursor?: string; at?: string; channel_id?: string; channel?: string };
