import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { MODEL_OUTPUT_BYTES } from '#lib/call/model-output';
import { describeIssue } from '#lib/policy/describe-issue';
import { hooksDefinitionSchema, policyDefinitionSchema } from '#lib/policy/policy-definition';
import { closedObject } from '#lib/protocol/closed-object';
import { LIMITS } from '#lib/protocol/limits';
import { defaultModelProblem, parseModelRef } from '#lib/protocol/model-ref';
import { tokenProblem } from '#lib/protocol/operator-token';
import { runSettingsSchema } from '#lib/protocol/run';
import { LEAST_SECRET_CHARS } from '#lib/text/redact';
import { ConfigError } from '../base/config-error.ts';
import { mcpConfigSchema } from '../mcp/room.ts';
import { type ConfiguredMcpServers, mcpServersSchema, readMcpServers } from '../mcp-client/room.ts';
import { openAiConfigSchema } from '../openai/room.ts';
import { type NotifySettings, notifyConfigSchema, readNotify } from '../outbox/room.ts';
import { pushConfigSchema } from '../push/room.ts';
import { type ModelSettings, modelSettingsSchema } from '../runs/room.ts';
import { readTraces, type TracesConfig } from '../telemetry/room.ts';
import { toolsConfigSchema } from '../tools/room.ts';
import {
  readApiUrl,
  readKeep,
  readLog,
  readProxies,
  readPublicUrl,
  readUrl,
} from './config-environment.ts';
import { besideFile, isModel, readModels, readText } from './config-models.ts';

export { ConfigError };

const hostName = z
  .string()
  .regex(
    /^(?:\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i,
    'must be a host name, such as board.example or board.example:8443',
  );
const origin = z
  .string()
  .refine(
    (text) => URL.parse(text)?.origin === text,
    'must be an origin and nothing more, such as https://board.example',
  );

const webAddress = z.url({
  protocol: /^https?$/,
  error: 'it must be an http or https address, such as https://api.example',
});

const mostOfTurn = z.number().int().positive().nullable().default(null);

const budgetSchema = closedObject({
  seconds: mostOfTurn,
  calls: mostOfTurn,
  tokens: mostOfTurn,
}).default({ seconds: null, calls: null, tokens: null });

/** Of the built-in agent. */
const agentSchema = closedObject({
  /** The most that one turn may take: seconds since the person's message, calls, tokens. */
  budget: budgetSchema,
  /** Requests to the model in one turn with which it may call tools. */
  max_steps: z.number().int().min(1).max(100).default(10),
  /** How deep sub-agents may delegate: 1 is to none. */
  max_depth: z.number().int().min(1).max(4).default(2),
  /** Tools that are asked again and again on purpose; names as in `policy`. */
  polling: z.array(z.string()).default([]),
  /** Tools that are offered before others where a model takes fewer; names as in `policy`. */
  pinned_tools: z.array(z.string()).max(1_000).default([]),
  /** Of one result as a model is sent it, in bytes; of a longer one it gets head and tail. */
  result_bytes: z
    .number()
    .int()
    .min(16 * 1024)
    .max(1024 * 1024)
    .default(MODEL_OUTPUT_BYTES),
  /** How models are asked, where neither run nor model says. */
  ...runSettingsSchema.shape,
});
const amount = z.number().nonnegative();

/** What models cost, in one currency. Callboard has no prices of its own: they change, and differ by contract. */
const pricesSchema = closedObject({
  currency: z.string().regex(/^[A-Z]{3}$/, 'must be a code of three letters, such as USD'),
  /** For a million tokens, by model; `*` stands for any characters. */
  models: z.record(
    z.string(),
    closedObject({ input: amount, cached_input: amount.optional(), output: amount }),
  ),
});

const agentName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,63}$/,
    'must have only a to z, 0 to 9, _ and -, at most 64 characters',
  );

