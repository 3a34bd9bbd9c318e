import {
  type ClientToolContext,
  type ClientToolDefinition,
  ToolFailure,
} from '../client/client-tool.ts';
import { choice, defineClientTool, flag, integer, number } from '../client/tool-arguments.ts';
import { errorMessage } from '../util/error-message.ts';
import { given } from '../util/given.ts';
import type { EnvOf } from './create-browser-env.ts';
import type { Reading, SensorName } from './device-parts.ts';
import { reportSeconds, waitMs } from './wait-ms.ts';
import { isNotAllowed, permissionDenied, withPermission } from './with-permission.ts';
import { withTouch } from './with-touch.ts';

type PositionEnv = EnvOf<'permission' | 'geolocation'>;

/** Codes of `GeolocationPositionError`. */
const [DENIED, TIMEOUT] = [1, 3];

/** Where the device is. */
export const createGeolocationTool = (env: PositionEnv): ClientToolDefinition =>
  defineClientTool({
    name: 'geolocation.get',
    displayName: 'Position',
    description:
      'Returns the position of this device: latitude, longitude and accuracy in metres (WGS-84). The person may be asked first.',
    annotations: { readOnlyHint: true, openWorldHint: false },
    timeoutMs: 30_000,
    args: {
      high_accuracy: flag({ default: false, description: 'Use GPS where there is one; slower.' }),
      maximum_age_ms: number({
        min: 0,
        default: 0,
        description: 'How old a known position may be.',
      }),
      timeout_ms: number({
        min: 100,
        max: 60_000,
        default: 20_000,
        description: 'How long to look for the position.',
      }),
    },
    async run(args, context) {
      const options = {
        enableHighAccuracy: args.high_accuracy,
        maximumAge: args.maximum_age_ms,
        timeout: args.timeout_ms,
      };
      const find = () => env.geolocation.get(options).catch(explainPosition);
      const position = await withPermission(env, 'geolocation', context, find);
      const found = toPosition(position);
      return { output: { ...found, datum: 'WGS-84', ...byUnits(found) } };
    },
  });

/** Why a browser found no position. */
function explainPosition(error: unknown): never {
  const { code, message } = error as GeolocationPositionError;
  if (code === DENIED) throw permissionDenied('The position');
  const why = code === TIMEOUT ? 'it took too long' : message || 'the device reports none';
  throw new ToolFailure('unavailable', `The position could not be found: ${why}.`);
}

interface Position {
  readonly latitude: number;
  readonly longitude: number;
  readonly accuracy: number;
  readonly altitude?: number;
  readonly heading?: number;
  readonly speed?: number;
  readonly timestamp: number;
}

/** Gives what a browser knows of it, and leaves out the rest. */
function toPosition({ coords, timestamp }: GeolocationPosition): Position {
  const { latitude, longitude, accuracy, altitude, heading, speed } = coords;
  return {
    latitude,
    longitude,
    accuracy,
    ...(altitude === null ? {} : { altitude }),
    ...(heading === null || Number.isNaN(heading) ? {} : { heading }),
    ...(speed === null ? {} : { speed }),
    timestamp,
  };
}

/** The same under the names that agents of OpenClaw's nodes know; browsers do not report the source. */
const byUnits = ({ latitude, longitude, accuracy, altitude, heading, speed }: Position) => ({
  lat: latitude,
  lon: longitude,
  accuracyMeters: accuracy,
  ...given({ altitudeMeters: altitude, headingDeg: heading, speedMps: speed }),
  source: 'unknown',
});

const FIRST_MS = 20_000;
const EARTH_M = 6_371_008.8;

/** Where the device moves to within some seconds. */
export const createGeolocationWatchTool = (env: PositionEnv): ClientToolDefinition =>
  defineClientTool({
    name: 'geolocation.watch',
    displayName: 'Follow position',
    description:
      'Follows this device for some seconds and returns its track: latitudes, longitudes and accuracies (WGS-84) in the order of time, and the length of the way in metres. For its place now use geolocation.get. The person may be asked first.',
    annotations: { readOnlyHint: true, openWorldHint: false },
    timeoutMs: 340_000,
    args: {
      seconds: integer({ min: 1, max: 300, default: 30, description: 'How long to follow it.' }),
      max_points: integer({
        min: 2,
        max: 1_000,
        default: 300,
        description: 'It ends early with so many positions.',
      }),
      high_accuracy: flag({ default: true, description: 'Use GPS where there is one.' }),
    },
    async run({ seconds, max_points, high_accuracy }, context) {
      const options = { enableHighAccuracy: high_accuracy, maximumAge: 0, timeout: FIRST_MS };
      const find = () => env.geolocation.get(options).catch(explainPosition);
      const first = await withPermission(env, 'geolocation', context, find);
      const track = [toPosition(first)];
      const full = new AbortController();
      const report = (done: number) =>
        context.status({ progress: { done, total: seconds }, preview: track.at(-1) });
      report(0);
      let problem: string | undefined;
      const stop = env.geolocation.watch(
        options,
        (position) => {
          if (position.timestamp <= (track.at(-1)?.timestamp ?? 0)) return;
          track.push(toPosition(position));
          if (track.length >= max_points) full.abort();
        },
        ({ message }) => {
          problem = message || 'the device lost its position';
        },
      );
      const endReports = reportSeconds(seconds, report);
      try {
        await untilEither(waitMs(seconds * 1_000, context.signal), full.signal);
      } finally {
        endReports();
        stop();
      }
      return { output: summarize(track, problem) };
    },
  });

const untilEither = (time: Promise<void>, full: AbortSignal): Promise<unknown> =>
  Promise.race([
    time,
    new Promise((resolve) => full.addEventListener('abort', resolve, { once: true })),
  ]);

function summarize(track: readonly Position[], problem: string | undefined) {
  const [first, last] = [track[0], track.at(-1)];
  const steps = track.slice(1).map((to, index) => distance(track[index] ?? to, to));
  return {
    track,
    points: track.length,
    distance_m: Math.round(steps.reduce((sum, one) => sum + one, 0) * 10) / 10,
    duration_ms: Math.round((last?.timestamp ?? 0) - (first?.timestamp ?? 0)),
    datum: 'WGS-84',
    ...(problem !== undefined && { note: `Not all positions could be found: ${problem}` }),
  };
}

/** Along a great circle, in metres. */
function distance(from: Position, to: Position): number {
  const radians = (degrees: number) => (degrees * Math.PI) / 180;
  const [north, east] = [to.latitude - from.latitude, to.longitude - from.longitude].map(radians);
  const a =
    Math.sin((north ?? 0) / 2) ** 2 +
    Math.cos(radians(from.latitude)) *
      Math.cos(radians(to.latitude)) *
      Math.sin((east ?? 0) / 2) ** 2;
  return 2 * EARTH_M * Math.asin(Math.min(1, Math.sqrt(a)));
}

type SensorEnv = EnvOf<'sensors' | 'prompts'>;

/** How the device lies and moves. */
export const createSensorsTool = (env: SensorEnv): ClientToolDefinition =>
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

async function allow(
  env: SensorEnv,
  sensor: SensorName,
  context: ClientToolContext,
): Promise<void> {
  if (!(await env.sensors.needsTouch(sensor))) return;
  const what = 'to give readings of the sensors';
  const question = { tool: 'sensors.read', message: 'Give readings of the motion sensors?', what };
  const answer = await withTouch(env.prompts, question, context, () => env.sensors.ask(sensor));
  if (answer !== 'granted') throw permissionDenied('The motion sensors');
}

type Timed = Reading & { readonly at_ms: number };

async function collect(
  { sensors }: SensorEnv,
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
