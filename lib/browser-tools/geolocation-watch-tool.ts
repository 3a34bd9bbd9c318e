import type { ClientToolDefinition } from '../client/client-tool.ts';
import { defineClientTool } from '../client/define-client-tool.ts';
import { flag, integer } from '../client/tool-arguments.ts';
import type { BrowserEnv } from './browser-env.ts';
import { explainPosition, type Position, toPosition } from './geolocation-tool.ts';
import { reportSeconds, waitMs } from './wait-ms.ts';
import { withPermission } from './with-permission.ts';

type Env = Pick<BrowserEnv, 'permission'> & {
  geolocation: NonNullable<BrowserEnv['geolocation']>;
};

const FIRST_MS = 20_000;
const EARTH_M = 6_371_008.8;

/** Where the device moves to within some seconds. */
export const createGeolocationWatchTool = (env: Env): ClientToolDefinition =>
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
