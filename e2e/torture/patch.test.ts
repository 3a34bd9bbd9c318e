import { describe, expect, test } from 'vitest';
import { markersIn } from './markers.ts';
import { always, becomes, drop, first, gives, never, notAwaited, type Patch } from './patch.ts';

function changed(statement: string, patch: Patch): string {
  const source = `before();\n// guard: held\n${statement}\nafter();\n`;
  const [place] = markersIn('some.ts', source);
  if (!place) throw new Error('no marker was found');
  const { start, end, text } = patch.change(place);
  const result = source.slice(0, start) + text + source.slice(end);
  return result.replace('before();\n// guard: held', '').replace('\nafter();\n', '').trim();
}

describe('the statement behind a marker', () => {
  test.each<[string, Patch, string, string]>([
    ['is dropped', drop('held'), 'if (a) b();\nelse c();', ''],
    ['is never met', never('held'), 'if (a) b();', 'if (false) b();'],
    ['is always met', always('held'), 'if (!(a ? b : c)) d();', 'if (true) d();'],
    ['has a choice in it', never('held'), 'const a = b ? c : d;', 'const a = false ? c : d;'],
    ['awaits', notAwaited('held'), 'await a(await b());', 'void a(await b());'],
    ['returns', gives('held', 'null'), 'return a(b);', 'return null;'],
    ['has a value', gives('held', '[]'), 'const a: A[] = await b();', 'const a: A[] = [];'],
    ['is exported', gives('held', '0'), 'export const a = b();', 'export const a = 0;'],
    [
      'is a function of a value',
      gives('held', '0'),
      'const a = (b) => b + 1;',
      'const a = (b) => 0;',
    ],
    ['is taken further', becomes('held', (all) => `if (a) ${all}`), 'b();', 'if (a) b();'],
    ['has something before it', first('held', 'a();'), 'b();', 'a();\nb();'],
  ])('%s', (_, patch, statement, expected) => {
    expect(changed(statement, patch)).toBe(expected);
  });

  test('may begin behind the end of a block', () => {
    const source = 'if (a) {\n  b();\n  // guard: held\n} else if (c) d();\n';
    const [place] = markersIn('some.ts', source);
    const edit = place && never('held').change(place);
    expect(source.slice(edit?.start, edit?.end)).toBe('c');
  });

  test.each<[string, Patch, string]>([
    ['such code', never('held'), 'a();'],
    ['value', gives('held', '0'), 'if (a) b();'],
    ['such code', notAwaited('held'), 'a();'],
  ])('has to have what is to be changed: no %s', (what, patch, statement) => {
    expect(() => changed(statement, patch)).toThrow(
      `some.ts: no ${what} begins behind "// guard: held"`,
    );
  });
});

test.each(['// guard: Held', '//guard: held', '// fault point : held', '// guard: held, too'])(
  'a comment that is a marker but for a slip is an error: %s',
  (comment) => {
    expect(() => markersIn('some.ts', `${comment}\na();\n`)).toThrow(
      'is no marker; one is "// guard: a-name"',
    );
  },
);