/** A sub-agent that a model can give a task to. */
const subAgentSchema = closedObject({
  /** The model reads it when it chooses. */
  description: z.string().min(1).max(1_000),
  /** That of the run that delegates, where not given. */
  model: z
    .string()
    .refine(
      (ref) => parseModelRef(ref) !== undefined,
      'must be a model as the menu names it, such as openai:gpt-5 or compatible:qwen3:8b',
    )
    .optional(),
  /** Added to its instructions: the text, or a file of it. */
  prompt: z
    .union([z.string(), closedObject({ file: z.string() })], {
      error: 'it must be a text, or {"file": "prompt.md"}',
    })
    .default(''),
  /** Names as in `policy`; of these it has those that the run has that delegates. */
  tools: z.array(z.string()),
  budget: budgetSchema,
});

export const configFileSchema = closedObject({
  /** Host names besides our own under which the server may be reached, e.g. behind a proxy. */
  allowed_hosts: z.array(hostName).default([]),
  /** Origins besides our own from which pages may connect. */
  allowed_origins: z.array(origin).default([]),
  policy: policyDefinitionSchema.prefault({}),
  /** So many questions of a run are shown to people at once, each for so long. */
  approvals: closedObject({
    at_once: z.number().int().min(1).max(50).default(5),
    wait_seconds: z.number().int().min(10).max(86_400).default(600),
  }).prefault({}),
  hooks: hooksDefinitionSchema,
  agent: agentSchema.default(agentSchema.parse({})),
  tools: toolsConfigSchema,
  /** Servers whose tools are offered here, by MCP. */
  mcp_servers: mcpServersSchema,
  push: pushConfigSchema,
  openai_api: openAiConfigSchema,
  mcp: mcpConfigSchema,
  /** What people know this workbench by; the name of the machine when not given. */
  name: z.string().trim().min(1).max(64).optional(),
  pairing: closedObject({
    /** Whether pages of other origins may ask a person to be let in. */
    pages: z.enum(['ask', 'off']).default('ask'),
  }).prefault({}),
  /** Sub-agents, by name: what the tool `delegate` offers. */
  agents: z.record(agentName, subAgentSchema).default({}),
  /** Variables of the environment whose values are secret. */
  secrets: z.array(z.string()).default([]),
  /** A SQLite file for `database.query`; the workbench's own history when not given. */
  database: z.string().optional(),
  /** The socket of ClawSeed apps, `/ws/chat`. */
  clawseed: closedObject({
    enabled: z.boolean().default(true),
    /** Such an app may send its token as `?token=`: what logs addresses logs it then. */
    token_in_url: z.boolean().default(false),
  }).prefault({}),
  weather: closedObject({
    forecast_url: webAddress.optional(),
    geocoding_url: webAddress.optional(),
  }).default({}),
  notify: notifyConfigSchema,
  prices: pricesSchema.optional(),
  /** Of uploads with one token that is no administrator's. */
  blobs: closedObject({
    bytes_per_hour: z
      .number()
      .int()
      .min(LIMITS.blobBytes)
      .default(512 * 1024 * 1024),
  }).prefault({}),
  models: z
    .record(z.string(), modelSettingsSchema)
    .superRefine((models, { addIssue }) => {
      const ref = Object.keys(models).find((one) => !isModel(one));
      if (ref === undefined) return;
      const message = 'must be a model as the menu names it, such as compatible:gemma3:4b';
      addIssue({ code: 'custom', path: [ref], message });
    })
    .default({}),
});

/** A sub-agent, with the text of its prompt. */
type SubAgentSettings = Omit<z.infer<typeof subAgentSchema>, 'prompt'> & {
  readonly prompt: string;
};

