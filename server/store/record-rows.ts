import type { StoredModelTurn } from '#lib/protocol/model-turn';
import type { Message, RunSummary } from '#lib/protocol/run';
import { fromJsonColumn } from './json-column.ts';
import { wholeRow } from './row-checksum.ts';
import { searchWords } from './search-words.ts';
import type {
  AuditEntry,
  ClientRecord,
  DeliveryRecord,
  IdempotencyEntry,
  KeptEntry,
  MemoryRecord,
  SessionRecord,
  TokenRecord,
} from './store.ts';
import type {
  AuditRow,
  ClientRow,
  DeliveryRow,
  MemoryRow,
  MessageRow,
  ModelTurnRow,
  RunRow,
  Tables,
  TokenRow,
} from './tables.ts';

/** Wire times are seconds. Columns hold milliseconds, one unit for all who read the file. */
const toMs = (seconds: number): number => Math.round(seconds * 1_000);
const toSeconds = (ms: number): number => ms / 1_000;

/** A row as it is made; its checksum comes when it is written. */
type Unsummed<Row> = Omit<Row, 'checksum'>;

export const toRunRow = (run: RunSummary): Unsummed<RunRow> => ({
  run_id: run.run_id,
  title: run.title,
  status: run.status,
  model: run.model,
  tools: run.tools === null ? null : JSON.stringify(run.tools),
  step: run.step,
  max_steps: run.max_steps,
  error: run.error === null ? null : JSON.stringify(run.error),
  created_at: toMs(run.created_at),
  updated_at: toMs(run.updated_at),
  owner: run.owner === undefined ? null : JSON.stringify(run.owner),
  parent: run.parent === undefined ? null : JSON.stringify(run.parent),
  pinned_tools: run.pinned_tools === undefined ? null : JSON.stringify(run.pinned_tools),
  trace: run.trace === undefined ? null : JSON.stringify(run.trace),
  settings: run.settings === undefined ? null : JSON.stringify(run.settings),
});

export function fromRunRow(stored: RunRow): RunSummary {
  const {
    checksum: _,
    owner,
    parent,
    pinned_tools: pinned,
    trace,
    settings,
    ...row
  } = wholeRow('runs', stored);
  return {
    ...row,
    tools: row.tools === null ? null : fromJsonColumn(row.tools),
    error: row.error === null ? null : fromJsonColumn(row.error),
    created_at: toSeconds(row.created_at),
    updated_at: toSeconds(row.updated_at),
    ...(owner === null ? {} : { owner: fromJsonColumn(owner) }),
    ...(parent === null ? {} : { parent: fromJsonColumn(parent) }),
    ...(pinned === null ? {} : { pinned_tools: fromJsonColumn(pinned) }),
    ...(trace === null ? {} : { trace: fromJsonColumn(trace) }),
    ...(settings === null ? {} : { settings: fromJsonColumn(settings) }),
  };
}

/** What shares a column with the parts of a message. */
type WithParts = Pick<
  Message,
  'parts' | 'client_id' | 'instance_id' | 'replaces' | 'given_id' | 'author'
> & {
  readonly replay?: unknown;
};

export function toMessageRow(
  message: Message,
  position: number,
  replay: unknown,
): Unsummed<MessageRow> {
  const { message_id, run_id, role, status, created_at, ...withParts } = message;
  const column: WithParts = replay === undefined ? withParts : { ...withParts, replay };
  const isPartsAlone = Object.keys(column).length === 1;
  return {
    ...{ message_id, run_id, position, role, status },
    parts: JSON.stringify(isPartsAlone ? column.parts : column),
    created_at: toMs(created_at),
  };
}

export function fromMessageRow(stored: MessageRow): Message {
  const { position: _, checksum: __, ...row } = wholeRow('messages', stored);
  const column = fromJsonColumn<Message['parts'] | WithParts>(row.parts);
  const { replay: ___, ...reported } = Array.isArray(column)
    ? { parts: column, replay: undefined }
    : column;
  return { ...row, ...reported, created_at: toSeconds(row.created_at) };
}

const orNull = <T>(value: T | null, change: (value: T) => T): T | null =>
  value === null ? null : change(value);

export const toModelTurnRow = ({
  usage,
  sent,
  started_at,
  first_token_at,
  ended_at,
  ...turn
}: StoredModelTurn): Unsummed<ModelTurnRow> => ({
  ...turn,
  started_at: toMs(started_at),
  first_token_at: orNull(first_token_at, toMs),
  ended_at: orNull(ended_at, toMs),
  usage: JSON.stringify(usage),
  sent: JSON.stringify(sent),
});

export function fromModelTurnRow(stored: ModelTurnRow): StoredModelTurn {
  const { checksum: _, ...row } = wholeRow('model_turns', stored);
  return {
    ...row,
    started_at: toSeconds(row.started_at),
    first_token_at: orNull(row.first_token_at, toSeconds),
    ended_at: orNull(row.ended_at, toSeconds),
    usage: fromJsonColumn(row.usage),
    sent: fromJsonColumn(row.sent),
  };
}

