import type { Clock } from '../../clock.ts';
import { ModelSilentError } from './describe-model-error.ts';

/** Aborts `signal` with a `ModelSilentError` when nothing was heard for `silentMs`. */
export interface SilenceWatch {
  readonly signal: AbortSignal;
  touch(): void;
  end(): void;
}

/** A timer per silence, not per word: `touch` only notes the time. */
export function createSilenceWatch(clock: Clock, silentMs: number): SilenceWatch {
  const controller = new AbortController();
  let lastDataAt = clock.now();
  let cancelTimer = arm(silentMs);

  function arm(ms: number): () => void {
    return clock.schedule(ms, () => {
      const leftMs = lastDataAt + silentMs - clock.now();
      if (leftMs > 0) cancelTimer = arm(leftMs);
      else controller.abort(new ModelSilentError(silentMs / 1000));
    });
  }

  return {
    signal: controller.signal,
    touch() {
      lastDataAt = clock.now();
    },
    end() {
      cancelTimer();
    },
  };
}
