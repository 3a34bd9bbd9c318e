import { describe, expect, test, vi } from 'vitest';
import { HINT_TEXTS, mapTexts, redactShapes, valueRedactor, withoutSecretNames } from './redact.ts';

// Put together here, so that no file holds what looks like a token.
const run = (text: string, count: number) => text.repeat(count).slice(0, count);
const jwt = ['eyJhbGciOiJIUzI1NiJ9', 'eyJzdWIiOiIxMjM0NTY3ODkwIn0', run('dBjftJeZ4CVP', 43)].join(
  '.',
);
const pem = `-----BEGIN RSA PRIVATE ${'KEY'}-----\nMIIEow${run('IBAAKC', 120)}=\n-----END RSA PRIVATE KEY-----`;

const SECRETS: readonly [string, string, string][] = [
  ['of OpenAI', `sk-proj-${run('aB3_', 40)}`, 'api_key'],
  ['of Anthropic', `sk-ant-api03-${run('aB3-', 80)}`, 'api_key'],
  ['of Google', `AIza${run('SyD3', 35)}`, 'api_key'],
  ['of GitHub', `ghp_${run('a1B2', 36)}`, 'token'],
  ['of GitHub, fine-grained', `github_pat_${run('11AB_', 60)}`, 'token'],
  ['of Slack', `xoxb-${run('12345-', 40)}`, 'token'],
  ['of an app of Slack', `xapp-1-A0-12-${run('0a', 64)}`, 'token'],
  ['of GitLab for deploys', `gldt-${run('x-Y_', 20)}`, 'token'],
  ['of AWS', `AKIA${run('IOSF', 16)}`, 'aws_key'],
  ['of an operator', `cb_op_${run('x-Y_', 43)}`, 'token'],
  ['of an agent', `cb_agent_${run('x-Y_', 43)}`, 'token'],
  ['of a device', `cb_device_${run('x-Y_', 43)}`, 'token'],
  ['signed as a JWT', jwt, 'jwt'],
  ['that is a private key', pem, 'private_key'],
  ['that is a private key as JSON text', JSON.stringify(pem).slice(1, -1), 'private_key'],
];

