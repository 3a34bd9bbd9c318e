import { type Call, type CallFields, NO_ROUTING, type Provider } from '../call.ts';
import type { PublishedEvent } from '../call-event.ts';
import { newCall } from '../new-call.ts';

/** The one record that tests of calls begin with: queued, but for what is given. */
export const sampleCall = (given: CallFields = {}): Call =>
  ({
    id: 'tc_1',
    runId: 'run_1',
    toolName: 'echo.text',
    source: 'client',
    status: 'PENDING',
    phase: 'queued',
    args: { text: 'hi' },
    attachments: [],
    annotations: { readOnlyHint: true },
    timeoutMs: 30_000,
    wantedClientId: null,
    routing: NO_ROUTING,
    granted: false,
    createdAt: 1_700_000_000_000,
    queuedAt: 1_700_000_000_001,
    deadlines: { queue: 1_700_000_030_000 },
    clockMark: null,
    version: 1,
    toolProvider: 'clients',
    parentCallId: null,
    depth: 0,
    retryOf: null,
    requestedBy: 'operator',
    ownerToken: null,
    card: { status: 'WAIT', phase: 'queued', params: { text: 'hi' }, tool_name: 'echo.text' },
    ...given,
  }) as Call;

/** One that was just made, of a tool of clients. */
export const freshCall = (given: Partial<Call> = {}, now = 1_000): Call =>
  newCall(
    {
      id: 'tc_1',
      runId: 'run_1',
      toolName: 'camera',
      source: 'client',
      toolProvider: 'clients',
      args: {},
      annotations: {},
      timeoutMs: 30_000,
      routing: NO_ROUTING,
      wantedClientId: null,
      retryOf: null,
      requestedBy: 'operator',
      ownerToken: null,
      displayName: null,
      ...given,
    },
    now,
  );

/** The call with other fields; together they are those of a phase. */
export const changed = (call: Call, fields: CallFields): Call => ({ ...call, ...fields }) as Call;

/** One that succeeded. */
export const finalCall = (given: CallFields = {}): Call =>
  sampleCall({ status: 'SUCCEEDED', phase: null, completedAt: 1_700_000_000_009, ...given });

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
