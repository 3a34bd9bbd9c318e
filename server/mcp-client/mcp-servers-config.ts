import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { isRecord } from '#lib/json/is-record';
import { closedObject } from '#lib/protocol/closed-object';
import { refuseWritable } from '../base/config-error.ts';
import { ConfigTexts, type Given, isSecretName } from '../base/config-variables.ts';
import type { ConfiguredEffect } from '../tools/room.ts';

/** Beginnings of names with one `*` behind them, or whole names, as the server spells them. */
const toolPattern = z
  .string()
  .min(1)
  .max(200)
  .regex(
    /^[^*]*\*?$/,
    'must be the name of a tool, or the beginning of names with one * behind it',
  );

const namedTexts = z.record(z.string().min(1).max(200), z.string().max(8_192)).default({});

/** Both kinds of servers have these. */
const ofEach = {
  /** Says what becomes of calls of tools, by their names at the server; a tool that is not named asks. */
  tools: z.record(toolPattern, z.enum(['allow', 'ask', 'deny'])).default({}),
  /** Its annotations are believed: what reads or is idempotent may be run again. */
  trust: z.boolean().default(false),
  /** Each call has so long from its start. */
  timeout_s: z.number().min(1).max(3_600).optional(),
  /** A call that reports its progress has so long, however often that gives it its time anew. */
  max_call_s: z.number().min(1).max(86_400).default(1_800),
  /** Until it answers for the first time: a program may be fetched, and load a model. */
  start_timeout_s: z.number().min(1).max(3_600).default(300),
};

const stdioSchema = closedObject({
  ...ofEach,
  command: z.string().min(1).max(4_096),
  args: z.array(z.string().max(8_192)).max(200).default([]),
  env: namedTexts,
  /** From the folder of the configuration file, which it is when not given. */
  cwd: z.string().min(1).max(4_096).optional(),
});

const httpSchema = closedObject({
  ...ofEach,
  url: z
    .url({
      protocol: /^https?$/,
      error: 'it must be an http or https address, such as https://mcp.example/mcp',
    })
    .refine(
      (url) => URL.parse(url)?.username === '' && URL.parse(url)?.password === '',
      'must have no name or password in it; use "headers"',
    ),
  headers: namedTexts,
});

export type McpServerSettings = z.output<typeof stdioSchema> | z.output<typeof httpSchema>;

export const isHttpServer = (
  settings: McpServerSettings,
): settings is z.output<typeof httpSchema> => 'url' in settings;

/** The kind is known by `url`, so that what is wrong is named for that kind alone. */
const serverSchema = z.unknown().transform((given, context): McpServerSettings => {
  const keys = isRecord(given) ? Object.keys(given) : undefined;
  const isHttp = keys?.includes('url') === true;
  if (keys && isHttp === keys.includes('command')) {
    const has = isHttp ? 'both' : keys.length === 0 ? 'nothing' : keys.slice(0, 8).join(', ');
    context.addIssue({
      code: 'custom',
      message: `must have "command", which starts a program, or "url", the address of a server: one of the two (it has ${has})`,
    });
    return z.NEVER;
  }
  const checked = (isHttp ? httpSchema : stdioSchema).safeParse(given, { reportInput: true });
  if (checked.success) return checked.data;
  for (const issue of checked.error.issues) context.addIssue({ ...issue });
  return z.NEVER;
});

/**
 * A name is `<id>.<tool>`, which models spell with `_`: without `_` in ids no two servers can have
 * names of one spelling.
 */
const SERVER_ID = /^[a-z][a-z0-9-]{0,23}$/;

const MOST_SERVERS = 32;

/** The part `mcp_servers` of the configuration file. */
export const mcpServersSchema = z
  .record(
    z
      .string()
      .regex(SERVER_ID, 'must be an id of a letter and a to z, 0 to 9 or -, at most 24 characters'),
    serverSchema,
  )
  .refine(
    (servers) => Object.keys(servers).length <= MOST_SERVERS,
    `must name at most ${MOST_SERVERS} servers`,
  )
  .default({});

/** A tool that the configuration does not name. */
const NOT_NAMED: ConfiguredEffect = { effect: 'ask', isDefault: true };

/** Finds what the configuration says of a tool: by its whole name, else by the longest beginning of it. */
export function configuredEffectOf(
  tools: McpServerSettings['tools'],
  foreign: string,
): ConfiguredEffect {
  const whole = Object.hasOwn(tools, foreign) ? tools[foreign] : undefined;
  if (whole !== undefined) return { effect: whole };
  const [longest] = Object.entries(tools)
    .filter(([pattern]) => pattern.endsWith('*') && foreign.startsWith(pattern.slice(0, -1)))
    .toSorted(([a], [b]) => b.length - a.length);
  return longest ? { effect: longest[1] } : NOT_NAMED;
}

export interface ConfiguredMcpServers {
  /** By id, with the values of variables in the place of `${env:NAME}`. */
  readonly servers: ReadonlyMap<string, McpServerSettings>;
  /** These are in no record, screen or log. */
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
  const texts = new ConfigTexts(given);
  const read = named.map(([id, settings]): [string, McpServerSettings] => [
    id,
    withValues(settings, file, { place: `${file}: mcp_servers.${id}`, texts }),
  ]);
  return { servers: new Map(read), secrets: texts.secrets };
}

function withValues(
  settings: McpServerSettings,
  file: string,
  { place, texts }: { readonly place: string; readonly texts: ConfigTexts },
): McpServerSettings {
  const all = (written: Readonly<Record<string, string>>, part: string) =>
    Object.fromEntries(
      Object.entries(written).map(([name, text]) => {
        const value = texts.fill(`${place}.${part}.${name}`, text);
        // `Bearer` and the like stand before what is secret.
        if (isSecretName(name)) for (const one of value.split(/\s+/)) texts.keepSecret(one);
        return [name, value];
      }),
    );
  if (isHttpServer(settings)) return { ...settings, headers: all(settings.headers, 'headers') };
  const folder = dirname(file);
  return {
    ...settings,
    args: settings.args.map((text, at) => texts.fill(`${place}.args.${at}`, text)),
    env: all(settings.env, 'env'),
    cwd: settings.cwd === undefined ? folder : resolve(folder, settings.cwd),
  };
}