describe('a token', () => {
  test.each(SECRETS)('%s is taken out, and the text around it stays', (_name, secret, kind) => {
    expect(redactShapes(`a ${secret} b`)).toBe(`a [redacted:${kind}] b`);
    expect(redactShapes(`key="${secret}"`)).toBe(`key="[redacted:${kind}]"`);
    expect(redactShapes(secret).length).toBeLessThanOrEqual(secret.length);
  });

  test.each([
    ['of OpenAI', `sk-proj-${run('aB3_', 40)}`, 'api_key'],
    ['of OpenAI of before', `sk-${run('aB3', 48)}`, 'api_key'],
    ['of GitHub', `ghp_${run('a1B2', 36)}`, 'token'],
    ['of an operator', `cb_op_${run('x-Y_', 43)}`, 'token'],
    ['of AWS', `AKIA${run('IOSF', 16)}`, 'aws_key'],
  ])('%s is taken out right behind a letter, too', (_name, secret, kind) => {
    expect(redactShapes(`tokenis${secret} b`)).toBe(`tokenis[redacted:${kind}] b`);
  });

  test.each(SECRETS.filter(([, , kind]) => kind === 'token' || kind === 'api_key'))(
    '%s is taken out right behind another one, too',
    (_name, secret) => {
      expect(redactShapes(`a ${secret}${secret} b`)).not.toContain(secret.slice(-12));
    },
  );

  const tailOf = (hint: string): string => {
    if (/^A(?:KIA|SIA|GE)/.test(hint)) return run('Q7', hint.startsWith('AGE') ? 58 : 16);
    const parted = /bearer$/i.test(hint) ? ' ' : hint === 'xox' ? 'b-' : '';
    return parted + run('aB1', 40);
  };
  test.each(HINT_TEXTS.filter((hint) => !/PRIVATE|Private|LS0|eyJ/.test(hint)))(
    'that begins with %s is taken out of a long text, without any other in it',
    (hint) => {
      const around = run('some words-and_names J in lines;\n', 3_000);
      const found = redactShapes(`${around} ${hint}${tailOf(hint)} ${around}`);
      expect(found).toMatch(/ \[redacted:\w+\] some/);
      expect(found.length).toBeLessThan(2 * around.length + 40);
    },
  );

  test('signed as a JWT is taken out with the letters before it', () => {
    expect(redactShapes(`"id":"x${jwt}"`)).toBe('"id":"x[redacted:jwt]"');
    expect(redactShapes(`user.eyJ and ${jwt}.`)).toBe('user.eyJ and [redacted:jwt].');
  });

  const lines = pem.split('\n');
  const encrypted = [
    lines[0],
    'Proc-Type: 4,ENCRYPTED',
    'DEK-Info: AES-256-CBC,0A1B',
    '',
    lines[1],
  ];
  test.each([
    ['that is encrypted', [...encrypted, lines[2]].join('\n')],
    ['whose end is cut off, encrypted', encrypted.join('\n')],
    ['of PGP', pem.replaceAll('RSA PRIVATE KEY', 'PGP PRIVATE KEY BLOCK')],
    ['in JSON that is in JSON', JSON.stringify(JSON.stringify({ pem })).slice(12, -5)],
    ['in a diff', lines.join('\n-')],
    ['in a quotation', lines.join('\n> ')],
    ['in a program', lines.join('\\n" +\n  "')],
    ['in a page', lines.join('<br/>&nbsp;')],
    ['in an address', encodeURIComponent(pem)],
    ['with other blanks', pem.replaceAll(' ', '\u00a0')],
    ['as base64', btoa(pem)],
    ['as base64 in lines', btoa(pem.repeat(3)).replaceAll(/.{76}/g, '$&\n')],
    [
      'of PuTTY',
      `Private-Lines: 2\n${run('a1B2', 64)}\n${run('a1B2', 40)}\nPrivate-MAC: ${run('0a', 40)}`,
    ],
    ['of age', `AGE-SECRET-KEY-1${run('QPZ9', 58)}`],
  ])('that is a private key %s is taken out', (_name, key) => {
    const shown = redactShapes(`a ${key}`);
    expect(shown).toMatch(/^a \S{0,3}\[redacted:private_key\]\S{0,3}$/);
  });

  test('that is a private key is taken out without its end, too', () => {
    expect(redactShapes(`a ${pem.slice(0, 90)}`)).toBe('a [redacted:private_key]');
  });

  test.each(['Bearer ', 'Bearer\t', 'BEARER  ', 'bearer%20', 'Bearer+'])(
    'behind %j is taken out, whatever its form',
    (bearer) => {
      const shown = `Authorization: ${bearer}[redacted:token]`;
      expect(redactShapes(`Authorization: ${bearer}0123456789abcdef=`)).toBe(shown);
    },
  );

  test.each(['\\n', '\\t', '%3D', '\\u003d', '\x1b[31m'])(
    'is taken out behind %j, which is no part of a word',
    (sign) => {
      for (const secret of [`sk-${run('aB3', 48)}`, `AKIA${run('IOSF', 16)}`]) {
        expect(redactShapes(`a${sign}${secret}`)).toMatch(/^a\S+\[redacted:\w+\]$/);
      }
    },
  );

  test.each([
    'task-force-of-the-harbour-and-the-lighthouse',
    'sk-short',
    'The bearer of this letter',
    'AKIA',
    'eyJ is how a JWT begins',
    '-----BEGIN CERTIFICATE-----\nMIIB',
    'ghp_',
    'https://example.org/task-0123456789abcdef0123456789abcdef01234567',
  ])('is not seen in %j', (text) => {
    expect(redactShapes(text)).toBe(text);
  });

  test('is found in what is as long as a result may be, also one made to be slow', () => {
    const secret = ` ghp_${run('a1B2', 36)} `;
    for (const filler of [
      'sk-',
      ' eyJaaaaaaaaa.eyJbbbbbbbbb',
      'eyJ',
      '.eyJaaaaaaaaaaaa',
      '-----BEGIN PRIVATE KEY-----AAAA. -----END ',
      '-----BEGIN PRIVATE KEY-----',
      'x ',
    ]) {
      const long = run(filler, 1_000_000);
      expect(redactShapes(`${long}.${secret}`).endsWith(' [redacted:token] ')).toBe(true);
    }
  });
});

