import { LEAST_SECRET_CHARS } from '#lib/text/redact';
import { ConfigError } from '../base/config-error.ts';
import { type Given, isSecretName } from '../base/config-variables.ts';
import type { Attributes } from './span.ts';

/** Where spans go. */
export interface TracesConfig {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** This server is described by `service.name`, and what `OTEL_RESOURCE_ATTRIBUTES` has. */
  readonly resource: Attributes;
  /** No log and no record has these parts of the headers. */
  readonly secrets: readonly string[];
}

const DEFAULT_ENDPOINT = 'http://localhost:4318';

/** The standard variables of OpenTelemetry; undefined: no traces. Throws `ConfigError`. */
export function readTraces(given: Given): TracesConfig | undefined {
  if (given('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return undefined;
  const exporter = given('OTEL_TRACES_EXPORTER');
  if (exporter === 'none') return undefined;
  if (exporter !== undefined && exporter !== 'otlp') {
    throw new ConfigError(
      `OTEL_TRACES_EXPORTER is ${JSON.stringify(exporter)}: it must be otlp or none`,
    );
  }
  const url = readUrl(given, exporter);
  if (url === undefined) return undefined;
  refuseProtocols(given);
  const headers = readHeaders(given);
  const named = readPairs('OTEL_RESOURCE_ATTRIBUTES', given('OTEL_RESOURCE_ATTRIBUTES'));
  const service = given('OTEL_SERVICE_NAME') ?? named['service.name'] ?? 'callboard';
  return {
    url,
    headers,
    resource: { ...named, 'service.name': service },
    secrets: Object.entries(headers).flatMap(secretsOf),
  };
}

function readUrl(given: Given, exporter: string | undefined): string | undefined {
  const whole = given('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT');
  if (whole !== undefined) return addressOf('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', whole).href;
  const name = 'OTEL_EXPORTER_OTLP_ENDPOINT';
  const base = given(name) ?? (exporter === 'otlp' ? DEFAULT_ENDPOINT : undefined);
  if (base === undefined) return undefined;
  const url = addressOf(name, base);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`;
  return url.href;
}

/** The value is not repeated: it may have a password. */
function addressOf(name: string, text: string): URL {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new ConfigError(
      `${name} is no http or https address: it must be one, such as http://127.0.0.1:4318`,
    );
  }
  if (url.username === '' && url.password === '') return url;
  throw new ConfigError(
    `${name} has a user name or a password: these belong into OTEL_EXPORTER_OTLP_HEADERS, as authorization=Basic%20…`,
  );
}

function refuseProtocols(given: Given): void {
  for (const name of ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL']) {
    const protocol = given(name);
    if (protocol === 'http/json') return;
    if (protocol === undefined) continue;
    throw new ConfigError(
      `${name} is ${JSON.stringify(protocol)}: this version sends only http/json; set that, or OTEL_TRACES_EXPORTER=none`,
    );
  }
}

const HEADER = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

function readHeaders(given: Given): Record<string, string> {
  const own = 'OTEL_EXPORTER_OTLP_TRACES_HEADERS';
  const name = given(own) === undefined ? 'OTEL_EXPORTER_OTLP_HEADERS' : own;
  const headers = readPairs(name, given(name));
  const bad = Object.entries(headers).find(
    ([key, value]) => !HEADER.test(key) || !VALUE.test(value),
  );
  if (bad === undefined) return headers;
  throw new ConfigError(
    `${name} has ${JSON.stringify(bad[0].slice(0, 64))}, which is no HTTP header: it must be name=value,name=value`,
  );
}

const PAIR = /^\s*([^=\s][^=]*?)\s*=(.*)$/s;

/** `key=value,key=value`, values percent-encoded. What it has is not repeated: it may be secret. */
function readPairs(name: string, text: string | undefined): Record<string, string> {
  const pairs: Record<string, string> = {};
  for (const [at, member] of (text ?? '').split(',').entries()) {
    if (member.trim() === '') continue;
    // A member of another form has a value that is not percent-encoded.
    const [, key = '', value = '%'] = PAIR.exec(member) ?? [];
    try {
      pairs[key] = decodeURIComponent(value.trim());
    } catch {
      throw new ConfigError(
        `${name} has a member ${at + 1} that cannot be read: it must be key=value,key=value, with values percent-encoded`,
      );
    }
  }
  return pairs;
}

/** The value as it is sent and as it was given, and what stands behind a scheme such as `Basic`. */
function secretsOf([name, value]: [string, string]): string[] {
  if (!isSecretName(name)) return [];
  const forms = [value, encodeURIComponent(value), ...value.split(' ').slice(1)];
  return forms.filter(({ length }) => length >= LEAST_SECRET_CHARS);
}
