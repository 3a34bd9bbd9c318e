import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import type { Call } from '#lib/call/call';
import { mergeCard } from '#lib/call/merge-card';
import type { JournalEntry } from '#lib/call/resume-matrix';
import { createManualClock } from '#lib/client/testing/manual-clock';
import type { Card } from '#lib/protocol/card';
import type { ServerMessage, ServerMessageOf } from '#lib/protocol/server-messages';
import type { WatchEvent } from '#lib/protocol/watch-messages';
import { tempDir } from '#lib/testing/temp-dir';
import type { CallersOfCalls } from '../../approvals/caller-of-call.ts';
import type { Check, CheckEdit, Denial } from '../../approvals/check.ts';
import { type Caller, callerOf, FIRST_OPERATOR, principalName } from '../../auth/principal.ts';
import { createDiskBlobStore } from '../../blobs/disk-blob-store.ts';
import { createPool } from '../../clients/testing/create-pool.ts';
import { createMemoryBus, instanceAddress } from '../../events/memory-bus.ts';
import type { AnnounceCall } from '../../notices/notice-drafts.ts';
import type { KnownSecrets } from '../../secrets/withholding.ts';
import { createFoldingStore } from '../../store/testing/folding-store.ts';
import { createErrorLog } from '../../testing/error-log.ts';
import { type AnyServerTool, defineTool } from '../../tools/define-tool.ts';
import { registerTools } from '../../tools/testing/register-tools.ts';
import type { ToolProvider } from '../../tools/tool-provider.ts';
import { Breaker } from '../breaker.ts';
import { type Calls, createCalls } from '../create-call-service.ts';
import type { ResultFilter } from '../result-filter.ts';
import { ALLOW_ALL } from './allow-all.ts';

export const operator = FIRST_OPERATOR;

export interface SetupOptions {
  readonly check?: Check;
  readonly checkEdit?: CheckEdit;
  readonly denial?: Denial;
  /** Without it each run is one that a person or a program began. */
  readonly rootOf?: (runId: string) => string;
  readonly approvals?: { readonly at_once: number; readonly wait_seconds: number };
  readonly onDecided?: (call: Call) => void;
  readonly onDurable?: (call: Call, previous: Call | undefined) => void;
  readonly isTracing?: boolean;
  readonly announce?: AnnounceCall;
  readonly results?: ResultFilter;
  readonly secrets?: KnownSecrets;
  /** Without it each token that a call was made with is live. */
  readonly callers?: CallersOfCalls;
  /** To start again on what another one left. */
  readonly dir?: string;
  readonly effect?: 'read' | 'write';
  /** More tools of the server. */
  readonly tools?: readonly AnyServerTool[];
  readonly providers?: readonly ToolProvider[];
}

