import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';

const EACH_MS = 10_000;
/** A reason repeats what came: headers, names of methods. */
const SHOWN_CHARS = 200;

/** Requests that the protocol refuses, one line of the log for all of ten seconds (rule MP55). */
export function createRefusalLog({ clock, logger }: { clock: Clock; logger: Logger }) {
  let more = 0;
  let cancel: (() => void) | undefined;
  const write = () => {
    cancel = undefined;
    if (more > 0) logger.info(`MCP: ${more} more requests were refused`);
    more = 0;
  };
  return {
    note(reason: string): void {
      if (cancel) more += 1;
      // As JSON: what came has no line of its own.
      else logger.info(`MCP: ${JSON.stringify(reason.slice(0, SHOWN_CHARS))}`);
      cancel ??= clock.schedule(EACH_MS, write);
    },
    close(): void {
      cancel?.();
      write();
    },
  };
}
