import { onTestFinished } from 'vitest';
import { MODEL_OUTPUT_BYTES } from '#lib/call/model-output';
import { createManualClock } from '#lib/client/testing/manual-clock';
import type { Message, RunSummary } from '#lib/protocol/run';
import type { WatchEvent } from '#lib/protocol/watch-messages';
import { message, run } from '#lib/stores/testing/fixtures';
import { FIRST_OPERATOR, type Principal } from '../../auth/principal.ts';
import type { Logger } from '../../base/logger.ts';
import type { AnnounceRun } from '../../notices/notice-drafts.ts';
import { createRehearsalModel } from '../../rehearsal/rehearsal-model.ts';
import { SHUTTING_DOWN, type TurnEnd, type TurnRequest } from '../agent/agent.ts';
import type { Agent } from '../agent/create-agent.ts';
import { Models } from '../agent/models.ts';
import { NO_BUDGET } from '../agent/spending.ts';
import {
  createFakeBus,
  createFakeCalls,
  createTestStore,
  type TestStore,
} from '../agent/testing/fakes.ts';
import { AgentRuns } from '../agent-runs.ts';
import { KnownRuns } from '../known-runs.ts';
import type { ModelRequest } from '../model-turn-log.ts';
import { createOwnerTokens } from './owner-tokens.ts';

export const principal = FIRST_OPERATOR;

export type Turn = (request: TurnRequest) => Promise<TurnEnd>;

/** A service whose agent does what the test says. */
export function setupRuns(
  given: {
    turn?: Turn;
    store?: TestStore;
    tokens?: ReturnType<typeof createOwnerTokens>;
    announce?: AnnounceRun;
  } = {},
) {
  const tokens = given.tokens ?? createOwnerTokens();
  const store = given.store ?? createTestStore();
  const bus = createFakeBus();
  const clock = createManualClock();
  const calls = createFakeCalls(() => []);
  const defects: unknown[] = [];
  /** Clients that are here with their tools. */
  const offering = new Set<string>();
  const turns: TurnRequest[] = [];
  const agent: Agent = {
    maxSteps: 10,
    budget: NO_BUDGET,
    resultBytes: MODEL_OUTPUT_BYTES,
    toolStates: async () => [],
    runTurn(request) {
      turns.push(request);
      return given.turn?.(request) ?? Promise.resolve({ status: 'idle' });
    },
  };
  const rehearsal = createRehearsalModel({ clock, paceMs: 0 });
  const models = new Models({
    openaiApiKey: undefined,
    openaiBaseUrl: undefined,
    defaultModel: undefined,
    rehearsal,
    clock,
  });
  let ids = 0;
  const newId = (prefix: string) => `${prefix}_${++ids}`;
  const logger: Logger = { error: (cause) => void defects.push(cause), info: () => {} };
  const known = new KnownRuns({
    ...{ store, bus, clock, newId, maxSteps: 10, logger },
    announce: given.announce,
  });
  const runs = new AgentRuns({
    known,
    owners: tokens.owners,
    store,
    calls,
    agent,
    models,
    clock,
    newId,
    offersTools: (clientId) => offering.has(clientId),
    logger,
  });
  onTestFinished(() => runs.close());
  /** As a call of an outside agent does. */
  const claim = async (runId: string, title: string, by: Principal = principal) => {
    const claimed = await known.claim(runId, title, by);
    await claimed.write();
    return claimed;
  };
  const start = async (input = 'Hello', by: Principal = principal) => {
    const outcome = await runs.start({ principal: by, input });
    if (!outcome.ok) throw new Error(outcome.message);
    return outcome.run;
  };
  const ended = (runId: string) =>
    bus.until(
      (event) =>
        event.type === 'run' && event.run.run_id === runId && event.run.status !== 'running',
    );
  return {
    store,
    bus,
    clock,
    calls,
    defects,
    offering,
    turns,
    tokens,
    runs,
    known,
    claim,
    start,
    ended,
  };
}

/** Until it is stopped, as a turn that hangs and still obeys its signal. */
export const untilStopped: Turn = ({ signal }) =>
  new Promise((resolve) => {
    const stop = () =>
      resolve({ status: signal.reason === SHUTTING_DOWN ? 'suspended' : 'cancelled' });
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop);
  });

/** A turn that says what the test gives it, piece by piece. */
export const answering =
  (pieces: string[], then: Promise<unknown> = Promise.resolve()): Turn =>
  async ({ transcript }) => {
    const writer = await transcript.beginMessage();
    const log = await writer.beginRequest(sampleRequest());
    for (const piece of pieces) writer.append('text', piece);
    log.answered();
    await then;
    log.end({ finishReason: 'stop', usage: sampleUsage });
    await writer.end();
    return { status: 'idle' };
  };

const sampleUsage = {
  input_tokens: 12,
  output_tokens: 3,
  reasoning_tokens: null,
  cached_tokens: null,
};

export const sampleRequest = (given: Partial<ModelRequest> = {}): ModelRequest => ({
  step: 1,
  beginsStep: true,
  model: 'rehearsal',
  tools_offered: 0,
  tools_sha256: null,
  prompt_sha256: 'b'.repeat(64),
  rendering: 1,
  results: [],
  ...given,
});

export const oldRun = (given: Partial<RunSummary> = {}): RunSummary =>
  run('run_old', { ...{ title: 'Old', status: 'idle', step: 0, updated_at: 1 }, ...given });

export const oldMessage = (given: Partial<Message> = {}): Message =>
  message('msg_old', {
    ...{ run_id: 'run_old', role: 'user', parts: [{ type: 'text', text: 'Hi' }], status: 'done' },
    ...given,
  });

/** A message as a watcher that folds events has it. */
export function folded(events: readonly WatchEvent[], messageId: string): string {
  let text = '';
  for (const event of events) {
    if (event.type === 'message' && event.message.message_id === messageId) {
      text = event.message.parts.map((part) => ('text' in part ? part.text : '')).join('');
    }
    if (event.type === 'message_delta' && event.message_id === messageId) text += event.delta;
  }
  return text;
}