/** The call service on a real store, bus and registry; only time and the clients are the test's. */
export async function setupCalls(options: SetupOptions = {}) {
  const dir = options.dir ?? tempDir();
  const { logger, errors, lines, infos } = createErrorLog();
  const clock = createManualClock();
  const store = createFoldingStore({ file: join(dir, 'callboard.db') });
  const bus = createMemoryBus({ firstSeq: await store.reserveSeqs(1_000), logger });
  const events: WatchEvent[] = [];
  bus.subscribe({ onEvents: (batch) => events.push(...batch.map(({ event }) => event)) });
  const releases: (() => void)[] = [];
  const hold = defineTool({
    name: 'hold',
    displayName: 'Hold',
    description: 'Waits until it is let go',
    args: z.object({ accepting: z.string().optional() }),
    effect: options.effect ?? 'read',
    timeoutMs: 5_000,
    run: ({ accepting }, { signal }) =>
      new Promise((resolve, reject) => {
        releases.push(() => resolve({ output: accepting ?? 'held' }));
        signal.addEventListener('abort', () => reject(signal.reason));
      }),
  });
  const breaker = new Breaker({ clock, store, logger });
  const { registry, table } = createPool({
    now: clock.now,
    serverTools: [hold, ...(options.tools ?? [])],
    providers: options.providers ?? [],
    breaker,
  });
  let number = 0;
  /** The run of each call that was recorded, in order. */
  const runsMade: string[] = [];
  const owners = new Map<string, string | null>();
  const seen = new Map<string | null, Caller>([[null, FIRST_OPERATOR]]);
  const calls: Calls = createCalls({
    breaker,
    store,
    bus,
    registry,
    clock,
    policy: {
      check: options.check ?? ALLOW_ALL.check,
      checkEdit: options.checkEdit ?? ALLOW_ALL.checkEdit,
      denial: options.denial ?? ALLOW_ALL.denial,
    },
    ...(options.results && { results: options.results }),
    ...(options.onDecided && { onDecided: options.onDecided }),
    announce: options.announce,
    blobs: createDiskBlobStore({ dir: join(dir, 'blobs') }),
    ...(options.secrets && { secrets: options.secrets }),
    rootOf: options.rootOf ?? ((runId) => runId),
    approvals: options.approvals,
    newCallId: () => `tc_${Date.now().toString(36)}_${++number}`,
    callMadeAt: (id) => (/^tc_\d+$/.test(id) ? Number(id.slice(3)) : undefined),
    callers: options.callers ?? {
      callerOf: (tokenId) => seen.get(tokenId),
      operatorNamed: () => undefined,
    },
    claimRun(runId, _title, principal) {
      seen.set(callerOf(principal).tokenId, callerOf(principal));
      if (!owners.has(runId)) owners.set(runId, callerOf(principal).tokenId);
      const write = async () => void runsMade.push(runId);
      const ownerToken = owners.get(runId) ?? null;
      const ownerName = principalName(seen.get(ownerToken) ?? FIRST_OPERATOR);
      return { ownerToken, ownerName, write };
    },
    facts: table.facts,
    isTracing: options.isTracing ?? false,
    logger,
  });
  if (options.onDurable) calls.onDurable(options.onDurable);

  /** A client whose messages are kept instead of sent. */
  function connect(
    clientId: string,
    more: { claims?: boolean; epoch?: string; instanceId?: string } = {},
  ) {
    const instanceId = more.instanceId ?? `${clientId}-instance`;
    const inbox: ServerMessage[] = [];
    const close = bus.openInbox(instanceAddress(clientId, instanceId), (message) => {
      if (message.type === 'send') inbox.push(message.message);
    });
    table.add({
      clientId,
      instanceId,
      name: clientId,
      kind: 'program',
      caps: more.claims ? ['claim'] : [],
      journalEpoch: more.epoch ?? null,
      visible: true,
      responsive: true,
      permissions: undefined,
      secureContext: undefined,
      connectedAt: clock.now(),
    });
    const at = (attempt?: number) => ({ clientId, instanceId, attempt });
    return {
      clientId,
      instanceId,
      inbox,
      requests: () =>
        inbox.filter(
          (one): one is ServerMessageOf<'tool_call_request'> => one.type === 'tool_call_request',
        ),
      offer(...tools: object[]) {
        const answer = registerTools(registry, { clientId, instanceId }, tools);
        calls.instances.toolsChanged(instanceId);
        return answer;
      },
      claim: (id: string, attempt: number) => calls.clients.claim({ ...at(attempt), attempt }, id),
      succeed: (id: string, output: unknown, attempt?: number) =>
        calls.clients.answer(at(attempt), id, { ok: true, output, attachments: [] }),
      show: (id: string, output: unknown, display: unknown) =>
        calls.clients.answer(at(), id, { ok: true, output, display, attachments: [] }),
      fail: (id: string, message: string, clientCode?: string) =>
        calls.clients.answer(at(), id, {
          ok: false,
          message,
          ...(clientCode === undefined ? {} : { clientCode }),
        }),
      /** It has come back, and its journal holds this. */
      back: (
        known: readonly ({ readonly id: string } & JournalEntry)[] = [],
        journalEpoch = more.epoch ?? null,
      ) => calls.instances.back({ clientId, instanceId, journalEpoch, known }),
      status: (message: Parameters<typeof calls.clients.status>[1]) =>
        calls.clients.status(at(), message),
      leave() {
        close();
        registry.drop(instanceId);
        table.remove(instanceId);
        calls.instances.disconnected(instanceId);
      },
    };
  }

  /** At the end of the test at the latest; another setup may begin on what is left. */
  async function close() {
    calls.stop();
    await store.close();
  }
  onTestFinished(close);

  async function invoke(tool: string, args: unknown = {}, more: object = {}) {
    const outcome = await calls.invoke({
      principal: operator,
      tool,
      runId: 'run_1',
      args,
      ...more,
    });
    if (!outcome.ok) throw new Error(`${outcome.code}: ${outcome.message}`);
    return outcome.call;
  }

  return {
    dir,
    clock,
    store,
    bus,
    registry,
    breaker,
    table,
    calls,
    runsMade,
    events,
    errors,
    lines,
    infos,
    logger,
    connect,
    invoke,
    /** How many runs of the server's tool wait to be let go. */
    started: () => releases.length,
    releaseAll() {
      for (const release of releases.splice(0)) release();
    },
    /** The newest durable state. */
    async call(id: string) {
      const record = await calls.get(id);
      if (!record) throw new Error(`no call ${id}`);
      return record;
    },
    /** Resolves once all that was decided is on disk and told. */
    async settle() {
      // Twice: what came while a call was being written is a write after that one.
      for (let round = 0; round < 2; round += 1) {
        await store.write([]);
        await new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
      }
    },
    /** The card that a watcher has who saw everything. */
    cardOf: (id: string) =>
      events
        .flatMap((event) =>
          event.type === 'call' && event.tool_call_id === id ? [event.update] : [],
        )
        .reduce<Card | undefined>(mergeCard, undefined),
    close,
  };
}

export type CallsSetup = Awaited<ReturnType<typeof setupCalls>>;

export const tool = (name: string, more: object = {}) => ({
  name,
  description: `The tool ${name}`,
  parameters: { type: 'object' },
  ...more,
});

export const reading = { annotations: { readOnlyHint: true } };
