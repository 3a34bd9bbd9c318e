import { type Guard, guard } from './guard.ts';

/** Guards of the loop of the agent. */
export const LOOP_GUARDS: readonly Guard[] = [
  guard('T145', 'server/runs/agent/step-calls.ts', {
    'export const MOST_CALLS = 32;': 'export const MOST_CALLS = 33;',
  }),
  guard('T146', 'server/runs/agent/text-calls/text-history.ts', {
    'plain: (text) => withoutTags(text, toolNames),': 'plain: (text) => text,',
  }),
  guard('T147', 'lib/text/untrusted.ts', {
    'if (!text.includes(boundary)) return boundary;':
      "return seed === 0 ? '0123456789abcdef' : boundary;",
  }),
  guard('T148', 'lib/call/model-output.ts', {
    "typeof result === 'string' ? result : (JSON.stringify(result) ?? 'null');":
      "typeof result === 'string' ? result : String(Object(result).content ?? JSON.stringify(result));",
  }),
  guard('T149', 'lib/call/model-output.ts', {
    "if (!isFinalStatus(call.status) || !call.error || call.error.executed === 'unknown') {":
      'if (!call.error) {',
  }),
  guard('T150', 'lib/call/model-output.ts', {
    'export const MODEL_OUTPUT_BYTES = 32 * 1024;': 'export const MODEL_OUTPUT_BYTES = 64 * 1024;',
  }),
  guard('T151', 'server/runs/delegate/delegation.ts', {
    'if (lineage.includes(agent.name)) {': "if (lineage.includes('')) {",
  }),
  guard('T152', 'server/runs/agent/step-calls.ts', {
    'const unsure = known !== undefined && entry.partial.isEmpty;': 'const unsure = false;',
  }),
];
