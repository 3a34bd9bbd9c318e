import type { Call } from '#lib/call/call';
import type { CallEventEntry } from '#lib/call/call-event';
import { sampleEvent } from '#lib/call/testing/sample-call';
import type { Message, RunSummary } from '#lib/protocol/run';
import type { Store } from '../sqlite-store.ts';
import type { Change } from '../store.ts';

/** Each test of a store's contract begins with this. */
export type Setup = () => {
  store: Store;
  reopen(): Promise<Store>;
  failOnRun(runId: string): void;
};

/** An event that leads to the call, whatever was before it. */
export function appendCall(call: Call, given: Partial<CallEventEntry> = {}) {
  const { card, version, ...patch } = call;
  const { type, at, actor } = sampleEvent();
  const event = { version, type, at, actor, patch, card, ...given };
  return { type: 'append_call', call, event } as const;
}

export const sampleRun = (given: Partial<RunSummary> = {}): RunSummary => ({
  run_id: 'run_1',
  title: 'A run',
  status: 'idle',
  model: 'rehearsal',
  tools: ['echo.text'],
  step: 0,
  max_steps: 10,
  error: null,
  created_at: 1_700_000_000.123,
  updated_at: 1_700_000_000.456,
  ...given,
});

export const sampleMessage = (given: Partial<Message> = {}): Message => ({
  message_id: 'msg_1',
  run_id: 'run_1',
  role: 'user',
  parts: [{ type: 'text', text: 'hello' }],
  status: 'done',
  created_at: 1_700_000_000.5,
  ...given,
});

export const putRun = (run: RunSummary): Change => ({ type: 'put_run', run });
export const putMessage = (message: Message, position: number): Change => ({
  type: 'put_message',
  message,
  position,
});
