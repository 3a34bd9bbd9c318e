import { dirname, resolve } from 'node:path';
import { LEAST_SECRET_CHARS } from '#lib/text/redact';
import { ConfigError, refuseWritable } from '../base/config-error.ts';
import { fillVariables, type Given, isSecretName } from '../base/config-variables.ts';
import { isHttpServer, type McpServerSettings } from './mcp-servers-config.ts';

export interface ConfiguredMcpServers {
  /** By id, with the values of variables in the place of `${env:NAME}`. */
  readonly servers: ReadonlyMap<string, McpServerSettings>;
  /** What of them is in no record, screen or log. */
  readonly secrets: readonly string[];
}

/** Throws `ConfigError`. */
export function readMcpServers(
  servers: Readonly<Record<string, McpServerSettings>>,
  given: Given,
  file: string,
): ConfiguredMcpServers {
  const named = Object.entries(servers);
  if (named.length > 0) refuseWritable(file, 'names programs to start (mcp_servers)');
  const secrets = new Set<string>();
  const read = named.map(([id, settings]): [string, McpServerSettings] => {
    const fill = filler(`${file}: mcp_servers.${id}`, given, secrets);
    return [id, withValues(settings, file, fill)];
  });
  return { servers: new Map(read), secrets: [...secrets] };
}

type Fill = (text: string, place: string, name?: string) => string;

function withValues(settings: McpServerSettings, file: string, fill: Fill): McpServerSettings {
  const all = (texts: Readonly<Record<string, string>>, place: string) =>
    Object.fromEntries(
      Object.entries(texts).map(([name, text]) => [name, fill(text, `${place}.${name}`, name)]),
    );
  if (isHttpServer(settings)) return { ...settings, headers: all(settings.headers, 'headers') };
  const folder = dirname(file);
  return {
    ...settings,
    args: settings.args.map((text, at) => fill(text, `args.${at}`)),
    env: all(settings.env, 'env'),
    cwd: settings.cwd === undefined ? folder : resolve(folder, settings.cwd),
  };
}

/** Puts the values of variables into a text, and collects what is secret of it. */
function filler(where: string, given: Given, secrets: Set<string>): Fill {
  const keep = (value: string) => {
    // A shorter one would be taken out of texts that have nothing to do with it.
    if (value.length >= LEAST_SECRET_CHARS) secrets.add(value);
  };
  return (text, place, name = '') => {
    const filled = fillVariables(text, given);
    if (!filled.ok) throw new ConfigError(`${where}.${place} ${filled.problem}`);
    for (const secret of filled.secrets) secrets.add(secret);
    // `Bearer` and the like stand before what is secret.
    if (isSecretName(name)) filled.text.split(/\s+/).forEach(keep);
    return filled.text;
  };
}
