import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { describeIssue } from '#lib/policy/describe-issue';
import { hooksDefinitionSchema, policyDefinitionSchema } from '#lib/policy/policy-definition';
import { closedObject } from '#lib/protocol/closed-object';
import { defaultModelProblem } from '#lib/protocol/model-ref';
import { tokenProblem } from '#lib/protocol/operator-token';
import { LEAST_SECRET_CHARS } from '#lib/text/redact';
import { ConfigError } from '../base/config-error.ts';
import { readText } from '../base/config-file.ts';
import {
  readApiUrl,
  readKeep,
  readLog,
  readProxies,
  readPublicUrl,
  readUrl,
} from './config-environment.ts';
import * as rooms from './rooms.ts';

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

const configFileSchema = closedObject({
  /** Host names besides our own under which the server may be reached, e.g. behind a proxy. */
  allowed_hosts: z.array(hostName).default([]),
  /** Origins besides our own from which pages may connect. */
  allowed_origins: z.array(origin).default([]),
  policy: policyDefinitionSchema.prefault({}),
  approvals: rooms.approvals.approvalsConfigSchema,
  hooks: hooksDefinitionSchema,
  ...rooms.runs.runsConfigShape,
  ...rooms.tools.toolsConfigShape,
  /** Servers whose tools are offered here, by MCP. */
  mcp_servers: rooms.mcpClient.mcpServersSchema,
  push: rooms.notices.pushConfigSchema,
  openai_api: rooms.openai.openAiConfigSchema,
  mcp: rooms.mcp.mcpConfigSchema,
  /** People know this workbench by it; the name of the machine when not given. */
  name: z.string().trim().min(1).max(64).optional(),
  pairing: rooms.clients.pairingConfigSchema,
  /** Variables of the environment whose values are secret. */
  secrets: z.array(z.string()).default([]),
  clawseed: rooms.clawseed.clawseedConfigSchema,
  notify: rooms.notices.notifyConfigSchema,
  blobs: rooms.blobs.blobsConfigSchema,
});

type ConfigFile = z.infer<typeof configFileSchema>;
export type Config = Readonly<ReturnType<typeof readConfig>>;

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the configuration (contract, section 3). Throws `ConfigError`; an empty value counts as not given. */
export function readConfig(env: Environment, cwd: string) {
  const given = (name: string) => env[name]?.trim() || undefined;
  refuseUnknown(env);
  refuseLater(given);
  const token = given('CALLBOARD_TOKEN');
  const problem = token === undefined ? undefined : tokenProblem(token);
  if (problem) throw new ConfigError(`CALLBOARD_TOKEN is not valid: ${problem}`);
  /** The configuration file's, whether there is one or not. */
  const filePath = resolve(cwd, given('CALLBOARD_CONFIG') ?? 'callboard.config.json');
  const file = readFileIfAny(filePath, given('CALLBOARD_CONFIG') !== undefined);
  /** Undefined: none are sent. */
  const traces = rooms.telemetry.readTraces(given);
  const mcp = rooms.mcpClient.readMcpServers(file.mcp_servers, given, filePath);
  const notify = rooms.notices.readNotify(file.notify, given, filePath);
  return {
    port: readPort(given('CALLBOARD_PORT')),
    /** Without the variable it depends on the arguments (network.ts). */
    host: given('CALLBOARD_HOST'),
    /** An origin. */
    publicUrl: readPublicUrl(given('CALLBOARD_PUBLIC_URL')),
    /** Addresses, or ranges as `10.0.0.0/8`. */
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
    /** Values that no record, screen, log or model has. */
    secrets: [
      ...readSecrets(given, file.secrets, filePath),
      ...[...mcp.secrets, ...notify.secrets, ...(traces?.secrets ?? [])],
    ],
    notify,
    traces,
    log: readLog(given),
    filePath,
    file,
    models: rooms.runs.readModels(file.models, filePath),
    agents: rooms.runs.readAgents(file.agents, filePath),
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
/** The launcher, the command line and the tests have these; they run in the same environment. */
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

function readFileIfAny(file: string, isNamed: boolean): ConfigFile {
  return isNamed || existsSync(file) ? readFile(file) : configFileSchema.parse({});
}

/** Reads a configuration file as it is now. Throws `ConfigError`. */
export function readFile(file: string): ConfigFile {
  const text = readText('CALLBOARD_CONFIG', file);
  const checked = configFileSchema.safeParse(parse(text, file), { reportInput: true });
  if (checked.success) return checked.data;
  throw new ConfigError(`${file}: ${describeIssue(checked.error, 'the file')}`);
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
