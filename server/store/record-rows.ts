import type { Message, RunSummary } from '#lib/protocol/run';
import { fromJsonColumn } from './json-column.ts';
import type { ClientRecord } from './store.ts';
import type { ClientRow, MessageRow, RunRow } from './tables.ts';

/** Wire times are seconds. Columns hold milliseconds, one unit for all who read the file. */
const toMs = (seconds: number): number => Math.round(seconds * 1_000);
const toSeconds = (ms: number): number => ms / 1_000;

export const toRunRow = (run: RunSummary): RunRow => ({
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
});

export const fromRunRow = (row: RunRow): RunSummary => ({
  ...row,
  tools: row.tools === null ? null : fromJsonColumn(row.tools),
  error: row.error === null ? null : fromJsonColumn(row.error),
  created_at: toSeconds(row.created_at),
  updated_at: toSeconds(row.updated_at),
});

export const toMessageRow = (message: Message, position: number): MessageRow => ({
  message_id: message.message_id,
  run_id: message.run_id,
  position,
  role: message.role,
  status: message.status,
  parts: JSON.stringify(message.parts),
  created_at: toMs(message.created_at),
});

export const fromMessageRow = ({ position: _, ...row }: MessageRow): Message => ({
  ...row,
  parts: fromJsonColumn(row.parts),
  created_at: toSeconds(row.created_at),
});

export const toClientRow = (client: ClientRecord): ClientRow => ({
  client_id: client.clientId,
  instance_id: client.instanceId,
  name: client.name,
  kind: client.kind,
  journal_epoch: client.journalEpoch,
  resume_token_hash: client.resumeTokenHash,
  last_seen_at: client.lastSeenAt,
});

export const fromClientRow = (row: ClientRow): ClientRecord => ({
  clientId: row.client_id,
  instanceId: row.instance_id,
  name: row.name,
  kind: row.kind,
  journalEpoch: row.journal_epoch,
  resumeTokenHash: row.resume_token_hash,
  lastSeenAt: row.last_seen_at,
});
