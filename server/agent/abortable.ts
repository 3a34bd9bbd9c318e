/** A turn was told to stop; `reason` of its signal says by whom. */
export class TurnStoppedError extends Error {
  override readonly name = 'TurnStoppedError';
}

/**
 * The promise, or a `TurnStoppedError` as soon as the signal is aborted,
 * whether or not what is waited for listens to signals.
 */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = () => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(new TurnStoppedError('The turn was stopped.'));
  });
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([promise, stopped]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
