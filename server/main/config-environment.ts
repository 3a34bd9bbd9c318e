import { isIP } from 'node:net';
import { ConfigError } from '../base/config-error.ts';
import type { Given } from '../base/config-variables.ts';
import { LOG_FORMATS, LOG_LEVELS, type LogSettings } from '../base/logger.ts';

/** The origin under which people reach the server through a proxy. */
export function readPublicUrl(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  const url = URL.parse(value);
  const isOrigin = url !== null && [url.origin, `${url.origin}/`].includes(value);
  if (isOrigin && /^https?:$/.test(url.protocol)) return url.origin;
  throw new ConfigError(
    `CALLBOARD_PUBLIC_URL is ${JSON.stringify(value)}: it must be an origin and nothing more, such as https://board.example`,
  );
}

/** Addresses and ranges of proxies, whose word on the client and its scheme counts. */
export function readProxies(value: string | undefined): string[] {
  const all = value?.split(',').map((one) => one.trim()) ?? [];
  const wrong = all.find((one) => !isAddressOrRange(one));
  if (wrong === undefined) return all;
  throw new ConfigError(
    `CALLBOARD_TRUSTED_PROXIES has ${JSON.stringify(wrong)}: it must be addresses or ranges with commas between, such as 127.0.0.1,10.0.0.0/8`,
  );
}

function isAddressOrRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return (
    bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
  );
}

/** Throws `ConfigError` for what is no address. */
export function readUrl(name: string, value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)) return value;
  throw new ConfigError(
    `${name} is ${JSON.stringify(value)}: it must be an http or https address, such as http://127.0.0.1:11434/v1`,
  );
}

/** Programs of these providers take the address without the version of the API, their SDKs with it. */
export function readApiUrl(name: string, version: string, given: Given): string | undefined {
  const url = readUrl(name, given(name));
  return url !== undefined && new URL(url).pathname === '/' ? new URL(version, url).href : url;
}

/** How much of the history is kept: days, bytes; undefined where not given. Throws `ConfigError`. */
export const readKeep = (given: Given) => ({
  days: readDays(given('CALLBOARD_KEEP_DAYS')),
  bytes: readBytes(given('CALLBOARD_KEEP_BYTES')),
});

function readDays(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const days = /^\d{1,5}$/.test(value) ? Number(value) : 0;
  if (days >= 1) return days;
  throw new ConfigError(
    `CALLBOARD_KEEP_DAYS is ${JSON.stringify(value)}: it must be a whole number of days from 1 to 99999`,
  );
}

const BYTE_UNITS = ['', 'K', 'M', 'G', 'T'];

/** A smaller one would leave no room for the tables themselves. */
const LEAST_KEPT_BYTES = 16 * 1024 * 1024;

function readBytes(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const [, count = '', unit = ''] = /^(\d{1,15})([KMGT]?)$/i.exec(value) ?? [];
  const bytes = Number(count) * 1024 ** BYTE_UNITS.indexOf(unit.toUpperCase());
  if (bytes >= LEAST_KEPT_BYTES && bytes <= Number.MAX_SAFE_INTEGER) return bytes;
  throw new ConfigError(
    `CALLBOARD_KEEP_BYTES is ${JSON.stringify(value)}: it must be a number of bytes, or one with K, M, G or T behind it, such as 10G; at least 16M`,
  );
}

/** `CALLBOARD_LOG_LEVEL` and `CALLBOARD_LOG_FORMAT`. Throws `ConfigError`. */
export const readLog = (given: Given): LogSettings => ({
  level: oneOf(LOG_LEVELS, 'CALLBOARD_LOG_LEVEL', given) ?? 'info',
  format: oneOf(LOG_FORMATS, 'CALLBOARD_LOG_FORMAT', given) ?? 'text',
});

function oneOf<const Value extends string>(
  values: readonly Value[],
  name: string,
  given: Given,
): Value | undefined {
  const text = given(name);
  const value = values.find((one) => one === text?.toLowerCase());
  if (text === undefined || value !== undefined) return value;
  throw new ConfigError(
    `${name} is ${JSON.stringify(text)}: it must be one of ${values.join(', ')}`,
  );
}
