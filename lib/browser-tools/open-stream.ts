import { ToolFailure } from '../client/client-tool.ts';
import { errorMessage } from '../util/error-message.ts';
import { isNotAllowed, permissionDenied } from './with-permission.ts';

/** The stream of a camera, a microphone or what is shared; a call that ended while the browser asked gets none. */
export async function openStream(
  open: () => Promise<MediaStream>,
  what: string,
  signal: AbortSignal,
): Promise<MediaStream> {
  try {
    const stream = await open();
    // It would never be turned off otherwise.
    if (signal.aborted) stopStream(stream);
    return stream;
  } catch (error) {
    if (isNotAllowed(error)) throw permissionDenied(what);
    throw new ToolFailure('unavailable', `${what} cannot be used: ${streamProblem(error)}`);
  }
}

function streamProblem(error: unknown): string {
  const name = error instanceof DOMException ? error.name : '';
  if (name === 'NotFoundError') return 'this device has none.';
  if (name === 'NotReadableError') return 'another program uses it now; close that and repeat.';
  return errorMessage(error);
}

/** Turns a camera or a microphone off. */
export function stopStream(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop();
}
