import { type Call, NO_ROUTING, type Provider } from '../call.ts';
import type { PublishedEvent } from '../call-event.ts';

/** The one record that tests of calls begin with: queued, but for what is given. */
export const sampleCall = (given: Partial<Call> = {}): Call => ({
  id: 'tc_1',
  runId: 'run_1',
  toolName: 'echo.text',
  source: 'client',
  status: 'PENDING',
  phase: 'queued',
  args: { text: 'hi' },
  result: undefined,
  display: undefined,
  preview: undefined,
  error: null,
  attachments: [],
  resultHash: null,
  lateResult: undefined,
  annotations: { readOnlyHint: true },
  timeoutMs: 30_000,
  wantedClientId: null,
  routing: NO_ROUTING,
  provider: null,
  granted: false,
  createdAt: 1_700_000_000_000,
  queuedAt: 1_700_000_000_001,
  offeredAt: null,
  startedAt: null,
  completedAt: null,
  deadlines: {
    approval: null,
    queue: 1_700_000_030_000,
    start: null,
    execute: null,
    resume: null,
    cancel: null,
  },
  clockMark: null,
  executeLeftMs: null,
  version: 1,
  toolProvider: 'clients',
  parentCallId: null,
  depth: 0,
  retryOf: null,
  requestedBy: 'operator',
  ownerToken: null,
  card: { status: 'WAIT', phase: 'queued', params: { text: 'hi' }, tool_name: 'echo.text' },
  ...given,
});

/** One that succeeded. */
export const finalCall = (given: Partial<Call> = {}): Call =>
  sampleCall({ status: 'SUCCEEDED', phase: null, ...given });

export const sampleProvider: Provider = {
  clientId: 'cl_1',
  instanceId: 'in_1',
  attempt: 2,
  claims: true,
  journalEpoch: 'e1',
};

/** One that changes nothing but the version. */
export const sampleEvent = (given: Partial<PublishedEvent> = {}): PublishedEvent => ({
  version: 1,
  type: 'created',
  at: 1_700_000_000_002,
  actor: 'operator',
  attempt: 0,
  patch: {},
  update: {},
  ...given,
});
