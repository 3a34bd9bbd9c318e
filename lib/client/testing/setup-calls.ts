import type { ToolClientOptions } from '../tool-client.ts';
import { createHeldTool, setupClient, until, type Way } from './setup-client.ts';

type Setup = Awaited<ReturnType<typeof setupClient>>;

/** A connected client with one tool that ends when the test says so. */
export async function setupCalls(
  tool = createHeldTool(),
  options: Partial<ToolClientOptions> = {},
  way?: Way,
) {
  const rig = await setupClient({ tools: [tool.definition], ...options }, way);
  return { ...rig, tool, ...(await rig.connect()) };
}

/** Drops the line and comes back. */
export async function reconnect(
  { client, clock, server }: Setup,
  link: { cut(): void },
  fields = {},
) {
  link.cut();
  await until(client.status, ({ state }) => state === 'reconnecting');
  clock.advance(500);
  const back = await server.accept();
  const hello = await back.welcome(fields);
  await until(client.status, ({ state }) => state === 'connected');
  return { back, hello };
}

/** The types of what was sent, without the answers to probes. */
export const types = (messages: readonly { type: string }[]) =>
  messages.map(({ type }) => type).filter((type) => type !== 'probe_ack');
