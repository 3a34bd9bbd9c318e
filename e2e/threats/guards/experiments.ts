import { type Guard, guard } from './guard.ts';

/** Guards that experiments with agents showed to be needed. */
export const EXPERIMENT_GUARDS: readonly Guard[] = [
  guard('E1', 'server/tools/define-tool.ts', {
    '  const instance = await tool.create(context);':
      '  await tool.create(context);\n  const instance = await tool.create(context);',
  }),
  guard('E2', 'server/calls/tool-stats.ts', { '[endedAt - startedAt]': '[endedAt]' }),
  guard('E3', 'lib/schema/repair-args.ts', {
    'const scalar = readScalarText(text, types);': 'const scalar: unknown = text;',
  }),
  guard('E4', 'lib/schema/repair-args.ts', { "  if (types.has('string')) return text;\n": '' }),
  guard('E5', 'server/tools/own-tools.ts', {
    "{ type: 'string', format: 'date-time' }": "'throw'",
  }),
  guard('E6', 'lib/call/model-output.ts', {
    "body || (files.length > 0 ? '' : '(empty result)')": 'body',
  }),
  guard('E7', 'server/runs/agent/turn-ending.ts', {
    'if (step > maxSteps) {': 'if (step > maxSteps + 1) {',
  }),
  guard('E8', 'server/runs/delegate/delegation.ts', {
    'return { output: form.answer(answerOf(name, outcome.run), childRunOf(context.callId)) };':
      'return { output: await new Promise(() => undefined) };',
  }),
  guard('E9', 'server/runs/agent-runs.ts', {
    "    signal.addEventListener('abort', stop, { once: true });\n": '',
  }),
  guard('E10', 'server/runs/agent/text-calls/text-call-stream.ts', {
    'const calls = new TextCallStream(offeredTools(tools));':
      'const shared: { calls?: TextCallStream } = globalThis;\n        shared.calls ??= new TextCallStream(offeredTools(tools));\n        const { calls } = shared;',
  }),
  guard('E11', 'server/runs/agent/build-model-history.ts', {
    '    results.push(published.result);': '    results.unshift(published.result);',
  }),
  guard('E12', 'server/runs/agent/partial-arguments.ts', {
    'this.#nextAt = this.#deps.clock.now() + Math.min(INTERVAL_MS + more, LONGEST_PAUSE_MS);':
      'this.#nextAt = Math.min(0, more);',
  }),
  guard('E13', 'server/runs/agent/run-turn.ts', {
    'if (!(error instanceof StepFailedError) || !error.isSilent) return undefined;':
      'if (failures < 3) return { request, delay: 0 };',
  }),
  guard('E14', 'server/tools/define-tool.ts', {
    'output: checkedOutput(tool, answer.output)': 'output: undefined',
  }),
];
