import { validateHeaderName } from 'node:http';
import { z } from 'zod';
import { closedObject } from '#lib/protocol/closed-object';

const HOST = /^(?:\*|(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;
const PRIVATE_HOST = /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\]):\d{1,5}$/i;

/** They say where a message ends, whose it is or which way it came; the tool sets them itself. */
const NEVER_SET = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
]);

function isHeaderName(name: string): boolean {
  try {
    validateHeaderName(name);
    return !NEVER_SET.has(name);
  } catch {
    return false;
  }
}

const httpSchema = closedObject({
  /** At public addresses. */
  hosts: z
    .array(
      z
        .string()
        .regex(HOST, 'must be a host such as api.example, *.example.org, * or api.example:8443'),
    )
    .default([]),
  /** At any address, that of this machine too. */
  private_hosts: z
    .array(z.string().regex(PRIVATE_HOST, 'must be a host with its port, such as 10.0.0.5:8080'))
    .default([]),
  methods: z
    .array(z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']))
    .nonempty()
    .default(['GET', 'HEAD']),
  /** A model may set these. */
  headers: z
    .array(
      z
        .string()
        .toLowerCase()
        .refine(isHeaderName, 'must be a header that may be set, such as accept'),
    )
    .default(['accept', 'accept-language', 'content-type']),
}).refine(
  ({ hosts, private_hosts }) => hosts.length + private_hosts.length > 0,
  'must name the hosts that may be asked',
);

const memorySchema = closedObject({
  /** Notes of one owner: an agent, or a person with a token. */
  most: z.number().int().min(1).max(10_000).default(1_000),
});

/** Names of settings of the server itself, which no program is given. */
const OWN = /^CALLBOARD_/i;

const shellSchema = closedObject({
  /** Names of the environment that programs are given, besides PATH, LANG and TZ. */
  env: z
    .array(z.string().refine((name) => !OWN.test(name), 'is a setting of this server'))
    .max(64)
    .default([]),
  timeout_seconds: z.number().min(1).max(600).default(60),
  /** It says if programs are started in a PID namespace of their own. */
  isolation: z.enum(['auto', 'required', 'off']).default('auto'),
});

const fileSchema = closedObject({
  /** It says if `file.write` is there. */
  write: z.boolean().default(true),
});

/** Tools of the server that are not there without being asked for. */
const toolsSchema = closedObject({
  /** The folder in which `shell` and `file.*` work, from the folder of the configuration file. */
  workspace: z.string().min(1).optional(),
  shell: shellSchema.optional(),
  file: fileSchema.optional(),
  http: httpSchema.optional(),
  memory: memorySchema.optional(),
  run_code: closedObject({}).optional(),
  ask_human: closedObject({}).optional(),
  attempt_completion: closedObject({}).optional(),
  /** Beside `delegate`, for the same sub-agents. */
  new_task: closedObject({}).optional(),
  /** Tools of the operator: their paths, from the folder of the file. */
  modules: z
    .array(
      closedObject({
        module: z.string().min(1),
        /** Names of tools that it has in place of the server's own. */
        override: z.array(z.string()).default([]),
      }),
    )
    .max(64)
    .default([]),
})
  .refine(
    ({ workspace, shell, file }) => workspace !== undefined || !(shell ?? file),
    'it must have a workspace for shell and file',
  )
  .prefault({});

const webAddress = z.url({
  protocol: /^https?$/,
  error: 'it must be an http or https address, such as https://api.example',
});

/** The parts of the configuration file that are the tools'. */
export const toolsConfigShape = {
  tools: toolsSchema,
  /** A SQLite file for `database.query`; the workbench's own history when not given. */
  database: z.string().optional(),
  /** Addresses of Open-Meteo or a stand-in; the public ones when not given. */
  weather: closedObject({
    forecast_url: webAddress.optional(),
    geocoding_url: webAddress.optional(),
  }).default({}),
};

export interface ToolsConfig {
  readonly tools: z.infer<typeof toolsSchema>;
  readonly database?: string | undefined;
  readonly weather: z.infer<typeof toolsConfigShape.weather>;
}

/** The configuration, as far as tools are opened by it. */
export interface ToolSettings {
  readonly filePath: string;
  readonly dataDir: string;
  readonly file: ToolsConfig & { readonly hooks: readonly { readonly module: string }[] };
}
