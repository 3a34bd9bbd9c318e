import type { BrowserContextOptions } from 'playwright';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import type { ChromiumRig } from '../../client/testing/open-chromium.ts';
import { createScriptedServer } from '../../client/testing/scripted-server.ts';

/** A page that has connected, and the ways to call its tools. */
export async function setupTools(
  chromium: ChromiumRig,
  options: BrowserContextOptions = {},
  at = chromium.url,
) {
  const page = await chromium.open(options, at);
  const server = await createScriptedServer();
  onTestFinished(async () => {
    await page.context().close();
    await server.close();
  });
  await page.evaluate((url) => void window.toolsRig.start(url), server.url);
  const link = await server.accept();
  await link.welcome();
  const { tools } = await link.next('register_tools');
  let calls = 0;
  async function begin(name: string, args: Record<string, unknown> = {}) {
    calls += 1;
    const id = `tc_${calls}`;
    const request = { id, name, args, run_id: 'r', attempt: 1, timeout_ms: 1 };
    link.send({ type: 'tool_call_request', ...request });
    await link.next('tool_call_claim');
    link.send({ type: 'tool_call_granted', id, attempt: 1, remaining_ms: 60_000 });
    return id;
  }
  async function call(name: string, args: Record<string, unknown> = {}) {
    await begin(name, args);
    return link.answer();
  }
  /** Calls a tool that asks, and clicks that button of the question. */
  async function callAndClick(name: string, args: Record<string, unknown>, button = 'allowed') {
    await begin(name, args);
    await page.getByRole('button', { name: button }).click();
    return link.answer();
  }
  return { page, link, tools, begin, call, callAndClick };
}

const resultSchema = z.object({
  type: z.literal('tool_result'),
  output: z.record(z.string(), z.unknown()),
  attachments: z
    .array(z.object({ media_type: z.string(), data: z.string(), name: z.string().optional() }))
    .default([]),
});

/** Output and files of an answer that is no error. */
export const resultOf = (answer: unknown) => {
  const { output, attachments } = resultSchema.parse(answer);
  return {
    output,
    files: attachments.map(({ data, ...one }) => ({ ...one, bytes: Buffer.from(data, 'base64') })),
  };
};