export interface Config {
  readonly port: number;
  /** `CALLBOARD_HOST`; what it is without that depends on the arguments (network.ts). */
  readonly host: string | undefined;
  /** An origin. */
  readonly publicUrl: string | undefined;
  /** Addresses, or ranges as `10.0.0.0/8`. */
  readonly trustedProxies: readonly string[];
  readonly dataDir: string;
  readonly token: string | undefined;
  readonly model: string | undefined;
  readonly providers: {
    readonly openaiApiKey: string | undefined;
    readonly openaiBaseUrl: string | undefined;
    readonly anthropicApiKey: string | undefined;
    readonly anthropicBaseUrl: string | undefined;
    readonly googleApiKey: string | undefined;
    readonly googleBaseUrl: string | undefined;
  };
  /** Values that no record, screen, log or model has. */
  readonly secrets: readonly string[];
  /** Of the configuration file, whether there is one or not. */
  readonly filePath: string;
  readonly file: z.infer<typeof configFileSchema>;
  readonly notify: NotifySettings;
  /** By reference. */
  readonly models: Readonly<Record<string, ModelSettings>>;
  /** By name. */
  readonly agents: Readonly<Record<string, SubAgentSettings>>;
  readonly mcpServers: ConfiguredMcpServers['servers'];
  readonly development: boolean;
  readonly log: ReturnType<typeof readLog>;
  /** Undefined: none are sent. */
  readonly traces: TracesConfig | undefined;
  /** How much of the history is kept; without either, all of it. */
  readonly keep: { readonly days: number | undefined; readonly bytes: number | undefined };
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the configuration (contract, section 3). Throws `ConfigError`; an empty value counts as not given. */
export function readConfig(env: Environment, cwd: string): Config {
  const given = (name: string) => env[name]?.trim() || undefined;
  refuseUnknown(env);
  refuseLater(given);
  const token = given('CALLBOARD_TOKEN');
  const problem = token === undefined ? undefined : tokenProblem(token);
  if (problem) throw new ConfigError(`CALLBOARD_TOKEN is not valid: ${problem}`);
  const filePath = resolve(cwd, given('CALLBOARD_CONFIG') ?? 'callboard.config.json');
  const file = readFileIfAny(filePath, given('CALLBOARD_CONFIG') !== undefined);
  const traces = readTraces(given);
  const mcp = readMcpServers(file.mcp_servers, given, filePath);
  const notify = readNotify(file.notify, given, filePath);
  return {
    port: readPort(given('CALLBOARD_PORT')),
    host: given('CALLBOARD_HOST'),
    publicUrl: readPublicUrl(given('CALLBOARD_PUBLIC_URL')),
    trustedProxies: readProxies(given('CALLBOARD_TRUSTED_PROXIES')),
    dataDir: resolve(cwd, given('CALLBOARD_DATA_DIR') ?? '.callboard'),
    token,
    model: readModel(given('CALLBOARD_MODEL'), given('OPENAI_BASE_URL') !== undefined),
    providers: {
      openaiApiKey: given('OPENAI_API_KEY'),
      openaiBaseUrl: readUrl('OPENAI_BASE_URL', given('OPENAI_BASE_URL')),
      anthropicApiKey: given('ANTHROPIC_API_KEY'),
      anthropicBaseUrl: readApiUrl('ANTHROPIC_BASE_URL', '/v1', given),
      googleApiKey: given('GOOGLE_GENERATIVE_AI_API_KEY'),
      googleBaseUrl: readApiUrl('GOOGLE_GENERATIVE_AI_BASE_URL', '/v1beta', given),
    },
    secrets: [
      ...readSecrets(given, file.secrets, filePath),
      ...[...mcp.secrets, ...notify.secrets, ...(traces?.secrets ?? [])],
    ],
    ...{ notify, traces, log: readLog(given) },
    filePath,
    file,
    models: readModels(file.models, filePath),
    agents: readAgents(file.agents, filePath),
    mcpServers: mcp.servers,
    development: given('CALLBOARD_DEV') === '1',
    keep: readKeep(given),
  };
}

const PROVIDER_KEYS = ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'];

/** The keys of providers, and what the file names. */
function readSecrets(
  given: (name: string) => string | undefined,
  names: readonly string[],
  file: string,
): string[] {
  for (const [place, name] of names.entries()) {
    const { length } = given(name) ?? '';
    if (length >= LEAST_SECRET_CHARS) continue;
    const was = length === 0 ? 'is not set' : `has ${length} characters`;
    throw new ConfigError(
      `${file}: secrets.${place} names the variable ${name}, which ${was}: it must have at least ${LEAST_SECRET_CHARS} characters`,
    );
  }
  return [...PROVIDER_KEYS, ...names].flatMap((name) => given(name) ?? []);
}

function readModel(value: string | undefined, hasBaseUrl: boolean): string | undefined {
  const problem = value === undefined ? undefined : defaultModelProblem(value, hasBaseUrl);
  if (problem === undefined) return value;
  throw new ConfigError(`CALLBOARD_MODEL is ${JSON.stringify(value)}: ${problem}`);
}

function readPort(value: string | undefined): number {
  if (value === undefined) return 3000;
  const port = /^\d{1,5}$/.test(value) ? Number(value) : Number.NaN;
  if (port >= 0 && port <= 65_535) return port;
  throw new ConfigError(
    `CALLBOARD_PORT is ${JSON.stringify(value)}: it must be a number from 0 (any free port) to 65535`,
  );
}

const SETTINGS = [
  'CALLBOARD_PORT',
  'CALLBOARD_HOST',
  'CALLBOARD_PUBLIC_URL',
  'CALLBOARD_TRUSTED_PROXIES',
  'CALLBOARD_DATA_DIR',
  'CALLBOARD_TOKEN',
  'CALLBOARD_CONFIG',
  'CALLBOARD_MODEL',
  'CALLBOARD_KEEP_DAYS',
  'CALLBOARD_KEEP_BYTES',
  'CALLBOARD_LOG_LEVEL',
  'CALLBOARD_LOG_FORMAT',
];
/** Of the launcher, the command line and the tests, which run in the same environment. */
const OTHERS = [
  'CALLBOARD_URL',
  'CALLBOARD_DEV',
  'CALLBOARD_OPEN',
  'CALLBOARD_CHROMIUM',
  'CALLBOARD_HEADLESS_SHELL',
  'CALLBOARD_SERVE',
];
const KNOWN = new Set([...SETTINGS, ...OTHERS]);

function refuseUnknown(env: Environment): void {
  const name = Object.keys(env).find((name) => name.startsWith('CALLBOARD_') && !KNOWN.has(name));
  if (name === undefined) return;
  throw new ConfigError(
    `${name} is not a setting of Callboard; the settings are ${SETTINGS.join(', ')}`,
  );
}

/** Settings of the contract that this version cannot follow yet: refused, never silently ignored. */
function refuseLater(given: (name: string) => string | undefined): void {
  for (const [name, instead] of [
    ['DATABASE_URL', 'the embedded SQLite store in CALLBOARD_DATA_DIR'],
    ['NATS_URL', 'the bus in this process'],
  ] as const) {
    if (given(name) === undefined) continue;
    throw new ConfigError(`${name} is set, but this version supports only ${instead}; unset it`);
  }
}

function readFileIfAny(file: string, isNamed: boolean): Config['file'] {
  return isNamed || existsSync(file) ? readFile(file) : configFileSchema.parse({});
}

/** What a configuration file has now. Throws `ConfigError`. */
export function readFile(file: string): Config['file'] {
  const text = readText('CALLBOARD_CONFIG', file);
  const checked = configFileSchema.safeParse(parse(text, file), { reportInput: true });
  if (checked.success) return checked.data;
  throw new ConfigError(`${file}: ${describeIssue(checked.error, 'the file')}`);
}

function readAgents(agents: Config['file']['agents'], file: string): Config['agents'] {
  const settings = Object.entries(agents).map(([name, { prompt, ...agent }]) => {
    const where = `${file}: agents.${name}.prompt.file`;
    const text =
      typeof prompt === 'string' ? prompt : readText(where, besideFile(file, prompt.file));
    return [name, { ...agent, prompt: text.trim() }];
  });
  return Object.fromEntries(settings);
}

function parse(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ConfigError(
      `${file} is not JSON, which has no comments and no comma after a last member: ${String(error)}`,
    );
  }
}
