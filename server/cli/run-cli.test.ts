import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { COMMON_OPTIONS } from './command.ts';
import { EXIT_CODES } from './exit-codes.ts';
import { COMMANDS, optionText } from './run-cli.ts';
import { accepted, calling, cli, Status, scriptedServer, wireCall } from './testing/setup-cli.ts';

const page = readFileSync(join(resolve(import.meta.dirname, '../..'), 'docs/cli.md'), 'utf8');
const refusal = (status: number, code: string) => () =>
  new Status(status, { error: { code, message: 'What was wrong.' } });

test.each([
  ['refused', 401, 'unauthenticated'],
  ['refused', 403, 'permission_denied'],
  ['notFound', 404, 'run_not_found'],
  ['usage', 400, 'bad_request'],
  ['usage', 422, 'invalid_args'],
  ['failed', 503, 'shutting_down'],
] as const)('[CX1] what the server refuses is %s (HTTP %s)', async (exit, status, code) => {
  const { url } = await scriptedServer({ 'GET /v1/runs/run_1': refusal(status, code) });
  const ended = await cli(['runs', 'run_1', '--url', url, '--token', 't']);
  expect(ended).toMatchObject({ code: EXIT_CODES[exit].code, out: '' });
  // The words for a 401 are those of HTTP; the command line has options instead.
  const words =
    status === 401 ? /does not accept the token; .*--token/ : /^callboard: What was wrong\.\n$/;
  expect(ended.errors).toMatch(words);
});

test('[CX1] each problem of what the server was given is named once', async () => {
  const details = [
    { path: 'n', problem: 'must be integer' },
    { path: 'text', problem: 'must be string' },
  ];
  const replies = (message: string) => ({
    'GET /v1/runs/run_1': () =>
      new Status(422, { error: { code: 'invalid_args', message, details } }),
  });
  const named = async (message: string) => {
    const { url } = await scriptedServer(replies(message));
    return (await cli(['runs', 'run_1', '--url', url, '--token', 't'])).errors;
  };
  const all = 'callboard: It is wrong: n must be integer; text must be string\n';
  expect(await named('It is wrong: n must be integer; text must be string')).toBe(all);
  expect(await named('It is wrong: n: must be integer')).toBe(
    'callboard: It is wrong: n: must be integer; text: must be string\n',
  );
});

test('[CX1] a server that does not run is unreachable, and what examines why is named', async () => {
  const { url, server } = await scriptedServer({});
  await new Promise((closed) => server.close(closed));
  const ended = await cli(['runs', '--url', url, '--token', 't']);
  expect(ended.code).toBe(EXIT_CODES.unreachable.code);
  expect(ended.errors).toMatch(/ECONNREFUSED.*callboard doctor/);
});

test('[CX1] an answer of another program ends the command with what is wrong of it', async () => {
  const { url } = await scriptedServer({ 'GET /v1/runs': () => ({ runs: 'many' }) });
  const ended = await cli(['runs', '--url', url, '--token', 't']);
  expect(ended.code).toBe(EXIT_CODES.failed.code);
  expect(ended.errors).toMatch(/GET \/v1\/runs.*not answered as Callboard answers it: runs/);
});

test.each([
  [['nothing'], /nothing is not a command; the commands are start, pair/],
  [['runs', '--fast'], /--fast.*the command is "callboard runs \[run id\]"/],
  [['runs', 'a', 'b'], /b is one too many/],
  [['call'], /an argument is missing; the command is "callboard call <tool> \[json\]"/],
  [['runs', '--limit', '0'], /--limit is 0; it must be a whole number from 1 on/],
  [['call', 't', '{', '--url', 'http://127.0.0.1:1', '--token', 't'], /not JSON.*"Oslo"/],
  [['runs', '--url', 'board'], /"board" is not the address of a server/],
])('[CX1] %j is a wrong command line, and the right one is shown', async (line, shown) => {
  const ended = await cli(line);
  expect(ended.code).toBe(EXIT_CODES.usage.code);
  expect(ended.errors).toMatch(shown);
});

test('[CX1] a command that Ctrl+C ends has the code of a shell', async () => {
  const interrupted = new AbortController();
  const { url } = await scriptedServer({
    'POST /v1/tools/t/invoke': accepted,
    'GET /v1/tool_calls/tc_1': () => {
      interrupted.abort();
      return wireCall({ status: 'PENDING', phase: 'queued' });
    },
  });
  const { signal } = interrupted;
  const ended = await cli(['call', 't', '--url', url, '--token', 't'], { signal });
  expect(ended.code).toBe(130);
});

