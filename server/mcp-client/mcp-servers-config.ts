import { z } from 'zod';
import { isRecord } from '#lib/json/is-record';
import { closedObject } from '#lib/protocol/closed-object';

/** Beginnings of names with one `*` behind them, or whole names, as the server spells them. */
const toolPattern = z
  .string()
  .min(1)
  .max(200)
  .regex(
    /^[^*]*\*?$/,
    'must be the name of a tool, or the beginning of names with one * behind it',
  );

const texts = z.record(z.string().min(1).max(200), z.string().max(8_192)).default({});

/** What both kinds of servers have. */
const ofEach = {
  /** What becomes of calls of tools, by their names at the server; a tool that is not named asks. */
  tools: z.record(toolPattern, z.enum(['allow', 'ask', 'deny'])).default({}),
  /** Its annotations are believed: what reads or is idempotent may be run again. */
  trust: z.boolean().default(false),
  /** Of each call, from its start. */
  timeout_s: z.number().min(1).max(3_600).optional(),
  /** Of a call that reports its progress, however often that gives it its time anew. */
  max_call_s: z.number().min(1).max(86_400).default(1_800),
  /** Until it answers for the first time: a program may be fetched, and load a model. */
  start_timeout_s: z.number().min(1).max(3_600).default(300),
};

const stdioSchema = closedObject({
  ...ofEach,
  command: z.string().min(1).max(4_096),
  args: z.array(z.string().max(8_192)).max(200).default([]),
  env: texts,
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
  headers: texts,
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
