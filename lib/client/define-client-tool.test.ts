import { expect, test } from 'vitest';
import { defineClientTool, integer } from './tool-arguments.ts';

const wave = defineClientTool({
  name: 'hand.wave',
  description: 'Waves.',
  args: { times: integer({ max: 5, default: 2, description: 'How often.' }) },
  run: ({ times }) => ({ output: times }),
});
const context = {
  callId: 'tc_1',
  runId: 'run_1',
  signal: new AbortController().signal,
  status() {},
  askDevice: <T>(ask: () => Promise<T>) => ask(),
};

test('the schema comes from the arguments; what has a default is not required', () => {
  expect(wave.parameters).toEqual({
    type: 'object',
    properties: {
      times: {
        type: 'integer',
        maximum: 5,
        default: 2,
        description: 'How often.',
      },
    },
  });
});

test('defaults are filled in', () => expect(wave.run({}, context)).toEqual({ output: 2 }));

test('arguments that do not fit are refused with the place and the reason', () => {
  expect(() => wave.run({ times: 9 }, context)).toThrow(/times/);
});
