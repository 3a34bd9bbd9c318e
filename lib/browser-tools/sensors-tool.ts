import type { ClientToolContext, ClientToolDefinition } from '../client/client-tool.ts';
import { defineClientTool } from '../client/define-client-tool.ts';
import { choice, integer, number } from '../client/tool-arguments.ts';
import { ToolFailure } from '../client/tool-failure.ts';
import { errorMessage } from '../util/error-message.ts';
import type { DeviceParts, Reading, SensorName } from './device-parts.ts';
import type { DevicePrompts } from './device-prompts.ts';
import { isNotAllowed, permissionDenied } from './permission-denied.ts';
import { waitMs } from './wait-ms.ts';
import { withTouch } from './with-touch.ts';

interface Env {
  readonly sensors: NonNullable<DeviceParts['sensors']>;
  readonly prompts: DevicePrompts;
}

/** How the device lies and moves. */
export const createSensorsTool = (env: Env): ClientToolDefinition =>
  defineClientTool({
    name: 'sensors.read',
    displayName: 'Sensors',
    description:
      'Reads a sensor of this device for a moment. "motion": acceleration without and with gravity (m/s²) and rotation (°/s); "orientation": alpha, beta, gamma in degrees; "magnetometer": µT; "light": lux.',
    annotations: { readOnlyHint: true, openWorldHint: false },
    timeoutMs: 45_000,
    args: {
      sensor: choice(env.sensors.names, { description: 'Which of those that this browser has.' }),
      seconds: number({ min: 0.1, max: 30, default: 1, description: 'How long to read it.' }),
      max_samples: integer({
        min: 1,
        max: 500,
        default: 20,
        description: 'Readings in the result, evenly spread over the time.',
      }),
    },
    async run({ sensor, seconds, max_samples }, context) {
      await allow(env, sensor, context);
      const readings = await collect(env, sensor, seconds * 1_000, context.signal);
      if (readings.length === 0) {
        throw new ToolFailure(
          'unavailable',
          `The sensor "${sensor}" gave no reading in ${seconds} seconds: this device seems to have none, or the browser's settings keep it off.`,
        );
      }
      const samples = spread(readings, max_samples);
      return { output: { sensor, readings: readings.length, samples, mean: meanOf(readings) } };
    },
  });

async function allow(env: Env, sensor: SensorName, context: ClientToolContext): Promise<void> {
  if (!(await env.sensors.needsTouch(sensor))) return;
  const what = 'to give readings of the sensors';
  const question = { tool: 'sensors.read', message: 'Give readings of the motion sensors?', what };
  const answer = await withTouch(env.prompts, question, context, () => env.sensors.ask(sensor));
  if (answer !== 'granted') throw permissionDenied('The motion sensors');
}

type Timed = Reading & { readonly at_ms: number };

async function collect(
  { sensors }: Env,
  name: SensorName,
  ms: number,
  signal: AbortSignal,
): Promise<readonly Timed[]> {
  const readings: Timed[] = [];
  const failed = new AbortController();
  const start = performance.now();
  let stop = () => {};
  try {
    stop = sensors.watch(
      name,
      (reading) => readings.push({ at_ms: Math.round(performance.now() - start), ...reading }),
      (reason) => failed.abort(reason),
    );
    await waitMs(ms, AbortSignal.any([signal, failed.signal]));
  } catch (error) {
    signal.throwIfAborted();
    if (isNotAllowed(error)) throw permissionDenied('The sensor');
    throw new ToolFailure('unavailable', `The sensor cannot be read: ${errorMessage(error)}`);
  } finally {
    stop();
  }
  return readings;
}

/** At most so many, evenly taken, the first and the last among them. */
function spread(readings: readonly Timed[], count: number): readonly Timed[] {
  if (readings.length <= count) return readings;
  const step = (readings.length - 1) / Math.max(1, count - 1);
  const places = Array.from({ length: count }, (_, index) => Math.round(index * step));
  return places.flatMap((place) => readings[place] ?? []);
}

function meanOf(readings: readonly Timed[]): Record<string, number> {
  const sums = new Map<string, number[]>();
  for (const { at_ms: _, ...reading } of readings)
    for (const [name, value] of Object.entries(reading))
      if (typeof value === 'number') push(sums, name, value);
  const mean = (values: readonly number[]) =>
    Math.round((values.reduce((sum, one) => sum + one, 0) / values.length) * 1_000) / 1_000;
  return Object.fromEntries([...sums].map(([name, values]) => [name, mean(values)]));
}

function push(lists: Map<string, number[]>, name: string, value: number): void {
  const values = lists.get(name);
  if (values) values.push(value);
  else lists.set(name, [value]);
}
