import type { RequestListener } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { serveHttp } from '#lib/net/testing/serve-http';
import { ToolError } from '../define-tool.ts';
import { runBuiltin } from '../testing/run-builtin.ts';
import { createWeatherQuery } from './weather-query.ts';

/** A stand-in for Open-Meteo on a real socket. */
async function serve(listener: RequestListener) {
  const asked: URL[] = [];
  const { origin: base, close } = await serveHttp((request, response) => {
    asked.push(new URL(request.url ?? '', 'http://stand-in'));
    listener(request, response);
  });
  onTestFinished(close);
  const tool = createWeatherQuery({ fetch, weatherBaseUrl: base, geocodingBaseUrl: `${base}/geo` });
  return { asked, tool, base, close };
}

const places = {
  results: [
    { name: 'Lisbon', admin1: 'Lisbon', country: 'Portugal', latitude: 38.7, longitude: -9.1 },
  ],
};
const forecast = {
  timezone: 'Europe/Lisbon',
  current: {
    time: '2026-11-21T10:00',
    temperature_2m: 17.4,
    apparent_temperature: 16.9,
    relative_humidity_2m: 70,
    precipitation: 0,
    weather_code: 2,
    wind_speed_10m: 12,
  },
  daily: {
    time: ['2026-11-21', '2026-11-22'],
    weather_code: [61, 0],
    temperature_2m_max: [18, 19],
    temperature_2m_min: [11, 12],
    precipitation_probability_max: [80, null],
  },
};
const answering: RequestListener = (request, response) => {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(request.url?.startsWith('/geo/') ? places : forecast));
};

test('it says that it reaches the world outside, so that what it gives counts as content of others', async () => {
  const { tool } = await serve(answering);
  expect(tool.annotations).toMatchObject({ openWorldHint: true });
});

test.each([
  ['Beijing weather', 'Beijing'],
  ["What's the weather like in New York tomorrow?", 'New York'],
  ['Isle of Man weather', 'Isle of Man'],
  ['The weather', undefined],
  ['北京今天天气怎么样？', '北京'],
])('[TB7] a query of "%s" asks about %s', async (query, place) => {
  const { tool, asked } = await serve(answering);
  const run = runBuiltin(tool, { query });
  if (place === undefined) return expect(run).rejects.toThrow('Give a city');
  await run;
  expect(asked[0]?.searchParams.get('name')).toBe(place);
});

test('[TB7] a city is found and its weather given in words', async () => {
  const { tool, asked } = await serve(answering);
  const tips: unknown[] = [];
  const output = await runBuiltin(
    tool,
    { city: 'Lisbon', days: 2 },
    { status: ({ tip }) => tips.push(tip) },
  );
  expect(output).toEqual({
    place: 'Lisbon, Portugal',
    latitude: 38.7,
    longitude: -9.1,
    time: '2026-11-21T10:00',
    timezone: 'Europe/Lisbon',
    temperature_c: 17.4,
    feels_like_c: 16.9,
    condition: 'partly cloudy',
    humidity_percent: 70,
    precipitation_mm: 0,
    wind_kmh: 12,
    forecast: [
      {
        date: '2026-11-21',
        condition: 'slight rain',
        min_c: 11,
        max_c: 18,
        rain_chance_percent: 80,
      },
      {
        date: '2026-11-22',
        condition: 'clear sky',
        min_c: 12,
        max_c: 19,
        rain_chance_percent: null,
      },
    ],
    attribution: 'Weather data by Open-Meteo.com',
  });
  expect(asked.map(({ pathname }) => pathname)).toEqual(['/geo/v1/search', '/v1/forecast']);
  expect(asked[1]?.searchParams.get('forecast_days')).toBe('2');
  expect(tips).toEqual(['Looking for Lisbon', 'Asking for the weather in Lisbon, Portugal']);
});

test('[TB7] coordinates need no search', async () => {
  const { tool, asked } = await serve(answering);
  expect(await runBuiltin(tool, { latitude: 0, longitude: 0 })).toMatchObject({ place: '0, 0' });
  expect(asked.map(({ pathname }) => pathname)).toEqual(['/v1/forecast']);
});

test('[TB8] half a place, or an unknown one, is an error that names what to give', async () => {
  const { tool } = await serve((_, response) => response.end('{}'));
  await expect(runBuiltin(tool, {})).rejects.toThrow(/Give a city/);
  await expect(runBuiltin(tool, { latitude: 1 })).rejects.toThrow(/longitude/);
  await expect(runBuiltin(tool, { city: 'Nowhere' })).rejects.toThrow(/No place called "Nowhere"/);
});

test('[TB8] without a network the error names what to check', async () => {
  const { tool, close } = await serve(answering);
  await close();
  const asking = runBuiltin(tool, { city: 'Lisbon' });
  await expect(asking).rejects.toThrow(ToolError);
  await expect(asking).rejects.toThrow(/could not be reached.*internet connection/);
});

test('[TB8] faults of the service are named by what they are', async () => {
  for (const [status, body, message] of [
    [500, '{}', /HTTP 500/],
    [200, 'not json', /unknown form/],
    [200, '{"results":[{"name":5}]}', /unknown form/],
  ] as const) {
    const { tool } = await serve((_, response) => {
      response.statusCode = status;
      response.end(body);
    });
    const asking = runBuiltin(tool, { city: 'x' });
    await expect(asking, body).rejects.toThrow(ToolError);
    await expect(asking, body).rejects.toThrow(message);
  }
});

test('[TB8] an answer that stalls ends with the call', async () => {
  const { tool, asked } = await serve((_, response) => response.write('{'));
  const cancel = new AbortController();
  const asking = runBuiltin(tool, { city: 'x' }, { signal: cancel.signal });
  await expect.poll(() => asked.length).toBe(1);
  cancel.abort();
  await expect(asking).rejects.toThrow(/did not answer in time/);
});

test('[TB9] redirects are not followed', async () => {
  const other = await serve(answering);
  const { tool } = await serve((_, response) => {
    response.writeHead(302, { location: `${other.base}/geo/v1/search` }).end();
  });
  await expect(runBuiltin(tool, { city: 'x' })).rejects.toThrow(/HTTP 302/);
  expect(other.asked).toEqual([]);
});

test('[TB9] an endless answer is cut', async () => {
  const { tool } = await serve((_, response) => {
    const pump = () => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
    };
    response.on('drain', pump);
    pump();
  });
  await expect(runBuiltin(tool, { city: 'x' })).rejects.toThrow(/more than 1048576 bytes/);
});
