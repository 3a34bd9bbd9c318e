import type { ToolClientOptions } from '../tool-client.ts';
import { createHeldTool, setupClient, type Way } from './setup-client.ts';

/** A connected client with one tool that ends when the test says so. */
export async function setupCalls(
  tool = createHeldTool(),
  options: Partial<ToolClientOptions> = {},
  way?: Way,
) {
  const rig = await setupClient({ tools: [tool.definition], ...options }, way);
  return { ...rig, tool, ...(await rig.connect()) };
}

/** The types of what was sent, without the answers to probes. */
export const types = (messages: readonly { type: string }[]) =>
  messages.map(({ type }) => type).filter((type) => type !== 'probe_ack');
