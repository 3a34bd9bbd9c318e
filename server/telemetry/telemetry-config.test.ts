import { expect, test } from 'vitest';
import { readTraces } from './telemetry-config.ts';

const read = (env: Record<string, string>) => readTraces((name) => env[name]);
const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

test.each([
  {},
  { OTEL_SERVICE_NAME: 'board' },
  { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
  { ...ENDPOINT, OTEL_SDK_DISABLED: 'true' },
  { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' },
  { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
])('[TM15] with %j there are no traces', (env) => {
  expect(read(env)).toBeUndefined();
});

test.each([
  [ENDPOINT, 'http://127.0.0.1:4318/v1/traces'],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://a.example/otel/' }, 'https://a.example/otel/v1/traces'],
  [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://b.example/t' }, 'http://b.example/t'],
  [{ OTEL_TRACES_EXPORTER: 'otlp' }, 'http://localhost:4318/v1/traces'],
])('[TM15] with %j they go to %s', (env, url) => {
  expect(read(env)?.url).toBe(url);
});

test('[TM15] headers and the resource are as the variables have them, and credentials are secret', () => {
  const traces = read({
    ...ENDPOINT,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20cGs6c2tleQ%3D%3D, x-project = callboard',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=home,service.name=other',
    OTEL_SERVICE_NAME: 'board',
  });
  expect(traces?.headers).toEqual({
    authorization: 'Basic cGs6c2tleQ==',
    'x-project': 'callboard',
  });
  expect(traces?.resource).toEqual({ 'deployment.environment': 'home', 'service.name': 'board' });
  expect(traces?.secrets).toEqual([
    ...['Basic cGs6c2tleQ==', 'Basic%20cGs6c2tleQ%3D%3D', 'cGs6c2tleQ=='],
  ]);
});

test.each([
  [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, /PROTOCOL is "grpc": .* http\/json/],
  [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/protobuf' }, /TRACES_PROTOCOL is/],
  [{ OTEL_TRACES_EXPORTER: 'zipkin' }, /OTEL_TRACES_EXPORTER is "zipkin": it must be otlp or none/],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'here' }, /ENDPOINT is no http or https address/],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://me:canary@x' }, /_HEADERS/],
  [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: 'authorization' }, /member 1 .*key=value/],
  [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: 'a=1,b=%zz' }, /member 2 .*percent-encoded/],
  [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: 'a b=1' }, /"a b", which is no HTTP header/],
  [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: 'a=x%0Ay' }, /"a", which is no HTTP header/],
])('[TM15] %j is refused in one line', (env, words) => {
  expect(() => read(env)).toThrow(words);
  expect(() => read(env)).not.toThrow(/canary|\n/);
});
