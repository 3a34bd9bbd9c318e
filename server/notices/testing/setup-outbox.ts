import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Call } from '#lib/call/call';
import { sampleCall } from '#lib/call/testing/sample-call';
import { createManualClock, type ManualClock } from '#lib/client/testing/manual-clock';
import type { Card } from '#lib/protocol/card';
import { tempDir } from '#lib/testing/temp-dir';
import { given } from '#lib/util/given';
import { createNewId } from '../../base/new-id.ts';
import type { DeliveryRecord } from '../../store/store.ts';
import { createStoreOnThisThread } from '../../store/testing/store-on-this-thread.ts';
import { createErrorLog } from '../../testing/error-log.ts';
import { notifyConfigSchema, readNotify } from '../notify-config.ts';
import { type LeftInstance, openNotifications } from '../open-notifications.ts';
import type { TargetSource } from '../target.ts';
import { finishedRun, sampleRun } from './sample-runs.ts';

export const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
export const ORIGIN = 'https://board.example';

export interface OutboxOptions {
  /** As `notify` of the configuration file. */
  readonly notify?: object;
  readonly env?: Record<string, string>;
  readonly sources?: readonly TargetSource[];
  /** Of an earlier one: what that left is taken up. */
  readonly dir?: string;
  readonly clock?: ManualClock;
  readonly isStarted?: boolean;
  readonly isTracing?: boolean;
}

/** Notifications on a real store; time and calls are the test's. */
export async function setupOutbox(options: OutboxOptions = {}) {
  const { env = {}, sources = [], clock = createManualClock() } = options;
  const dir = options.dir ?? tempDir();
  const { logger, errors, lines, infos } = createErrorLog();
  const store = createStoreOnThisThread({ file: join(dir, 'callboard.db') });
  const settings = readNotify(
    notifyConfigSchema.parse(options.notify ?? {}),
    (name) => env[name],
    'config.json',
  );
  const outcomes: string[] = [];
  const calls = new Map<string, Call>();
  const here = new Set<string>();
  const left: ((instance: LeftInstance) => void)[] = [];
  const notifications = await openNotifications(settings, {
    clients: { hasClient: (id) => here.has(id), onLeft: (listener) => void left.push(listener) },
    ...{ store, clock, newId: createNewId(clock.now), sources, logger },
    ...given({ isTracing: options.isTracing }),
    random: () => 0,
    counted: (target, outcome) => void outcomes.push(`${target} ${outcome}`),
  });
  const start = () =>
    notifications.start({ calls: { get: async (id) => calls.get(id) }, origin: () => ORIGIN });
  const close = async () => {
    notifications.stop();
    await store.close();
  };
  onTestFinished(close);
  if (options.isStarted !== false) start();
  const { outbox } = notifications;
  /** Oldest first; those of one millisecond by their state. */
  async function listed(): Promise<DeliveryRecord[]> {
    const all: DeliveryRecord[] = [];
    for (let before: string | null | undefined; before !== null; ) {
      const page = await outbox.deliveries({ limit: 200, ...given({ before }) });
      all.push(...page.deliveries);
      before = page.next;
    }
    return all.sort((a, b) => a.madeAt - b.madeAt || (a.state < b.state ? -1 : 1));
  }
  /** What a decision about a call leads to; resolves when it is on disk. */
  async function decide(call: Call, previous?: Call): Promise<void> {
    calls.set(call.id, call);
    await write(outbox.announceCall(call, previous));
  }
  async function write(announced: ReturnType<typeof outbox.announceRun>): Promise<void> {
    await store.write(announced?.changes ?? []);
    announced?.written();
  }
  const finishRun = (more: Parameters<typeof finishedRun>[0] = {}) =>
    write(outbox.announceRun(finishedRun(more), sampleRun()));
  return {
    ...{ dir, clock, store, settings, notifications, outbox, outcomes, calls, here },
    ...{ errors, lines, infos, close, decide, finishRun, listed, start },
    /** An instance of a client has left. */
    leave(instance: LeftInstance): void {
      for (const listener of left) listener(instance);
    },
    ask: (more: AskingCall = {}) => decide(asking(more)),
    states: async () => (await listed()).map(({ state }) => state),
  };
}

type AskingCall = Partial<Omit<Call, 'card'>> & { readonly card?: Partial<Card> };

/** A call that waits for a person. */
export const asking = ({ card, ...more }: AskingCall = {}): Call => {
  const call = sampleCall({ phase: 'approval', ...more });
  const shown = { approval_reason: 'It pays', display_name: 'Pay', ...call.card };
  return { ...call, card: { ...shown, ...card } };
};

export const finished = (more: Partial<Call> = {}): Call =>
  sampleCall({ status: 'SUCCEEDED', phase: null, completedAt: 1_700_000_000_250, ...more });

/** As the configuration names a variable. */
export const variable = (name: string) => `\${env:${name}}`;

export const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;

/** One webhook by the name `ops`. */
export const webhook = (url: string, more: object = {}) => ({
  ops: { kind: 'webhook', url, secret: SECRET, ...more },
});

export const ids = (count: number) => Array.from({ length: count }, (_, n) => `tc_${n}`);
