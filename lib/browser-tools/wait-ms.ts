import { abortable } from '../util/abortable.ts';

/** Resolves after that long; with the signal's reason when it aborts before. */
export async function waitMs(ms: number, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    await abortable(
      signal,
      new Promise<void>((resolve) => {
        timer = setTimeout(resolve, ms);
      }),
    );
  } finally {
    clearTimeout(timer);
  }
}

/** Reports whole seconds as they pass, until the function that it returns is called. */
export function reportSeconds(total: number, report: (done: number) => void): () => void {
  let done = 0;
  const timer = setInterval(() => {
    done = Math.min(done + 1, total);
    report(done);
  }, 1_000);
  return () => clearInterval(timer);
}
