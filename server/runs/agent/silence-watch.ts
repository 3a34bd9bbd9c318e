import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../base/clock.ts';
import { WaitedLongError } from './notices.ts';
/** How long a model is waited for. */
export interface Patience {
  /** Without a byte of its server. */
  readonly silentMs: number;
  /** For its whole answer: a server that only drips is no model that thinks. */
  readonly totalMs: number;
}

export type SilenceWatch = ReturnType<typeof createSilenceWatch>;

/** The SDK passes nothing from the one who asks to its `fetch`, and shows no comments of a stream. */
const listeners = new AsyncLocalStorage<() => void>();

/** So much of an answer is read before everything else has its turn. */
const PIECE_BYTES = 16 * 1024;

let dispatcher: Promise<object> | undefined;

/** Node's own limits of five minutes would end a request for which a model is being loaded. */
async function withoutLimits(): Promise<object> {
  // Node shows the class of its connections nowhere else, and makes them with its first request.
  await fetch('data:,');
  const shared = Reflect.get(globalThis, Symbol.for('undici.globalDispatcher.1'));
  return Reflect.construct(shared.constructor, [{ headersTimeout: 0, bodyTimeout: 0 }]);
}

export const withLifeSigns =
  (fetchFrom: typeof fetch): typeof fetch =>
  async (input, init) => {
    const touch = listeners.getStore();
    dispatcher ??= withoutLimits();
    const options = Object.assign({}, init, { dispatcher: await dispatcher });
    const response = await fetchFrom(input, options);
    if (!touch || !response.body) return response;
    touch();
    const pieces = new TransformStream<Uint8Array, Uint8Array>({
      async transform(bytes, controller) {
        touch();
        for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
          controller.enqueue(bytes.subarray(at, at + PIECE_BYTES));
          await nextTurn();
        }
      },
    });
    return new Response(response.body.pipeThrough(pieces), response);
  };

/**
 * Aborts `signal` with a `WaitedLongError` when nothing was heard for so long, or the whole takes too
 * long. A timer per silence, not per word: `touch` only notes the time.
 */
export function createSilenceWatch(clock: Clock, { silentMs, totalMs }: Patience) {
  const controller = new AbortController();
  let lastDataAt = clock.now();
  let cancelTimer = arm(silentMs);
  const cancelTotal = clock.schedule(totalMs, () =>
    controller.abort(new WaitedLongError('model_too_long', totalMs / 1000)),
  );

  function arm(ms: number): () => void {
    return clock.schedule(ms, () => {
      const leftMs = lastDataAt + silentMs - clock.now();
      if (leftMs > 0) cancelTimer = arm(leftMs);
      else controller.abort(new WaitedLongError('model_silent', silentMs / 1000));
    });
  }

  const touch = () => {
    lastDataAt = clock.now();
  };
  return {
    signal: controller.signal,
    /** Asks with a `fetch` of `withLifeSigns`, each byte of whose answer is a sign of life. */
    listen: <Answer>(ask: () => Answer): Answer => listeners.run(touch, ask),
    touch,
    end() {
      cancelTimer();
      cancelTotal();
    },
  };
}
