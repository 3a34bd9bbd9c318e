import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { tempDir } from '#lib/testing/temp-dir';
import { NOTICE_TYPES } from '../../lib/protocol/notice.ts';
import { notifyConfigSchema } from '../../server/notices/notify-config.ts';

const PAGE = readFileSync(resolve(import.meta.dirname, '../../docs/webhooks.md'), 'utf8');

const blocks = (language: string) =>
  [...PAGE.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(
    ([, code = '']) => code,
  );

const SECRET = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
const BODY = '{"type":"call.finished","data":{"tool_name":"打印"}}';

/** A delivery that was signed so many seconds ago. */
function signed(secondsAgo = 0) {
  const at = new Date(Date.now() - secondsAgo * 1_000);
  const old = new Webhook(`whsec_${Buffer.alloc(32, 6).toString('base64')}`);
  return {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': `${old.sign('evt_1', at, BODY)} ${new Webhook(SECRET).sign('evt_1', at, BODY)}`,
  };
}

const CASES = [
  { headers: signed(), body: BODY, right: true },
  { headers: signed(), body: `${BODY} `, right: false },
  { headers: signed(3_600), body: BODY, right: false },
  { headers: { ...signed(), 'webhook-id': 'evt_2' }, body: BODY, right: false },
];

function inDir(name: string, code: string): string {
  const dir = tempDir();
  const file = join(dir, name);
  writeFileSync(file, code);
  return file;
}

test('the configuration of the page on webhooks is one', () => {
  const [config = '{}'] = blocks('json');
  const { notify } = JSON.parse(config);
  expect(Object.keys(notifyConfigSchema.parse(notify))).toEqual(['ops', 'team', 'phone']);
});

test('the page on webhooks has each event', () => {
  for (const type of NOTICE_TYPES) expect(PAGE).toContain(`| \`${type}\``);
});

test('its code for Node takes a right signature, and no other', async () => {
  const [code = ''] = blocks('js');
  const { verify } = await import(pathToFileURL(inDir('verify.mjs', code)).href);
  for (const { headers, body, right } of CASES) {
    expect(verify(SECRET, headers, body)).toBe(right);
  }
});

test('its code for Python takes a right signature, and no other, where Python is there', () => {
  const [code = ''] = blocks('python');
  const cases = CASES.map(({ headers, body }) => ({ headers, body }));
  const run = `${code}
import json, sys
for one in json.load(sys.stdin):
    print(verify(${JSON.stringify(SECRET)}, one["headers"], one["body"].encode()))
`;
  const { error, stdout, stderr } = spawnSync('python3', [inDir('verify.py', run)], {
    ...{ input: JSON.stringify(cases), encoding: 'utf8' },
  });
  if (error) return;
  expect([stdout.trim().split('\n'), stderr]).toEqual([['True', 'False', 'False', 'False'], '']);
});
