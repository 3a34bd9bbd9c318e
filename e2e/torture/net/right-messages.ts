import type { Random } from '../random.ts';

export interface Asked {
  readonly id: string;
  readonly attempt: number;
}

/** A watcher says this; `seq` is the number that it was told last. */
export const watchMessage = (random: Random, seq: number): object =>
  random.chance(0.3)
    ? { type: 'probe', nonce: `n${random.between(0, 9)}` }
    : {
        type: 'watch',
        run_id: random.pick(['run_bait', 'run_torture', 'x']),
        // It asks for a moment ago mostly; all that the log has costs as much as all the rest.
        since: random.chance(0.05)
          ? random.between(0, 2_000)
          : Math.max(0, seq + random.between(-100, 3)),
      };

/** A client says this as its `n`-th message; `asked` are calls that it was offered. */
export function clientMessage(
  random: Random,
  index: number,
  asked: readonly Asked[],
  n: number,
): object {
  const [name, known] = [`fuzzed_${index}`, { id: `tc_${random.between(0, 99)}`, attempt: 1 }];
  const call = asked.length > 0 && random.chance(0.8) ? random.pick(asked) : known;
  const tool = {
    name,
    description: 'fuzzed',
    parameters: { type: 'object', properties: { a: { type: 'string' } } },
  };
  if (n === 0)
    return {
      type: 'hello',
      client_id: `c${index}`,
      instance_id: `i${index}`,
      name,
      kind: 'tab',
      journal_epoch: 'e',
      known: [{ ...call, phase: 'done' }],
      caps: ['claim', 'cancel', 'probe'],
    };
  if (n === 1) return { type: 'register_tools', tools: [tool] };
  return random.pick<object>([
    { type: 'register_tools', tools: [tool, { ...tool, annotations: { readOnlyHint: true } }] },
    { type: 'unregister_tools', names: ['nothing'] },
    { type: 'tool_call_claim', ...call },
    { type: 'tool_call_claim', ...call },
    {
      type: 'tool_status',
      ...call,
      tip: 'tip',
      params: { a: 1 },
      progress: { done: 1, total: 2 },
      phase: 'device',
    },
    {
      type: 'tool_result',
      ...call,
      output: { a: [1, 2] },
      success: true,
      attachments: [{ media_type: 'image/png', data: 'iVBORw0KGgo=' }],
    },
    { type: 'tool_result', ...call, output: 'text', success: true },
    { type: 'tool_error', ...call, error: 'no', success: false, code: 'outcome_unknown' },
    {
      type: 'client_state',
      visibility: 'hidden',
      permissions: { [name]: 'prompt' },
      battery: { level: 1 },
      secure_context: true,
    },
    { type: 'probe', nonce: 'n' },
    { type: 'probe_ack', nonce: 'n' },
    { type: 'hello', client_id: 'c', resume_token: 't' },
  ]);
}
