import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sharedTempDir, tempDir } from '#lib/testing/temp-dir';
import { ConfigError, readConfig } from './config.ts';

const dir = sharedTempDir();
const file = join(dir, 'callboard.config.json');

/** What is printed when a server starts with it; `start-and-stop.spec.ts` sees it printed, and the exit code. */
function refusalOf(env: Record<string, string>): string {
  try {
    readConfig(env, dir);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error(`${JSON.stringify(env)} was accepted`);
}

const TOKEN = /^CALLBOARD_TOKEN .*it must be 16 to 256 letters, digits and the signs _\.~\+\/=-$/;

test.each<[Record<string, string>, ...RegExp[]]>([
  [{ CALLBOARD_PORT: 'seventy' }, /CALLBOARD_PORT/, /"seventy"/, /65535/],
  [{ CALLBOARD_PORT: '65536' }, /CALLBOARD_PORT/],
  [{ CALLBOARD_TOKEN: 'short' }, TOKEN],
  [{ CALLBOARD_TOKEN: 'exclamation!mark-0123' }, TOKEN],
  [{ CALLBOARD_TOKEN: 'has a space in it 012345' }, TOKEN],
  [{ CALLBOARD_TOKEN: 'x'.repeat(257) }, TOKEN],
  [{ OPENAI_BASE_URL: 'ftp://x' }, /OPENAI_BASE_URL/, /http/],
  [{ CALLBOARD_PUBLIC_URL: 'board.example' }, /CALLBOARD_PUBLIC_URL/, /https:\/\/board\.example/],
  [{ CALLBOARD_PUBLIC_URL: 'https://board.example/x' }, /CALLBOARD_PUBLIC_URL/, /origin/],
  [{ CALLBOARD_TRUSTED_PROXIES: '10.0.0.1, proxy' }, /CALLBOARD_TRUSTED_PROXIES has "proxy"/],
  [{ CALLBOARD_TRUSTED_PROXIES: '10.0.0.0/33' }, /"10\.0\.0\.0\/33"/, /10\.0\.0\.0\/8/],
  [{ DATABASE_URL: 'postgres://127.0.0.1:1/x' }, /DATABASE_URL/],
  [{ NATS_URL: 'nats://127.0.0.1:1' }, /NATS_URL/],
  [{ CALLBOARD_PROT: '3000' }, /CALLBOARD_PROT/, /CALLBOARD_PORT/],
  [{ CALLBOARD_CONFIG: '/nowhere/callboard.json' }, /CALLBOARD_CONFIG/, /nowhere/],
  [{ CALLBOARD_MODEL: 'foo:bar' }, /CALLBOARD_MODEL is "foo:bar"/, /openai-chat, compatible/],
  [{ CALLBOARD_MODEL: 'qwen3:8b' }, /CALLBOARD_MODEL/, /compatible:qwen3:8b/],
  [{ CALLBOARD_MODEL: 'two words' }, /CALLBOARD_MODEL/],
  [{ CALLBOARD_MODEL: 'openai:' }, /CALLBOARD_MODEL/],
  [{ CALLBOARD_LOG_LEVEL: 'loud' }, /LOG_LEVEL is "loud": .* error, warn, info, debug/],
  [{ CALLBOARD_LOG_FORMAT: 'xml' }, /LOG_FORMAT is "xml": .* text, json/],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://x', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    /OTEL_EXPORTER_OTLP_PROTOCOL is "grpc"/,
  ],
])('%j is refused in one line: which, what it was, what it must be', (env, ...words) => {
  const line = refusalOf(env);
  for (const word of words) expect(line).toMatch(word);
  expect(line).not.toContain('\n');
});

