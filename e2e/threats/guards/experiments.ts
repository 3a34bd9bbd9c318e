import type { Guard } from './guard.ts';

/** Guards that experiments with agents showed to be needed. */
export const EXPERIMENT_GUARDS: readonly Guard[] = [
  {
    number: 'E1',
    file: 'server/tools/define-tool.ts',
    code: '  const instance = await tool.create(context);',
    broken: '  await tool.create(context);\n  const instance = await tool.create(context);',
  },
  {
    number: 'E2',
    file: 'server/calls/tool-stats.ts',
    code: '[endedAt - startedAt]',
    broken: '[endedAt]',
  },
  {
    number: 'E3',
    file: 'lib/schema/repair-args.ts',
    code: 'const scalar = readScalarText(text, types);',
    broken: 'const scalar: unknown = text;',
  },
  {
    number: 'E4',
    file: 'lib/schema/repair-args.ts',
    code: "  if (types.has('string')) return text;\n",
    broken: '',
  },
  {
    number: 'E5',
    file: 'server/tools/own-tools.ts',
    code: "{ type: 'string', format: 'date-time' }",
    broken: "'throw'",
  },
  {
    number: 'E6',
    file: 'lib/call/model-output.ts',
    code: "body || (files.length > 0 ? '' : '(empty result)')",
    broken: 'body',
  },
  {
    number: 'E7',
    file: 'server/runs/agent/turn-ending.ts',
    code: 'if (step > maxSteps) {',
    broken: 'if (step > maxSteps + 1) {',
  },
  {
    number: 'E8',
    file: 'server/runs/delegate/delegation.ts',
    code: 'return { output: form.answer(answerOf(name, outcome.run), childRunOf(context.callId)) };',
    broken: 'return { output: await new Promise(() => undefined) };',
  },
  {
    number: 'E9',
    file: 'server/runs/agent-runs.ts',
    code: "    signal.addEventListener('abort', stop, { once: true });\n",
    broken: '',
  },
  {
    number: 'E10',
    file: 'server/runs/agent/text-calls/text-call-stream.ts',
    code: 'const calls = new TextCallStream(offeredTools(tools));',
    broken:
      'const shared: { calls?: TextCallStream } = globalThis;\n        shared.calls ??= new TextCallStream(offeredTools(tools));\n        const { calls } = shared;',
  },
  {
    number: 'E11',
    file: 'server/runs/agent/build-model-history.ts',
    code: '    results.push(published.result);',
    broken: '    results.unshift(published.result);',
  },
  {
    number: 'E12',
    file: 'server/runs/agent/partial-arguments.ts',
    code: 'const pauseMs = Math.min(INTERVAL_MS + Math.max(0, bytes - SMALL_BYTES), LONGEST_PAUSE_MS);',
    broken: 'const pauseMs = Math.min(0, bytes);',
  },
  {
    number: 'E13',
    file: 'server/runs/agent/run-turn.ts',
    code: '      if (delay === undefined) throw error;',
    broken: '      if (delay === undefined && failures > 2) throw error;',
  },
  {
    number: 'E14',
    file: 'server/tools/define-tool.ts',
    code: 'output: checkedOutput(tool, answer.output)',
    broken: 'output: undefined',
  },
];
