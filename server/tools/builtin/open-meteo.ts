import { z } from 'zod';
import { ToolError } from '../define-tool.ts';
import { describeWeather } from './describe-weather.ts';
import { type Fetch, fetchJson } from './fetch-json.ts';

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

export interface Place {
  readonly name: string;
  readonly latitude: number;
  readonly longitude: number;
}

export interface OpenMeteoDeps {
  readonly fetch: Fetch;
  /** Base URL of the forecast service, e.g. `https://api.open-meteo.com`. */
  readonly weatherBaseUrl: string;
  readonly geocodingBaseUrl: string;
}

const SERVICE = 'weather service';

/** The first place of that name. */
export async function findPlace(
  { fetch, geocodingBaseUrl }: OpenMeteoDeps,
  city: string,
  signal: AbortSignal,
): Promise<Place> {
  const url = serviceUrl(geocodingBaseUrl, 'v1/search', { name: city, count: 1, format: 'json' });
  const found = placesSchema.safeParse(await fetchJson(url, { fetch, signal, service: SERVICE }));
  if (!found.success)
    throw new ToolError(`The ${SERVICE} answered in an unknown form; try again later.`);
  const [place] = found.data.results ?? [];
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
export async function readForecast(
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
  const read = forecastSchema.safeParse(await fetchJson(url, { fetch, signal, service: SERVICE }));
  if (!read.success)
    throw new ToolError(`The ${SERVICE} answered in an unknown form; try again later.`);
  const { current, timezone } = read.data;
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
    forecast: toDays(read.data, days),
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
