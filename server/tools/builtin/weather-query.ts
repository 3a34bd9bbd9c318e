import { z } from 'zod';
import { defineTool, ToolError } from '../define-tool.ts';
import { findPlace, type OpenMeteoDeps, type Place, readForecast } from './open-meteo.ts';

const TIMEOUT_MS = 5_000;

/** `weather.query`: present weather and forecast from Open-Meteo, which needs no key. */
export function createWeatherQuery(deps: OpenMeteoDeps) {
  return defineTool({
    name: 'weather.query',
    displayName: 'Weather',
    description:
      'Returns the present weather and the forecast of up to 7 days for a city, or for coordinates (latitude and longitude together). Temperatures are in °C, wind in km/h.',
    args: z.object({
      city: z.string().min(1).max(100).optional().describe('Name of a city, e.g. "Lisbon"'),
      query: z
        .string()
        .min(1)
        .max(200)
        .optional()
        .describe('In place of city: a question that names one, e.g. "Beijing weather"'),
      latitude: z.number().min(-90).max(90).optional().describe('With longitude, instead of city'),
      longitude: z
        .number()
        .min(-180)
        .max(180)
        .optional()
        .describe('With latitude, instead of city'),
      days: z.number().int().min(1).max(7).optional().describe('Days of forecast, default 3'),
    }),
    effect: 'read',
    annotations: { openWorldHint: true },
    timeoutMs: TIMEOUT_MS,
    run: async ({ query, latitude, longitude, days = 3, ...given }, { signal, status }) => {
      const within = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
      const city = given.city ?? (query && placeIn(query));
      let place: Place;
      if (latitude !== undefined && longitude !== undefined) {
        place = { name: city ?? `${latitude}, ${longitude}`, latitude, longitude };
      } else if (city) {
        status({ tip: `Looking for ${city}` });
        place = await findPlace(deps, city, within);
      } else {
        throw new ToolError(
          'Give a city, or a query that names one, or latitude and longitude together.',
        );
      }
      status({ tip: `Asking for the weather in ${place.name}` });
      return { output: await readForecast(deps, { place, days }, within) };
    },
  });
}

/** Words around the name of a place in a question about its weather. */
const AROUND_PLACE =
  "what's|what|how's|how|is|will|be|the|weather|forecast|temperature|like|in|for|at|of|now|today|tomorrow|current|please";
const AROUND_PLACE_ZH = '天气预报|天气|气温|预报|今天|明天|现在|怎么样|如何|的';
const BLANK = '[\\s?!.,？！。，]';
const BEFORE = new RegExp(
  `^(?:${BLANK}|(?:${AROUND_PLACE})(?=${BLANK}|$)|${AROUND_PLACE_ZH})+`,
  'iu',
);
const AFTER = new RegExp(
  `(?:${BLANK}|(?<=^|${BLANK})(?:${AROUND_PLACE})|${AROUND_PLACE_ZH})+$`,
  'iu',
);

/** Words inside a name stay: "Isle of Man weather" asks about the Isle of Man. */
const placeIn = (query: string): string => query.replace(BEFORE, '').replace(AFTER, '');
