import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const page = readFileSync(resolve(import.meta.dirname, '../../docs/promises.md'), 'utf8');

/** The kind of a mutant says where it is kept. */
export type MutantKind = 'torture' | 'model' | 'guard';

interface Promised {
  readonly id: string;
  readonly sentence: string;
  readonly tests: readonly { readonly file: string; readonly title: string }[];
  readonly mutants: readonly { readonly kind: MutantKind; readonly name: string }[];
}

/** The list "Held by" of docs/promises.md. */
export const PROMISES: readonly Promised[] = readPromises(page);

export function readPromises(text: string): Promised[] {
  const [, section = ''] = text.split('\n## Held by\n');
  const [list = ''] = section.split('\n## ');
  return [...list.matchAll(/^- \*\*(P\d+)\*\* (.+)\n((?: {2}- .+\n?)*)/gm)].map(
    ([, id = '', sentence = '', lines = '']) => ({
      id,
      sentence,
      tests: [...lines.matchAll(/^ {2}- test: `([^`]+)` "([^"]+)"$/gm)].map(
        ([, file = '', title = '']) => ({ file, title }),
      ),
      mutants: [...lines.matchAll(/^ {2}- (torture|model|guard): (.+)$/gm)].flatMap(
        ([, kind, names = '']) =>
          namesIn(names).map((name) => ({ kind: kind as MutantKind, name })),
      ),
    }),
  );
}

/** True when the file has a test of that name; what it cites may stand before it. */
export function hasTest(root: string, { file, title }: Promised['tests'][number]): boolean {
  const source = readFileSync(join(root, file), 'utf8');
  const name = title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/’|'/g, "(?:’|\\\\?')");
  return new RegExp(`\\(\\s*(['"\`])(?:(?:\\[\\w+\\]|§\\d+|[TE]\\d+:?) )*${name}\\1`).test(source);
}

/** Guards are numbers; the others are sentences between quotation marks. */
function namesIn(names: string): string[] {
  if (!names.startsWith('"')) return names.split(', ');
  return [...names.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name);
}
