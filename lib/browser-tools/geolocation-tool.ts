import type { ClientToolDefinition } from '../client/client-tool.ts';
import { defineClientTool } from '../client/define-client-tool.ts';
import { flag, number } from '../client/tool-arguments.ts';
import { ToolFailure } from '../client/tool-failure.ts';
import { given } from '../util/given.ts';
import type { BrowserEnv } from './browser-env.ts';
import { permissionDenied } from './permission-denied.ts';
import { withPermission } from './with-permission.ts';

type Env = Pick<BrowserEnv, 'permission'> & {
  geolocation: NonNullable<BrowserEnv['geolocation']>;
};

/** Codes of `GeolocationPositionError`. */
const [DENIED, TIMEOUT] = [1, 3];

/** Where the device is. */
export const createGeolocationTool = (env: Env): ClientToolDefinition =>
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
export function explainPosition(error: unknown): never {
  const { code, message } = error as GeolocationPositionError;
  if (code === DENIED) throw permissionDenied('The position');
  const why = code === TIMEOUT ? 'it took too long' : message || 'the device reports none';
  throw new ToolFailure('unavailable', `The position could not be found: ${why}.`);
}

export interface Position {
  readonly latitude: number;
  readonly longitude: number;
  readonly accuracy: number;
  readonly altitude?: number;
  readonly heading?: number;
  readonly speed?: number;
  readonly timestamp: number;
}

/** What a browser knows of it; what it does not is left out. */
export function toPosition({ coords, timestamp }: GeolocationPosition): Position {
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
  ...{ lat: latitude, lon: longitude, accuracyMeters: accuracy },
  ...given({ altitudeMeters: altitude, headingDeg: heading, speedMps: speed }),
  source: 'unknown',
});
