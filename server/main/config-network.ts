import { isIP } from 'node:net';
import { ConfigError } from '../base/config-error.ts';

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
export function readApiUrl(
  name: string,
  version: string,
  given: (name: string) => string | undefined,
): string | undefined {
  const url = readUrl(name, given(name));
  return url !== undefined && new URL(url).pathname === '/' ? new URL(version, url).href : url;
}
