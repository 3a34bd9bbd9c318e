import type { ClientToolDefinition } from '../../../lib/client/client-tool.ts';
import type { Effects } from './library-client.ts';

/** A tool that has done its effect, and ends when the harness wants it to. */
export interface HeldTool {
  readonly name: string;
  readonly definition: ClientToolDefinition;
  end(): void;
}

export function createHeldTool(
  effects: Effects,
  client: string,
  onEffect: (callId: string) => void = () => {},
): HeldTool {
  const name = `effect_${client}_held`;
  const end = Promise.withResolvers<void>();
  return {
    name,
    end: () => end.resolve(),
    definition: {
      name,
      description: 'runs until it may end',
      parameters: { type: 'object' },
      concurrency: 8,
      annotations: {},
      async run({ nonce }, { callId }) {
        effects.set(callId, [...(effects.get(callId) ?? []), Date.now()]);
        onEffect(callId);
        await end.promise;
        return { output: { call: callId, by: client, nonce } };
      },
    },
  };
}
