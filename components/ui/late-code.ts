import { reconnectDelay } from '#lib/net/backoff';
import { createEmitter } from '#lib/util/emitter';

/** Code that a page fetches after its first load. */
export interface LateCode<Code> {
  /** The code once it is there; until then whether the newest attempt is under way or failed. */
  get(): LateState<Code>;
  /** Fetches the code, again and again until it is there; stops with the last subscriber. */
  subscribe(onChange: () => void): () => void;
  /** The same without a subscriber, and for good. */
  fetch(): void;
  /** A person asks for another attempt now. */
  again(): void;
}

export type LateState<Code> = { readonly code: Code } | 'loading' | 'failed';

const retries = createEmitter<void>();
const failed = createEmitter<void>();

/** Calls back whenever code could not be fetched. */
export const onLateCodeFailed = failed.subscribe;

/** Fetches at once what failed and is still wanted: the network or the server has come back. */
export const retryLateCode = (): void => retries.emit();

/**
 * Fetches code when it is first wanted. A failed attempt is made again with growing waits, and at
 * once by `retryLateCode`. During these attempts the state stays `failed`, so that what people
 * read does not flicker.
 */
export function createLateCode<Code>(load: () => Promise<Code>): LateCode<Code> {
  const changes = createEmitter<void>();
  let state: LateState<Code> = 'loading';
  let wanted = 0;
  let failures = 0;
  let isUnderWay = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopListening = () => {};

  const set = (next: LateState<Code>) => {
    state = next;
    changes.emit();
  };
  const stopTrying = () => {
    clearTimeout(timer);
    stopListening();
  };
  const attempt = () => {
    clearTimeout(timer);
    if (isUnderWay || typeof state === 'object') return;
    isUnderWay = true;
    load()
      .then(
        (code) => {
          stopTrying();
          set({ code });
        },
        () => {
          set('failed');
          failed.emit();
          if (wanted > 0) timer = setTimeout(attempt, reconnectDelay(failures, Math.random()));
          failures += 1;
        },
      )
      .finally(() => {
        isUnderWay = false;
      });
  };
  const want = () => {
    wanted += 1;
    if (wanted > 1 || typeof state === 'object') return;
    state = 'loading';
    failures = 0;
    stopListening = retries.subscribe(() => {
      // Counted from here: an attempt that is under way may still fail for the old reason.
      failures = 0;
      attempt();
    });
    attempt();
  };
  return {
    get: () => state,
    subscribe(onChange) {
      const stop = changes.subscribe(onChange);
      want();
      return () => {
        stop();
        wanted -= 1;
        if (wanted === 0) stopTrying();
      };
    },
    fetch: want,
    again() {
      if (state === 'failed') set('loading');
      attempt();
    },
  };
}

/** Runs it when the page has nothing else to do. Returns what cancels it. */
export function whenIdle(run: () => void): () => void {
  // Safari has no such request; by then its page has been drawn.
  if (typeof requestIdleCallback !== 'function') {
    const timer = setTimeout(run, 2_000);
    return () => clearTimeout(timer);
  }
  const request = requestIdleCallback(() => run());
  return () => cancelIdleCallback(request);
}
