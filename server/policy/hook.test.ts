import { expect, test } from 'vitest';
import { createManualClock } from '#lib/client/testing/manual-clock';
import type { PolicyQuestion } from '#lib/policy/decide-policy';
import type { CheckRequest } from '../approvals/room.ts';
import type { Logger } from '../base/logger.ts';
import { askHook, beforeSchema, FAILED, type Hook } from './hook.ts';
import { HookChain } from './hook-chain.ts';

const hook: Hook = { name: 'h', module: './h.mjs', timeout_ms: 100, security: false };
const clock = createManualClock();
const logger: Logger = { info: () => {}, error: () => {} };

test('[PO13] a value that is no JSON is a failure of the hook, and is not made into some other value', async () => {
  const deps = { clock, logger, hide: (text: string) => text, onFailed: () => {} };
  const ask = (args: object) =>
    askHook(hook, () => ({ action: 'change', args }), beforeSchema, deps);
  expect(await ask({ at: new Date(0) })).toBe(FAILED);
  expect(await ask({ at: undefined, text: 'x' })).toEqual({
    action: 'change',
    args: { text: 'x' },
  });
});

test('[PO13] a hook that gives the arguments back as they were has changed nothing', async () => {
  const args = { to: 'ann' };
  const before = () => ({ action: 'change', args: { ...args } });
  const chain = new HookChain([{ ...hook, before }], { clock, logger });
  const tool = { check: () => ({ ok: true, args }) };
  const question = { toolName: 'mail', args } as unknown as PolicyQuestion;
  const request = { runId: 'run_a', tool } as unknown as CheckRequest;
  expect(await chain.before(question, request)).toBeUndefined();
});
