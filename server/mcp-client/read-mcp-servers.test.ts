import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ConfigError, readConfig } from '../main/config.ts';
import { newDir } from './testing/setup-servers.ts';

function read(mcp_servers: object, env: Record<string, string> = {}, mode = 0o600) {
  const dir = newDir();
  const file = join(dir, 'callboard.config.json');
  writeFileSync(file, JSON.stringify({ mcp_servers }));
  chmodSync(file, mode);
  return { dir, config: readConfig({ CALLBOARD_CONFIG: file, ...env }, dir) };
}

/** As the file names it. */
const variable = (name: string): string => `\${env:${name}}`;

const refusalOf = (...of: Parameters<typeof read>): string => {
  try {
    read(...of);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('It was read');
};

test('[MC7] values of variables stand in the place of their names, and are secret', () => {
  const { dir, config } = read(
    {
      files: {
        command: 'npx',
        args: [`--key=${variable('FILES_KEY')}`],
        env: { API_TOKEN: 'from-the-file' },
      },
      web: {
        url: 'https://mcp.example/mcp',
        headers: { Authorization: `Bearer ${variable('WEB_KEY')}`, Accept: 'text/plain; a=b' },
      },
    },
    { FILES_KEY: 'key-of-files', WEB_KEY: 'key-of-web' },
  );
  expect(config.mcpServers.get('files')).toMatchObject({
    ...{ args: ['--key=key-of-files'], env: { API_TOKEN: 'from-the-file' }, cwd: dir },
  });
  expect(config.mcpServers.get('web')).toMatchObject({
    headers: { Authorization: 'Bearer key-of-web' },
  });
  expect([...config.secrets].sort()).toEqual(['from-the-file', 'key-of-files', 'key-of-web']);
});

test('[MC7] a variable that is not set stops the start', () => {
  const message = refusalOf({
    web: { url: 'https://a.example', headers: { 'X-Key': variable('NO_KEY') } },
  });
  expect(message).toMatch(
    /mcp_servers\.web\.headers\.X-Key names the variable NO_KEY, which is not set/,
  );
});

test('[MC8] a file that others may write stops the start, with what helps', () => {
  const servers = { files: { command: 'npx' } };
  for (const mode of [0o620, 0o602, 0o666]) {
    expect(refusalOf(servers, {}, mode)).toMatch(
      /others than its owner may write it.*: chmod go-w \//,
    );
  }
  expect(read({}, {}, 0o666).config.mcpServers.size).toBe(0);
  expect(read(servers, {}, 0o644).config.mcpServers.size).toBe(1);
});

test.each([
  [{ 'My files': { command: 'npx' } }, /My files/],
  [{ my_files: { command: 'npx' } }, /my_files/],
  [{ files: {} }, /mcp_servers\.files .*must have "command", .* or "url".*it has nothing/],
  [{ files: { comand: 'npx', args: [] } }, /one of the two \(it has comand, args\)/],
  [{ files: 'npx' }, /mcp_servers\.files .*must be an object/],
  [{ files: { command: 'npx', shell: true } }, /mcp_servers\.files .*unknown key "shell"/],
  [{ files: { url: 'ftp://a.example' } }, /mcp_servers\.files\.url .*http or https/],
  [{ files: { url: 'https://me:secret@a.example' } }, /no name or password in it/],
  [{ files: { url: 'https://a.example', command: 'npx' } }, /one of the two \(it has both\)/],
  [{ files: { command: 'npx', tools: { 'a*b': 'allow' } } }, /a\*b/],
  [{ files: { command: 'npx', tools: { a: 'yes' } } }, /mcp_servers\.files\.tools\.a/],
])('[MC6] %j is refused in one line, with its place', (servers, words) => {
  const line = refusalOf(servers);
  expect(line).toMatch(words);
  expect(line).not.toContain('\n');
});
