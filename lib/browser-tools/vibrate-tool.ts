import type { ClientToolDefinition } from '../client/client-tool.ts';
import { defineClientTool } from '../client/define-client-tool.ts';
import { integer, list } from '../client/tool-arguments.ts';
import { ToolFailure } from '../client/tool-failure.ts';
import type { DeviceParts } from './device-parts.ts';
import type { DevicePrompts } from './device-prompts.ts';
import { withTouch } from './with-touch.ts';

interface Env {
  readonly vibration: NonNullable<DeviceParts['vibration']>;
  readonly prompts: DevicePrompts;
}

const LONGEST_MS = 10_000;

/** Lets the device vibrate. */
export const createVibrateTool = ({ vibration, prompts }: Env): ClientToolDefinition =>
  defineClientTool({
    name: 'vibrate',
    displayName: 'Vibrate',
    description:
      'Lets this device vibrate, so that the person notices it. A browser does not report whether the device has a motor.',
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
    timeoutMs: 30_000,
    args: {
      pattern: list(integer({ min: 1, max: 5_000, description: 'Milliseconds.' }), {
        min: 1,
        max: 20,
        default: [200],
        description:
          'Milliseconds of vibration and of pause in turn; together at most 10,000, e.g. [200, 100, 200].',
      }),
    },
    async run({ pattern }, context) {
      const duration = pattern.reduce((sum, one) => sum + one, 0);
      if (duration > LONGEST_MS) {
        throw new ToolFailure(
          'invalid_args',
          `The pattern lasts ${duration} ms; at most ${LONGEST_MS} are possible.`,
        );
      }
      const start = async () => vibration.start(pattern);
      const what = 'to have the device vibrate';
      const question = { tool: 'vibrate', message: 'Let this device vibrate?', what };
      // Browsers refuse it on a page that no person has touched.
      const isStarted = (await start()) || (await withTouch(prompts, question, context, start));
      if (!isStarted) throw new ToolFailure('unavailable', 'The browser refused to vibrate.');
      return { output: { started: true, duration_ms: duration } };
    },
  });
