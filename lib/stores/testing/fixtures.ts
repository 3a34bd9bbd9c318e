import type { WireCallRecord } from '../../protocol/call-record.ts';
import type { CardUpdate } from '../../protocol/card.ts';
import type { Message, RunSummary } from '../../protocol/run.ts';
import type { ToolListing } from '../../protocol/tool-spec.ts';
import type {
  ApprovalListing,
  ClientListing,
  Snapshot,
  WatchEvent,
} from '../../protocol/watch-messages.ts';

/** Small true-to-shape values of the watch feed and the API, for tests. */

export const callEvent = (
  seq: number,
  id: string,
  update: CardUpdate,
  runId = 'run_1',
): WatchEvent => ({ type: 'call', seq, tool_call_id: id, run_id: runId, update });

export const run = (id = 'run_1', more: Partial<RunSummary> = {}): RunSummary => ({
  run_id: id,
  title: 'Where am I?',
  status: 'running',
  model: 'rehearsal',
  tools: null,
  step: 1,
  max_steps: 10,
  error: null,
  created_at: 1,
  updated_at: 2,
  ...more,
});

export const message = (id: string, more: Partial<Message> = {}): Message => ({
  message_id: id,
  run_id: 'run_1',
  role: 'assistant',
  parts: [],
  status: 'streaming',
  created_at: 1,
  ...more,
});

export const messageEvent = (seq: number, given: Message): WatchEvent => ({
  type: 'message',
  seq,
  run_id: given.run_id,
  message: given,
});

export const delta = (seq: number, id: string, index: number, text: string): WatchEvent => ({
  type: 'message_delta',
  seq,
  run_id: 'run_1',
  message_id: id,
  index,
  part: 'text',
  delta: text,
});

export const tool = (name: string, more: Partial<ToolListing> = {}): ToolListing => ({
  name,
  model_name: name,
  source: 'server',
  description: 'A tool',
  schema: { type: 'object' },
  timeout_ms: 5_000,
  clients: [],
  callable: true,
  ...more,
});

export const client = (id: string, more: Partial<ClientListing> = {}): ClientListing => ({
  client_id: id,
  name: id,
  kind: 'tab',
  connected: true,
  visible: true,
  responsive: true,
  caps: [],
  tools: [],
  connected_at: 1,
  ...more,
});

export const callRecord = (more: Partial<WireCallRecord> = {}): WireCallRecord => ({
  tool_call_id: 'tc_1',
  run_id: 'run_1',
  tool_name: 'a',
  source: 'server',
  status: 'SUCCEEDED',
  phase: null,
  args: {},
  result: null,
  error: null,
  attachments: [],
  created_at: 1,
  completed_at: 1,
  client_id: null,
  attempt: 1,
  timeout_ms: 1,
  timings: { queued_at: null, offered_at: null, started_at: null, completed_at: null },
  late_result: null,
  retry_of: null,
  card: {},
  ...more,
});

export const approval = (callId: string): ApprovalListing => ({
  tool_call_id: callId,
  run_id: 'run_1',
  tool_name: 'camera.photo',
  reason: 'It takes a photo.',
  expires_at: 100,
});

export const snapshot = (seq: number, more: Partial<Snapshot> = {}): Snapshot => ({
  type: 'snapshot',
  seq,
  runs: [],
  calls: [],
  tools: [],
  clients: [],
  approvals: [],
  ...more,
});
