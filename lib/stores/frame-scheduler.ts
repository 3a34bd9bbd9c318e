export interface FrameSchedulerDeps {
  /** `requestAnimationFrame`. */
  requestFrame(run: () => void): void;
  /** Calls `fire` once after `ms`; returns its undo. */
  schedule(ms: number, fire: () => void): () => void;
}

/** A hidden tab draws no frames; what is queued must not wait for it to be seen again. */
const HIDDEN_FLUSH_MS = 1_000;

/** Runs something at the next frame, or after a second where no frames are drawn. */
export const createFrameScheduler =
  ({ requestFrame, schedule }: FrameSchedulerDeps) =>
  (run: () => void): void => {
    let done = false;
    const once = () => {
      if (done) return;
      done = true;
      cancel();
      run();
    };
    const cancel = schedule(HIDDEN_FLUSH_MS, once);
    requestFrame(once);
  };
