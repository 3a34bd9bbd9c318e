import type { Message, RunSummary } from '#lib/protocol/run';
import type { AuditEntry, ClientRecord, DeliveryRecord, KeptEntry, TokenRecord } from './store.ts';

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

export interface RunRow {
  run_id: string;
  title: string;
  status: RunSummary['status'];
  model: string | null;
  tools: Json | null;
  step: number;
  max_steps: number;
  error: Json | null;
  created_at: number;
  updated_at: number;
  checksum: number;
  owner: Json | null;
  parent: Json | null;
  pinned_tools: Json | null;
  trace: Json | null;
  settings: Json | null;
}

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

export interface ModelTurnRow {
  run_id: string;
  number: number;
  message_id: string;
  turn: number;
  step: number;
  attempt: number;
  model: string;
  started_at: number;
  first_token_at: number | null;
  ended_at: number | null;
  finish_reason: string | null;
  error_code: string | null;
  usage: Json;
  tools_offered: number;
  tools_sha256: string | null;
  prompt_sha256: string;
  rendering: number;
  sent: Json;
  checksum: number;
}

export interface ClientRow {
  client_id: string;
  instance_id: string;
  name: string;
  kind: ClientRecord['kind'];
  journal_epoch: string | null;
  resume_token_hash: string;
  last_seen_at: number;
  checksum: number;
  owner: string | null;
}

export interface SessionRow {
  id_hash: string;
  created_at: number;
  expires_at: number;
  checksum: number;
  token_id: string | null;
}

export interface AuditRow {
  seq: number;
  at: number;
  actor: string;
  token_id: string | null;
  address: string;
  act: AuditEntry['act'];
  target: string | null;
  detail: Json;
  checksum: number;
}

export interface TokenRow {
  id: string;
  hash: string;
  kind: TokenRecord['kind'];
  name: string;
  role: TokenRecord['role'];
  tools: Json | null;
  client_id: string | null;
  created_at: number;
  created_by: string;
  last_used_at: number | null;
  revoked_at: number | null;
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

export interface DeliveryRow {
  id: string;
  target: string;
  notice: Json;
  state: DeliveryRecord['state'];
  attempts: number;
  made_at: number;
  tried_at: number | null;
  next_at: number | null;
  ended_at: number | null;
  status: number | null;
  error: string | null;
  checksum: number;
}

export interface Tables {
  log: LogRow;
  calls: CallRow;
  open_calls: { call_id: string };
  blob_uses: { blob_id: string; user_id: string };
  idempotency: { scope: string; fingerprint: string; call_id: string; checksum: number };
  runs: RunRow;
  messages: MessageRow;
  model_turns: ModelTurnRow;
  clients: ClientRow;
  sessions: SessionRow;
  tokens: TokenRow;
  audit: AuditRow;
  kept: { area: KeptEntry['area']; key: string; value: Json; put_at: number; checksum: number };
  memories: MemoryRow;
  deliveries: DeliveryRow;
  meta: { key: string; value: number };
  migrations: { name: string };
}