test.each<[string, RegExp]>([
  ['{not json', /not JSON/],
  ['{"secrets": [], // none\n}', /not JSON, which has no comments/],
  ['{"agent":{"max_steps":0}}', /agent\.max_steps is .*: it must be at least 1$/],
  ['{"agent":{"budget":{"minutes":5}}}', /unknown key "minutes"; its keys are seconds, calls/],
  ['{"tools":{"run_code":{"x":1}}}', /tools\.run_code .*unknown key "x"; it has no keys/],
  ['{"tools":{"shel":{}}}', /unknown key "shel"; its keys are workspace, shell/],
  ['{"tools":{"workspace":"w","shell":{"cwd":"x"}}}', /"cwd"; its keys are env, timeout_seconds/],
  ['{"weather":{"forecast_url":"here"}}', /forecast_url .*it must be an http or https address/],
  ['{"agents":{"My agent":{}}}', /My agent .*this name cannot be used: it must have only a to z/],
  ['{"models":{"openai:x":{"image":true}}}', /unknown key "image"; its keys are tool_calling/],
  ['{"agents":{"a":{"description":"d","tools":[],"model":"gpt5"}}}', /model .*openai:gpt-5/],
  ['{"agents":{"a":{"description":"d","tools":[],"prompt":5}}}', /prompt .*it must be a text, or/],
  ['{"polices":{}}', /polices/],
  ['{"policy":{"ask":"pay"}}', /policy\.ask/],
  ['{"allowed_origins":["not an origin"]}', /allowed_origins/],
  ['{"allowed_origins":["https://board.example/path"]}', /allowed_origins/],
  ['{"allowed_hosts":["http://board.example"]}', /allowed_hosts/],
  ['{"tools":{"http":{}}}', /tools\.http .*must name the hosts/],
  ['{"tools":{"http":{"hosts":["http://a.example"]}}}', /tools\.http\.hosts/],
  ['{"tools":{"http":{"private_hosts":["10.0.0.5"]}}}', /tools\.http\.private_hosts.*its port/],
  ['{"tools":{"http":{"hosts":["*"],"headers":["Host"]}}}', /tools\.http\.headers/],
  ['{"models":{"gemma3":{}}}', /models\.gemma3 .*compatible:gemma3:4b/],
  ['{"models":{"rehearsal":{}}}', /models\.rehearsal/],
  ['{"models":{"openai:x":{"tool_calling":"xml"}}}', /models\.openai:x\.tool_calling .*native/],
  ['{"models":{"openai:x":{"tool_prompt":"a.md"}}}', /models\.openai:x .*its tool_prompt/],
  [
    '{"models":{"openai:x":{"strict_tools":true,"tool_calling":"text"}}}',
    /models\.openai:x .*its strict_tools/,
  ],
])('a configuration file of %s is refused in one line that says where', (text, where) => {
  writeFileSync(file, text);
  const line = refusalOf({ CALLBOARD_CONFIG: file });
  expect(line).toMatch(/callboard\.config\.json/);
  expect(line).toMatch(where);
  expect(line).not.toContain('\n');
});

test('[AL37] the strict form of tools is for models of OpenAI’s API', () => {
  const write = (ref: string) =>
    writeFileSync(file, JSON.stringify({ models: { [ref]: { strict_tools: true } } }));
  for (const ref of ['openai:gpt-5', 'openai-chat:gpt-5', 'compatible:qwen3:8b']) {
    write(ref);
    expect(readConfig({ CALLBOARD_CONFIG: file }, dir).models[ref]?.strict_tools).toBe(true);
  }
  write('anthropic:claude-sonnet-5-5');
  expect(refusalOf({ CALLBOARD_CONFIG: file })).toMatch(
    /models\.anthropic:claude-sonnet-5-5\.strict_tools is true: it may be so for the models of openai:/,
  );
});

test('[AL134] what a model can do is read from the file, its prompt from a file of its own', () => {
  const asked = { instructions: 'Be brief.', temperature: 0.2, reasoning_effort: 'low' };
  const model = { tool_calling: 'text', tool_prompt: 'prompt.md', images: false, ...asked };
  const write = (prompt: string) => {
    writeFileSync(join(dir, 'prompt.md'), prompt);
    writeFileSync(file, JSON.stringify({ models: { 'compatible:gemma3:4b': model } }));
  };
  write('Call these: {{tools}}');
  expect(readConfig({ CALLBOARD_CONFIG: file }, dir).models).toEqual({
    'compatible:gemma3:4b': {
      ...{ tool_calling: 'text', tool_prompt: 'Call these: {{tools}}', images: false, ...asked },
    },
  });
  write('Call nothing.');
  expect(refusalOf({ CALLBOARD_CONFIG: file })).toMatch(
    /callboard\.config\.json: models\.compatible:gemma3:4b\.tool_prompt is .*prompt\.md": it must hold \{\{tools\}\}/,
  );
  rmSync(join(dir, 'prompt.md'));
  expect(refusalOf({ CALLBOARD_CONFIG: file })).toMatch(/tool_prompt .*cannot be read/);
});

test.each([
  ['https://proxy.example', 'https://proxy.example/v1', 'https://proxy.example/v1beta'],
  ['https://proxy.example/x', 'https://proxy.example/x', 'https://proxy.example/x'],
])(
  '[AL232] the base URL %s has the version of the API where it has no path',
  (url, anthropicBaseUrl, googleBaseUrl) => {
    const env = { ANTHROPIC_BASE_URL: url, GOOGLE_GENERATIVE_AI_BASE_URL: url };
    expect(readConfig(env, elsewhere).providers).toMatchObject({ anthropicBaseUrl, googleBaseUrl });
  },
);

