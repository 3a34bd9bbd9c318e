import type { StoredModelTurn } from '#lib/protocol/model-turn';
import type { Message, RunSummary } from '#lib/protocol/run';
import type {
  AuditEntry,
  ClientRecord,
  DeliveryRecord,
  IdempotencyEntry,
  KeptEntry,
  SessionRecord,
  TokenRecord,
} from './store.ts';

/** SQLite has no booleans. */
type Flag = 0 | 1;
/** JSON as text. */
type Json = string;

/** Columns are documented in `migrations.ts`, where people meet them who open the file. */
export interface LogRow {
  seq: number;
  call_id: string;
  version: number;
  ends: Flag;
  events: Json;
  checksum: number;
}

export interface CallRow {
  call_no: number;
  id: string;
  run_id: string;
  tool_name: string;
  source: string;
  status: number;
  code: string | null;
  client_code: string | null;
  message: string | null;
  requested_by: string;
  owner_token: string | null;
  client_id: string | null;
  via: string | null;
  created_at: number;
  started_at: number | null;
  ended_at: number;
  waited_ms: number;
  bytes: number;
  result_bytes: number;
  decision: string | null;
  decided_by: string | null;
  marks: number;
}

type Snake<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : Name;

type OrNull<Value> = Extract<Value, null | undefined> extends never ? never : null;

/** A column for each field of a record (`record-rows.ts`); those of `Texts` as JSON. */
type RowOf<Stored, Texts extends keyof Stored = never> = {
  -readonly [Name in keyof Stored & string as Snake<Name>]-?:
    | (Name extends Texts ? Json : NonNullable<Stored[Name]>)
    | OrNull<Stored[Name]>;
} & { checksum: number };

export type RunRow = RowOf<
  Omit<RunSummary, 'usage'>,
  'tools' | 'error' | 'owner' | 'parent' | 'pinned_tools' | 'trace' | 'settings'
>;
export type ModelTurnRow = RowOf<StoredModelTurn, 'usage' | 'sent'>;
export type ClientRow = RowOf<ClientRecord>;
export type AuditRow = RowOf<AuditEntry, 'detail'>;
export type TokenRow = RowOf<TokenRecord, 'tools'>;
export type DeliveryRow = RowOf<DeliveryRecord, 'notice'>;

export interface MessageRow {
  message_id: string;
  run_id: string;
  position: number;
  role: Message['role'];
  status: Message['status'];
  parts: Json;
  created_at: number;
  checksum: number;
}

export interface MemoryRow {
  owner: string;
  key: string;
  text: string;
  words: string;
  put_at: number;
  untrusted: string | null;
  checksum: number;
}

export interface Tables {
  log: LogRow;
  calls: CallRow;
  open_calls: { call_id: string };
  blob_uses: { blob_id: string; user_id: string };
  idempotency: RowOf<IdempotencyEntry>;
  runs: RunRow;
  messages: MessageRow;
  model_turns: ModelTurnRow;
  clients: ClientRow;
  sessions: RowOf<SessionRecord>;
  tokens: TokenRow;
  audit: AuditRow;
  kept: RowOf<KeptEntry, 'value'>;
  memories: MemoryRow;
  deliveries: DeliveryRow;
  meta: { key: string; value: number };
  migrations: { name: string };
}
