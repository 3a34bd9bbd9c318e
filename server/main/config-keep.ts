import { ConfigError } from '../base/config-error.ts';

/** How much of the history is kept: days, bytes; undefined where not given. Throws `ConfigError`. */
export const readKeep = (given: (name: string) => string | undefined) => ({
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
