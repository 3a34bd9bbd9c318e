import type { Guard } from './guard.ts';

/** Guards of the loop of the agent. */
export const LOOP_GUARDS: readonly Guard[] = [
  {
    number: 'T145',
    file: 'server/runs/agent/step-calls.ts',
    code: 'export const MOST_CALLS = 32;',
    broken: 'export const MOST_CALLS = 33;',
  },
  {
    number: 'T146',
    file: 'server/runs/agent/text-calls/text-history.ts',
    code: 'plain: (text) => withoutTags(text, toolNames),',
    broken: 'plain: (text) => text,',
  },
  {
    number: 'T147',
    file: 'lib/text/untrusted.ts',
    code: 'if (!text.includes(boundary)) return boundary;',
    broken: "return seed === 0 ? '0123456789abcdef' : boundary;",
  },
  {
    number: 'T148',
    file: 'lib/call/model-output.ts',
    code: "typeof result === 'string' ? result : (JSON.stringify(result) ?? 'null');",
    broken:
      "typeof result === 'string' ? result : String(Object(result).content ?? JSON.stringify(result));",
  },
  {
    number: 'T149',
    file: 'lib/call/model-output.ts',
    code: "if (!isFinalStatus(call.status) || !call.error || call.error.executed === 'unknown') {",
    broken: 'if (!call.error) {',
  },
  {
    number: 'T150',
    file: 'lib/call/model-output.ts',
    code: 'export const MODEL_OUTPUT_BYTES = 32 * 1024;',
    broken: 'export const MODEL_OUTPUT_BYTES = 64 * 1024;',
  },
  {
    number: 'T151',
    file: 'server/runs/delegate/delegation.ts',
    code: 'if (lineage.includes(agent.name)) {',
    broken: "if (lineage.includes('')) {",
  },
  {
    number: 'T152',
    file: 'server/runs/agent/step-calls.ts',
    code: 'const unsure = known !== undefined && entry.partial.isEmpty;',
    broken: 'const unsure = false;',
  },
];
