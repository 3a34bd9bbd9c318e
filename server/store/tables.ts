import type { CallRecord } from '#lib/call/call-record';
import type { CallPhase, CallStatus } from '#lib/protocol/call-status';
import type { Message, RunSummary } from '#lib/protocol/run';
import type { AuditEntry, ClientRecord, DeliveryRecord, KeptEntry, TokenRecord } from './store.ts';

/** SQLite has no booleans. */
type Flag = 0 | 1;
/** JSON as text. */
type Json = string;

/** Columns are documented in `migrations.ts`, where people meet them who open the file. */
export interface ToolCallRow {
  id: string;
  run_id: string;
  tool_name: string;
  source: CallRecord['source'];
  status: CallStatus;
  phase: CallPhase | null;
  requested_by: string;
  client_id: string | null;
  instance_id: string | null;
  attempt: number | null;
  client_claims: Flag | null;
  journal_epoch: string | null;
  wanted_client_id: string | null;
  granted: Flag;
  retry_of: string | null;
  timeout_ms: number;
  created_at: number;
  queued_at: number | null;
  offered_at: number | null;
  started_at: number | null;
  completed_at: number | null;
  deadlines: Json;
  execute_left_ms: number | null;
  annotations: Json;
  result_hash: string | null;
  error: Json | null;
  attachments: Json;
  args: Json;
  result: Json | null;
  late_result: Json | null;
  card: Json;
  card_shows: number;
  fixed_checksum: number;
  checksum: number;
  /** The rest is null in rows of before 004, but that parent_call_id may be null in all. */
  version: number | null;
  tool_provider: string | null;
  parent_call_id: string | null;
  depth: number | null;
  routing: Json | null;
  device_left_ms: number | null;
  display: Json | null;
  preview: Json | null;
  owner_token: string | null;
  trusted: Flag | null;
  traceparent: string | null;
  model_call_id: string | null;
}

export interface CallEventsRow {
  call_id: string;
  version: number;
  events: Json;
  checksum: number;
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
  tool_calls: ToolCallRow;
  call_events: CallEventsRow;
  calls_to_index: { call_id: string };
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
