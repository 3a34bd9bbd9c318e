import { LIMITS } from '#lib/protocol/limits';
import { validateToolSpec } from '../tool-checks.ts';
import type { Registration } from '../tool-provider.ts';
import type { ToolRegistry } from '../tool-registry.ts';

/** Registers tools as they came within the moment, without the slices of `check`. */
export const registerTools = (
  registry: Pick<ToolRegistry, 'register'>,
  client: { clientId: string; instanceId: string },
  specs: readonly unknown[],
): Registration =>
  registry.register(
    client,
    specs.map((spec) => checkedAlone(spec)),
  );

/** As the only tool of its client. */
export const checkedAlone = (spec: unknown, hide = (text: string): string => text) =>
  validateToolSpec(spec, { alike: () => undefined, hide, room: LIMITS.toolBytesPerClient });