export const toClientRow = (client: ClientRecord): Unsummed<ClientRow> => ({
  client_id: client.clientId,
  instance_id: client.instanceId,
  name: client.name,
  kind: client.kind,
  journal_epoch: client.journalEpoch,
  resume_token_hash: client.resumeTokenHash,
  last_seen_at: client.lastSeenAt,
  owner: client.owner,
});

export function fromClientRow(stored: ClientRow): ClientRecord {
  const row = wholeRow('clients', stored);
  return {
    clientId: row.client_id,
    instanceId: row.instance_id,
    name: row.name,
    kind: row.kind,
    journalEpoch: row.journal_epoch,
    resumeTokenHash: row.resume_token_hash,
    lastSeenAt: row.last_seen_at,
    owner: row.owner,
  };
}

export function fromIdempotencyRow(stored: Tables['idempotency']): IdempotencyEntry {
  const { scope, fingerprint, call_id } = wholeRow('idempotency', stored);
  return { scope, fingerprint, callId: call_id };
}

export const toSessionRow = (session: SessionRecord): Unsummed<Tables['sessions']> => ({
  id_hash: session.idHash,
  created_at: session.createdAt,
  expires_at: session.expiresAt,
  token_id: session.tokenId,
});

export function fromSessionRow(stored: Tables['sessions']): SessionRecord {
  const { id_hash, created_at, expires_at, token_id } = wholeRow('sessions', stored);
  return { idHash: id_hash, createdAt: created_at, expiresAt: expires_at, tokenId: token_id };
}

export const toTokenRow = (token: TokenRecord): Unsummed<TokenRow> => ({
  id: token.id,
  hash: token.hash,
  kind: token.kind,
  name: token.name,
  role: token.role,
  tools: token.tools === null ? null : JSON.stringify(token.tools),
  client_id: token.clientId,
  created_at: token.createdAt,
  created_by: token.createdBy,
  last_used_at: token.lastUsedAt,
  revoked_at: token.revokedAt,
});

export function fromTokenRow(stored: TokenRow): TokenRecord {
  const row = wholeRow('tokens', stored);
  return {
    id: row.id,
    hash: row.hash,
    kind: row.kind,
    name: row.name,
    role: row.role,
    tools: row.tools === null ? null : fromJsonColumn(row.tools),
    clientId: row.client_id,
    createdAt: row.created_at,
    createdBy: row.created_by,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
  };
}

export const toAuditRow = ({ tokenId, detail, ...entry }: AuditEntry): Unsummed<AuditRow> => ({
  ...entry,
  token_id: tokenId,
  detail: JSON.stringify(detail),
});

export function fromAuditRow(stored: AuditRow): AuditEntry {
  const { seq, at, actor, token_id, address, act, target, detail } = wholeRow('audit', stored);
  return {
    seq,
    at,
    actor,
    tokenId: token_id,
    address,
    act,
    target,
    detail: fromJsonColumn(detail),
  };
}

export const toMemoryRow = (memory: MemoryRecord): Unsummed<MemoryRow> => ({
  owner: memory.ownerToken ?? '',
  key: memory.key,
  text: memory.text,
  words: searchWords([memory.key, memory.text]),
  put_at: memory.putAt,
  untrusted: memory.untrusted ?? '',
});

/** Of a note of before it is not known what was read. */
const NOT_KNOWN = 'unknown';

export function fromMemoryRow(stored: MemoryRow): MemoryRecord {
  const { owner, key, text, put_at, untrusted } = wholeRow('memories', stored);
  const read = untrusted === null ? NOT_KNOWN : untrusted || null;
  return { ownerToken: owner || null, key, text, putAt: put_at, untrusted: read };
}

export const toKeptRow = ({ area, key, value, putAt }: KeptEntry): Unsummed<Tables['kept']> => ({
  area,
  key,
  value: JSON.stringify(value),
  put_at: putAt,
});

export function fromKeptRow(stored: Tables['kept']): KeptEntry {
  const { area, key, value, put_at } = wholeRow('kept', stored);
  return { area, key, value: fromJsonColumn(value), putAt: put_at };
}

export const toDeliveryRow = (delivery: DeliveryRecord): Unsummed<DeliveryRow> => ({
  id: delivery.id,
  target: delivery.target,
  notice: JSON.stringify(delivery.notice),
  state: delivery.state,
  attempts: delivery.attempts,
  made_at: delivery.madeAt,
  tried_at: delivery.triedAt,
  next_at: delivery.nextAt,
  ended_at: delivery.endedAt,
  status: delivery.status,
  error: delivery.error,
});

export function fromDeliveryRow(stored: DeliveryRow): DeliveryRecord {
  const { id, target, notice, state, attempts, status, error, ...times } = wholeRow(
    'deliveries',
    stored,
  );
  return {
    ...{ id, target, notice: fromJsonColumn(notice), state, attempts, status, error },
    ...{ madeAt: times.made_at, triedAt: times.tried_at },
    ...{ nextAt: times.next_at, endedAt: times.ended_at },
  };
}
