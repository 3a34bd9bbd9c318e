import { z } from 'zod';
import { defineTool } from '../../tools/define-tool.ts';

/** A tool that waits until it is stopped, so that a turn is caught in the middle. */
export const holdTool = (name: string, started: () => void = () => undefined) =>
  defineTool({
    ...{ name, displayName: 'Hold', description: 'Waits' },
    args: z.object({}),
    effect: 'write',
    timeoutMs: 60_000,
    run: (_args, { signal }) =>
      new Promise((_, reject) => {
        started();
        signal.addEventListener('abort', () => reject(signal.reason));
      }),
  });