describe('a value that is known', () => {
  const take = valueRedactor([
    { kind: 'configured', value: 'correct-horse' },
    { kind: 'configured', value: 'correct-horse-battery' },
    { kind: 'configured', value: 'short' },
  ]);

  test('is taken out wherever it stands, the longer one first', () => {
    expect(take?.('a correct-horse-battery b correct-horse')).toBe(
      'a [redacted:configured] b [redacted:configured]',
    );
  });

  test('is taken out where it is cut, as long as half of it is there', () => {
    const cut = valueRedactor([{ kind: 'configured', value: '0123456789'.repeat(4) }]);
    expect(cut?.('a 01234567890123456789012… b')).toBe('a [redacted:configured]… b');
    expect(cut?.('a 0123456789012345678 b')).toBe('a 0123456789012345678 b');
    const url = valueRedactor([{ kind: 'configured', value: 'https://a.b/c' }]);
    expect(url?.('https://a.b/d')).toBe('https://a.b/d');
  });

  test('that is an address is not found in others of its host', () => {
    const value = 'http://receiver.example/hooks/callboard-4711';
    const take = valueRedactor([{ kind: 'configured', value }]);
    expect(take?.('http://receiver.example/hook')).toBe('http://receiver.example/hook');
    expect(take?.('see http://receiver.example/hooks/callb')).toBe('see [redacted:configured]');
  });

  test('that is in an address before its host is taken out where the address is cut', () => {
    const value = 'https://user:a-long-password@receiver.example/';
    const take = valueRedactor([{ kind: 'configured', value }]);
    expect(take?.('https://user:a-long-passw')).toBe('[redacted:configured]');
  });

  test('is found among many others, whole, cut and as JSON text, in one pass', () => {
    const values = Array.from({ length: 5_000 }, (_, at) => `${at * 7_919}-pass"word`);
    const take = valueRedactor(values.map((value) => ({ kind: 'argument', value })));
    const [first = '', , last = ''] = [values[0], 0, values.at(-1)];
    expect(take?.(`a ${first} b ${JSON.stringify({ last })} c`)).toBe(
      'a [redacted:argument] b {"last":"[redacted:argument]"} c',
    );
    const alike = Array.from({ length: 40 }, (_, at) => `the same beginning ${at}`);
    const takeAlike = valueRedactor(alike.map((value) => ({ kind: 'argument', value })));
    expect(takeAlike?.('a the same beginning 39')).toBe('a [redacted:argument]');
  });

  test('is looked for in work that grows with the text alone, however many there are', () => {
    const text = 'Some words of an answer. '.repeat(4_000);
    const looks = (count: number) => {
      const values = Array.from({ length: count }, (_, at) => `secret-${at}-secret`);
      const take = valueRedactor(values.map((value) => ({ kind: 'argument', value })));
      const search = vi.spyOn(String.prototype, 'indexOf');
      const slice = vi.spyOn(String.prototype, 'slice');
      take?.(text);
      const work = search.mock.calls.length + slice.mock.calls.length;
      vi.restoreAllMocks();
      return work;
    };
    expect(looks(20_000)).toBeLessThan(100);
  });

  test('is not looked for when it is so short that it would be found by chance', () => {
    expect(take?.('a short one')).toBe('a short one');
    expect(valueRedactor([{ kind: 'configured', value: 'short' }])).toBeUndefined();
  });
});

test('of a JSON value the same object is given back where nothing changes, else a new one', () => {
  const value = { a: ['x', 1, null], b: { c: 'y' } };
  expect(mapTexts(value, (text) => text)).toBe(value);
  expect(mapTexts(value, (text) => (text === 'y' || text === 'a' ? 'z' : text))).toEqual({
    z: ['x', 1, null],
    b: { c: 'z' },
  });
  expect(value).toEqual({ a: ['x', 1, null], b: { c: 'y' } });
});

test('T97 what has a name of a secret is taken out, at any depth', () => {
  const shown = { token: 1, a: [{ accessToken: 'x', 'API-Key': 'y', Authorization: { b: 'z' } }] };
  expect(withoutSecretNames({ ...shown, max_tokens: 5, secretary: 'Ann' })).toEqual({
    token: '[redacted:by_name]',
    a: [
      {
        accessToken: '[redacted:by_name]',
        'API-Key': '[redacted:by_name]',
        Authorization: '[redacted:by_name]',
      },
    ],
    max_tokens: 5,
    secretary: 'Ann',
  });
});