test('[RU41] prices are read from the file; without a currency or of another kind they are refused', () => {
  const priced = (prices: unknown) => writeFileSync(file, JSON.stringify({ prices }));
  const models = { 'openai:*': { input: 1, output: 2 } };
  priced({ currency: 'USD', models });
  expect(readConfig({ CALLBOARD_CONFIG: file }, dir).file.prices).toEqual({
    currency: 'USD',
    models,
  });
  priced({ models });
  expect(refusalOf({ CALLBOARD_CONFIG: file })).toMatch(/prices\.currency/);
  priced({ currency: 'USD', models: { 'openai:*': { input: -1, output: 2 } } });
  expect(refusalOf({ CALLBOARD_CONFIG: file })).toMatch(/prices\.models\.openai:\*\.input/);
});

/** Without a configuration file. */
const elsewhere = join(dir, 'elsewhere');
const keepOf = (env: Record<string, string>) => readConfig(env, elsewhere).keep;

test('[ST65] without a setting everything is kept', () => {
  expect(keepOf({})).toEqual({ days: undefined, bytes: undefined });
  expect(keepOf({ CALLBOARD_KEEP_DAYS: ' ' })).toEqual({ days: undefined, bytes: undefined });
});

test.each([
  ['16777216', 16 * 1024 ** 2],
  ['500M', 500 * 1024 ** 2],
  ['10g', 10 * 1024 ** 3],
  ['2T', 2 * 1024 ** 4],
])('[ST66] %s is how many bytes are kept', (value, bytes) => {
  expect(keepOf({ CALLBOARD_KEEP_BYTES: value, CALLBOARD_KEEP_DAYS: '30' })).toEqual({
    days: 30,
    bytes,
  });
});

test.each([
  { CALLBOARD_KEEP_DAYS: '0' },
  { CALLBOARD_KEEP_DAYS: '1.5' },
  { CALLBOARD_KEEP_DAYS: '-1' },
  { CALLBOARD_KEEP_BYTES: '1M' },
  { CALLBOARD_KEEP_BYTES: '10GB' },
  { CALLBOARD_KEEP_BYTES: `${'9'.repeat(15)}T` },
])('[ST65] %j makes no sense, and says which setting and what it must be', (env) => {
  const [[name, value] = []] = Object.entries(env);
  expect(() => readConfig(env, elsewhere)).toThrow(ConfigError);
  expect(() => readConfig(env, elsewhere)).toThrow(`${name} is "${value}": it must be`);
});

test('a sub-agent has its defaults, and its prompt from a file', () => {
  const dir = tempDir();
  const agent = { description: 'Reads', tools: ['file.*'] };
  const write = (agents: unknown) =>
    writeFileSync(join(dir, 'callboard.config.json'), JSON.stringify({ agents }));
  write({ reader: { ...agent, prompt: { file: 'reader.md' } }, writer: agent });
  expect(() => readConfig({}, dir)).toThrow('agents.reader.prompt.file is');
  writeFileSync(join(dir, 'reader.md'), 'Read well.\n');
  const budget = { seconds: null, calls: null, tokens: null };
  const { agents, file } = readConfig({}, dir);
  expect(agents).toEqual({
    reader: { ...agent, budget, prompt: 'Read well.' },
    writer: { ...agent, budget, prompt: '' },
  });
  expect(file.agent.max_depth).toBe(2);
  write({ 'Not a name': agent });
  expect(() => readConfig({}, dir)).toThrow('agents');
});

test('[CW6] secrets are the keys of providers and the variables that the file names', () => {
  writeFileSync(file, JSON.stringify({ secrets: ['HARBOUR_KEY'] }));
  const env = { ANTHROPIC_API_KEY: 'key-of-anthropic', HARBOUR_KEY: 'key-of-the-harbour' };
  expect(readConfig(env, dir).secrets).toEqual(['key-of-anthropic', 'key-of-the-harbour']);
  expect(refusalOf({})).toMatch(
    /\.json: secrets\.0 names the variable HARBOUR_KEY, which is not set/,
  );
  expect(refusalOf({ HARBOUR_KEY: 'short' })).toMatch(/has 5 characters: .* at least 8/);
  expect(refusalOf({ HARBOUR_KEY: 'short' })).not.toContain('"short"');
  rmSync(file);
});

test('[OB18] what targets of notifications have that is secret is among the secrets', () => {
  const dir = tempDir();
  const file = join(dir, 'board.json');
  const url = 'https://hooks.slack.com/services/T0/B0/abcdefgh';
  const target = { kind: 'slack', url: `\${env:SLACK_URL}` };
  writeFileSync(file, JSON.stringify({ notify: { team: target } }));
  const { secrets, notify } = readConfig({ CALLBOARD_CONFIG: file, SLACK_URL: url }, dir);
  expect(secrets).toEqual([url, '/services/T0/B0/abcdefgh']);
  expect([...notify.targets.keys()]).toEqual(['team']);
  expect(refusalOf({ CALLBOARD_CONFIG: file })).toContain('names the variable SLACK_URL');
});