const HOSTILE = '\u001b]0;title\u0007\u009b31m\u202eright';

test('[CX4] what a tool returned moves no cursor and changes no title', async () => {
  const { url } = await scriptedServer(calling({ result: `${HOSTILE}\nline 2` }));
  const { out } = await cli(['call', 't', '--url', url, '--token', 't']);
  expect(out).toBe('␛]0;title␇⟨U+009B⟩31m⟨U+202E⟩right\nline 2\n');
});

test('[CX4] nor what a refusal says, nor a cell of a table', async () => {
  const run = { status: 'idle', model: null, tools: null, step: 0, max_steps: 1, error: null };
  const named = { run_id: 'run_1', title: HOSTILE, ...run, created_at: 1, updated_at: 1 };
  const { url } = await scriptedServer({
    'GET /v1/runs': () => ({ runs: [named], next_cursor: null }),
    'GET /v1/runs/x': () => new Status(404, { error: { code: 'run_not_found', message: HOSTILE } }),
  });
  const table = await cli(['runs', '--url', url, '--token', 't']);
  const refused = await cli(['runs', 'x', '--url', url, '--token', 't']);
  for (const text of [table.out, refused.errors]) {
    expect(text).toContain('␛]0;title␇');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  }
});

test('[CX2] [CX4] with --json stdout is one document, which reads back as the same value', async () => {
  const { url } = await scriptedServer(calling({ result: HOSTILE }));
  const { out, code } = await cli(['call', 't', '--json', '--url', url, '--token', 't']);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ tool_call_id: 'tc_1', result: HOSTILE });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
});

test('[CX2] with --json nobody is asked, also at a terminal', async () => {
  const { url } = await scriptedServer({
    'GET /v1/approvals': () => ({ approvals: [], next_cursor: null }),
  });
  const setup = { answers: ['y'] };
  const { out, questions } = await cli(['approve', '--json', '--url', url, '--token', 't'], setup);
  expect(JSON.parse(out)).toEqual({ approvals: [] });
  expect(questions).toEqual([]);
});

test.each(COMMANDS.map((command) => [command.name, command] as const))(
  '[CX16] the page on the command line has "%s" with its options',
  (name, { parameters, options = {} }) => {
    const heading = `### \`callboard ${[name, parameters].filter(Boolean).join(' ')}\``;
    const [, section = ''] = page.split(`${heading}\n`);
    const [own = ''] = section.split('\n### ');
    expect(own, heading).not.toBe('');
    for (const [option, facts] of Object.entries(options)) {
      expect(own).toContain(`\`${optionText(option, facts)}\``);
    }
  },
);

test('[CX16] it has the options of all commands, and each exit code', () => {
  for (const [name, option] of Object.entries(COMMON_OPTIONS)) {
    expect(page).toContain(`\`${optionText(name, option)}\``);
  }
  for (const { code, meaning } of Object.values(EXIT_CODES)) {
    expect(page).toMatch(new RegExp(`^\\| ${code} +\\| ${escaped(meaning)} +\\|$`, 'm'));
  }
});

test('[CX18] help fits a terminal of 80 columns', async () => {
  const texts = [await cli(['help'])];
  for (const { name } of COMMANDS) texts.push(await cli([name, '--help']));
  const lines = texts.flatMap(({ out }) => out.split('\n'));
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
});

test('[CX18] a table is cut to the width of the terminal, but for its ids', async () => {
  const title = 'A title of a run that is much longer than a terminal is wide, with more words';
  const run = {
    ...{ run_id: 'run_of_which_a_person_copies_the_whole_id', title, status: 'idle' },
    ...{ model: null, tools: null, step: 0, max_steps: 10, error: null },
    ...{ created_at: 1, updated_at: 1 },
  };
  const { url } = await scriptedServer({
    'GET /v1/runs': () => ({ runs: [run], next_cursor: null }),
  });
  const line = ['runs', '--url', url, '--token', 't'];
  const { out } = await cli(line, { isTTY: true, columns: 80 });
  const row = out.split('\n').find((one) => one.startsWith(run.run_id)) ?? '';
  expect(row).toMatch(/A title.*…$/);
  expect(row.length).toBeLessThan((await cli(line)).out.split('\n')[1]?.length ?? 0);
});

const escaped = (text: string): string => text.replace(/[()[\]+]/g, '\\$&');
