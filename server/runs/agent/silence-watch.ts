import type { Clock } from '../../clock.ts';
import { ModelSilentError } from './describe-model-error.ts';

/** Aborts `signal` with a `ModelSilentError` when nothing was heard for `silentMs`. */
export interface SilenceWatch {
  readonly signal: AbortSignal;
  heard(): void;
  end(): void;
}

/** A timer per silence, not per word: `heard` only notes the time. */
export function createSilenceWatch(clock: Clock, silentMs: number): SilenceWatch {
  const controller = new AbortController();
  let heardAt = clock.now();
  let unschedule = arm(silentMs);

  function arm(ms: number): () => void {
    return clock.schedule(ms, () => {
      const leftMs = heardAt + silentMs - clock.now();
      if (leftMs > 0) unschedule = arm(leftMs);
      else controller.abort(new ModelSilentError(silentMs / 1000));
    });
  }

  return {
    signal: controller.signal,
    heard() {
      heardAt = clock.now();
    },
    end() {
      unschedule();
    },
  };
}
