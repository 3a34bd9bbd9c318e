import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { parseAst } from 'vitest/node';

const root = resolve(import.meta.dirname, '../..');

/** Words that no name of the product contains, and the field's words for what they meant. */
const BANNED: Record<string, string> = {
  ...each('tell tells told untold telling', 'publish, published, pending'),
  ...each('hear hears heard unheard', 'receive, received'),
  ...each('know knows knowing', 'a verb that says what is stored or compared'),
  ...each('say says said saying unsaid', 'report, announce, text, message'),
  ...each('judge judges judged judgement', 'validate, authorize, classify'),
  ...each('nobody somebody whoever anybody everybody', 'noClient, caller, anonymous'),
  ...each('stranger strangers', 'unknown, untrusted'),
  ...each('trip trips tripped trial', 'openCircuit, halfOpen'),
  ...each('standing standings restand', 'availability, refresh'),
  ...each('gone', 'left, closed, disconnected'),
  ...each('greeting greet', 'banner, welcome'),
  ...each('doors', 'endpoint, route'),
  ...each('wording', 'label, message'),
  ...each('undo unschedule', 'cancel, dispose, unsubscribe'),
  ...each('hurried retell misunderstood owed reckon thief', 'what it does or holds'),
  ...each('wish wishes', 'options, constraints, request'),
  ...each('asker', 'caller'),
};

/** Names on the wire, which contract.md and clients of other makers use. */
const ON_THE_WIRE = new Set(['tripped', 'speech_say']);

const found = ['app', 'components', 'lib', 'server'].flatMap(sourceFiles).flatMap(bannedIn);

test('names use the words of the field', () => {
  expect(found.map(describeName)).toEqual([]);
});

test.each([
  ['const toldAt = 1;', ['toldAt']],
  ['class A { #untold = 1; static tell() {} }', ['untold', 'tell']],
  ['interface A { readonly lastSaid?: string }', ['lastSaid']],
  ['type KnowsAll = { judge(): void };', ['KnowsAll', 'judge']],
  ['const { a: NOBODY_HERE } = f((gone) => gone);', ['NOBODY_HERE', 'gone']],
  ["// nobody is told\nconst text = 'nobody', told_at = 1;", ['told_at']],
  ['const storytelling = { tripped: 1, known: 2, essays: 3 };', []],
])('%j has %j', (code, names) => {
  expect(namesIn(code, 'ts').filter(isBanned)).toEqual(names);
});

function each(words: string, instead: string): Record<string, string> {
  return Object.fromEntries(words.split(' ').map((word) => [word, instead]));
}

interface Found {
  readonly file: string;
  readonly name: string;
}

function bannedIn(file: string): Found[] {
  const source = readFileSync(join(root, file), 'utf8');
  const names = namesIn(source, file.endsWith('x') ? 'tsx' : 'ts');
  return names.filter(isBanned).map((name) => ({ file, name }));
}

function describeName({ file, name }: Found): string {
  return `${file}: ${name} (better: ${BANNED[bannedWord(name) ?? '']})`;
}

function isBanned(name: string): boolean {
  return bannedWord(name) !== undefined && !ON_THE_WIRE.has(name);
}

/** The first banned word of a name in camelCase, PascalCase, snake_case or CONSTANT_CASE. */
function bannedWord(name: string): string | undefined {
  const words = name.split(/_|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/);
  return words.map((word) => word.toLowerCase()).find((word) => Object.hasOwn(BANNED, word));
}

/** The identifiers of a source, each once; never its comments and texts. */
function namesIn(source: string, lang: 'ts' | 'tsx'): string[] {
  const names = new Set<string>();
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if (isIdentifier(node)) names.add(node.name);
    for (const child of Object.values(node)) visit(child);
  };
  visit(parseAst(source, { lang }));
  return [...names];
}

function isIdentifier(node: object): node is { name: string } {
  return (
    'type' in node &&
    ['Identifier', 'PrivateIdentifier', 'JSXIdentifier'].includes(String(node.type)) &&
    'name' in node &&
    typeof node.name === 'string'
  );
}

/** Tests too, but for the launcher. */
function sourceFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return path === 'server/bootstrap' ? [] : sourceFiles(path);
    return /\.tsx?$/.test(path) ? [path] : [];
  });
}
