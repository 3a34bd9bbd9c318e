import type { ClientMessage } from '../protocol/client-messages.ts';
import { errorMessage } from '../util/error-message.ts';
import { CallRunner } from './call-runner.ts';
import type { ClientToolDefinition } from './client-tool.ts';
import type { UploadBlob } from './encode-answer.ts';
import { createMemoryJournal, type Journal } from './journal.ts';
import type { ClientEnvironment } from './transports.ts';

/** How long a close waits for tools that do not heed their signal. */
const CLOSE_WAIT_MS = 2_000;

/** One page's or program's place in the life of a client: an instance with its journal and calls. */
export interface ClientInstance {
  readonly id: string;
  readonly journal: Journal;
  readonly runner: CallRunner;
  /** Resolves when its calls have ended, or have had time to. With `discard`, nothing is kept of them. */
  close(options: { reason: string; discard: boolean }): Promise<void>;
}

export interface ClientInstanceOptions {
  readonly environment: ClientEnvironment;
  openJournal(instanceId: string): Promise<Journal>;
  findTool(name: string): ClientToolDefinition | undefined;
  send(message: ClientMessage): boolean;
  readonly uploadBlob: UploadBlob | undefined;
  readonly onProblem: (message: string) => void;
}

/** Where the journal cannot be opened, one in memory takes its place, and that is reported. */
export async function openClientInstance(
  id: string,
  options: ClientInstanceOptions,
): Promise<ClientInstance> {
  const { environment, onProblem } = options;
  const journal = await options.openJournal(id).catch((error) => {
    onProblem(`no journal, calls do not survive a restart: ${errorMessage(error)}`);
    return createMemoryJournal({ epoch: environment.newId() });
  });
  const runner = new CallRunner({ ...options, journal, remembered: await journal.entries() });
  return {
    id,
    journal,
    runner,
    async close({ reason, discard }) {
      const ended = runner.close({ reason, discard });
      // The journal belongs to another page now: nothing may be written into it (CL15).
      if (discard) journal.close();
      await Promise.race([ended, delay(environment, CLOSE_WAIT_MS)]);
      if (!discard) journal.close();
    },
  };
}

const delay = ({ schedule }: ClientEnvironment, ms: number): Promise<void> =>
  new Promise((resolve) => schedule(ms, resolve));
