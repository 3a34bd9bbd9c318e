import type { AuditedActName } from '#lib/protocol/audited-acts';
import type { Notice } from '#lib/protocol/notice';
import type { DeliveryState } from '#lib/protocol/notify';
import type { Role } from '#lib/protocol/role';

export interface IdempotencyEntry {
  /** `<who>\n<key>` */
  readonly scope: string;
  readonly fingerprint: string;
  readonly callId: string;
}

/**
 * An instance of a client is remembered by this, so that it can come back after
 * a drop or a restart. One row per client and instance; a put replaces it.
 */
export interface ClientRecord {
  readonly clientId: string;
  readonly instanceId: string;
  readonly journalEpoch: string | null;
  readonly name: string;
  readonly kind: 'tab' | 'phone' | 'program';
  /** SHA-256 of the token, hex. Of one without a socket `principal:` and the principal that it belongs to. */
  readonly resumeTokenHash: string;
  readonly lastSeenAt: number;
  /** By which principal it was used first (`principalKey`); null: of a time that kept none. */
  readonly owner: string | null;
}

/** A sign-in. Only hashes are stored: a copy of the database opens nothing. */
export interface SessionRecord {
  /** The hashes of the cookie's secret and of the page's key, `:` between them. */
  readonly idHash: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Null: of the first-run token, or of a sign-in link. */
  readonly tokenId: string | null;
}

/** A token that was made here. Of its secret the hash alone is stored. */
export interface TokenRecord {
  readonly id: string;
  /** SHA-256, hex. */
  readonly hash: string;
  readonly kind: 'operator' | 'agent' | 'device';
  readonly name: string;
  /** Only an operator has a role. */
  readonly role: Role | null;
  /** Only an agent has tools: their names, or `prefix.*`. */
  readonly tools: readonly string[] | null;
  /** Only a device has one. */
  readonly clientId: string | null;
  /** Milliseconds since the epoch, as the times below. */
  readonly createdAt: number;
  /** The name of the principal who made it. */
  readonly createdBy: string;
  /** To the minute. */
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
}

/** One act of a person. */
export interface AuditEntry {
  /** Rises with each entry; given by the one who appends. */
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly actor: string;
  readonly tokenId: string | null;
  readonly address: string;
  readonly act: AuditedActName;
  readonly target: string | null;
  readonly detail: Record<string, unknown>;
}

export interface AuditQuery {
  readonly actor?: string;
  readonly act?: AuditedActName;
  /** Numbers below this one. */
  readonly before?: number;
  /** 1 to 200. */
  readonly limit: number;
}

export interface AuditPage {
  readonly entries: AuditEntry[];
  /** The `before` of the next page; null on the last one. */
  readonly next: number | null;
}

/** A small value that outlives the server. Who keeps it bounds how many there are of its area. */
export interface KeptEntry {
  readonly area: KeptAreaName;
  readonly key: string;
  /** The value is any that JSON has. */
  readonly value: unknown;
  readonly putAt: number;
}

/** A note of `memory.store` is for the holder of a token alone. */
export interface MemoryRecord {
  /** Null: of the operator of the first run. */
  readonly ownerToken: string | null;
  readonly key: string;
  readonly text: string;
  readonly putAt: number;
  /** The tool by which content of others was read before it was noted; null: none was. */
  readonly untrusted: string | null;
}

/** A notice on its way to one target. Times in milliseconds since the epoch. */
export interface DeliveryRecord {
  /** Sorts by time. */
  readonly id: string;
  readonly target: string;
  readonly notice: Notice;
  readonly state: DeliveryState;
  /** Since it was made, or since a person sent it again. */
  readonly attempts: number;
  readonly madeAt: number;
  readonly triedAt: number | null;
  /** Null once it is not open. */
  readonly nextAt: number | null;
  readonly endedAt: number | null;
  /** The status of HTTP of the last attempt. */
  readonly status: number | null;
  /** Why the last attempt failed. */
  readonly error: string | null;
}

export interface DeliveryQuery {
  /** Ids below this one. */
  readonly before?: string;
  /** 1 to 200. */
  readonly limit: number;
}

/** Small values that outlive the server belong to one of these. */
type KeptAreaName =
  | 'always'
  | 'breaker'
  | 'autonomy'
  | 'rate'
  | 'asked'
  | 'reads'
  | 'file_origin'
  | 'device'
  | 'blocked_origin'
  | 'mcp_pin'
  | 'mcp_task'
  | 'notify_target'
  | 'push_subscription'
  | 'polling_client';
