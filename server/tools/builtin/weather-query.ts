import { z } from 'zod';
import { readJson } from '#lib/json/parse-json';
import { defineTool, ToolError } from '../define-tool.ts';

/** WMO weather interpretation codes as Open-Meteo uses them (open-meteo.com/en/docs). */
const WORDS = new Map([
  [0, 'clear sky'],
  [1, 'mainly clear'],
  [2, 'partly cloudy'],
  [3, 'overcast'],
  [45, 'fog'],
  [48, 'depositing rime fog'],
  [51, 'light drizzle'],
  [53, 'moderate drizzle'],
  [55, 'dense drizzle'],
  [56, 'light freezing drizzle'],
  [57, 'dense freezing drizzle'],
  [61, 'slight rain'],
  [63, 'moderate rain'],
  [65, 'heavy rain'],
  [66, 'light freezing rain'],
  [67, 'heavy freezing rain'],
  [71, 'slight snowfall'],
  [73, 'moderate snowfall'],
  [75, 'heavy snowfall'],
  [77, 'snow grains'],
  [80, 'slight rain showers'],
  [81, 'moderate rain showers'],
  [82, 'violent rain showers'],
  [85, 'slight snow showers'],
  [86, 'heavy snow showers'],
  [95, 'thunderstorm'],
  [96, 'thunderstorm with slight hail'],
  [99, 'thunderstorm with heavy hail'],
]);

const describeWeather = (code: number): string => WORDS.get(code) ?? `weather code ${code}`;

const placesSchema = z.object({
  results: z
    .array(
      z.object({
        name: z.string().max(200),
        latitude: z.number(),
        longitude: z.number(),
        country: z.string().max(200).optional(),
        admin1: z.string().max(200).optional(),
      }),
    )
    .optional(),
});

const forecastSchema = z.object({
  timezone: z.string().max(100),
  current: z.object({
    time: z.string().max(40),
    temperature_2m: z.number(),
    apparent_temperature: z.number(),
    relative_humidity_2m: z.number(),
    precipitation: z.number(),
    weather_code: z.number(),
    wind_speed_10m: z.number(),
  }),
  daily: z.object({
    time: z.array(z.string().max(40)),
    weather_code: z.array(z.number()),
    temperature_2m_max: z.array(z.number()),
    temperature_2m_min: z.array(z.number()),
    precipitation_probability_max: z.array(z.number().nullable()),
  }),
});
type Forecast = z.infer<typeof forecastSchema>;

interface Place {
  readonly name: string;
  readonly latitude: number;
  readonly longitude: number;
}

interface OpenMeteoDeps {
  readonly fetch: Fetch;
  /** Base URL of the forecast service, e.g. `https://api.open-meteo.com`. */
  readonly weatherBaseUrl: string;
  readonly geocodingBaseUrl: string;
}

/** The part of `fetch` that is used. */
export type Fetch = (url: URL, init: RequestInit) => Promise<Response>;

/**
 * Asks a service that is trusted to be there and not much more: no redirects, so that it cannot
 * send us to other hosts, and a bounded body. Throws `ToolError` in words that name what to do.
 */
async function ask<Schema extends z.ZodType>(
  schema: Schema,
  url: URL,
  { fetch, signal }: { fetch: Fetch; signal: AbortSignal },
): Promise<z.output<Schema>> {
  const headers = { accept: 'application/json' };
  const text = await fetch(url, { signal, redirect: 'manual', headers })
    .then(readText)
    .catch((error: unknown) => {
      if (error instanceof ToolError) throw error;
      throw new ToolError(
        signal.aborted
          ? 'The weather service did not answer in time; try again in a moment.'
          : `The weather service could not be reached (${url.host}). Check this server's internet connection, or tell the user that the data is not available now.`,
      );
    });
  const read = schema.safeParse(readJson(text));
  if (read.success) return read.data;
  throw new ToolError('The weather service answered in an unknown form; try again later.');
}

const MAX_BYTES = 1024 * 1024;

async function readText(response: Response): Promise<string> {
  if (!response.ok) {
    await response.body?.cancel();
    throw new ToolError(
      `The weather service answered with HTTP ${response.status}; try again later, or check the place that was asked for.`,
    );
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    // Leaving the loop cancels the rest.
    if (bytes > MAX_BYTES) {
      throw new ToolError(`The weather service sent more than ${MAX_BYTES} bytes.`);
    }
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

/** The first place of that name. */
async function findPlace(
  { fetch, geocodingBaseUrl }: OpenMeteoDeps,
  city: string,
  signal: AbortSignal,
): Promise<Place> {
  const url = serviceUrl(geocodingBaseUrl, 'v1/search', { name: city, count: 1, format: 'json' });
  const { results = [] } = await ask(placesSchema, url, { fetch, signal });
  const [place] = results;
  if (!place) {
    throw new ToolError(
      `No place called "${city}" was found; try another spelling, or give latitude and longitude.`,
    );
  }
  const name = [place.name, place.admin1, place.country].filter((part) => part !== undefined);
  return {
    name: [...new Set(name)].join(', '),
    latitude: place.latitude,
    longitude: place.longitude,
  };
}

/** Present weather and forecast for a place, in few words. */
async function readForecast(
  { fetch, weatherBaseUrl }: OpenMeteoDeps,
  { place, days }: { place: Place; days: number },
  signal: AbortSignal,
) {
  const url = serviceUrl(weatherBaseUrl, 'v1/forecast', {
    latitude: place.latitude,
    longitude: place.longitude,
    current: Object.keys(forecastSchema.shape.current.shape)
      .filter((key) => key !== 'time')
      .join(','),
    daily: Object.keys(forecastSchema.shape.daily.shape)
      .filter((key) => key !== 'time')
      .join(','),
    forecast_days: days,
    timezone: 'auto',
  });
  const forecast = await ask(forecastSchema, url, { fetch, signal });
  const { current, timezone } = forecast;
  return {
    place: place.name,
    latitude: place.latitude,
    longitude: place.longitude,
    time: current.time,
    timezone,
    temperature_c: current.temperature_2m,
    feels_like_c: current.apparent_temperature,
    condition: describeWeather(current.weather_code),
    humidity_percent: current.relative_humidity_2m,
    precipitation_mm: current.precipitation,
    wind_kmh: current.wind_speed_10m,
    forecast: toDays(forecast, days),
    attribution: 'Weather data by Open-Meteo.com',
  };
}

function toDays({ daily }: Forecast, days: number) {
  return daily.time.slice(0, days).map((date, i) => ({
    date,
    condition: describeWeather(daily.weather_code[i] ?? -1),
    min_c: daily.temperature_2m_min[i] ?? null,
    max_c: daily.temperature_2m_max[i] ?? null,
    rain_chance_percent: daily.precipitation_probability_max[i] ?? null,
  }));
}

/** A base that has a path of its own keeps it. */
function serviceUrl(base: string, path: string, query: Record<string, string | number>): URL {
  const url = new URL(path, base.endsWith('/') ? base : `${base}/`);
  for (const [key, value] of Object.entries(query)) url.searchParams.set(key, String(value));
  return url;
}

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
