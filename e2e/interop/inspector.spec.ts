import { openDesk } from '../agents/desk.ts';
import { tryInspector } from '../agents/try-inspector.ts';
import { expect, sharedCallboard, test } from '../contract/kit/contract-test.ts';

const board = sharedCallboard();

test('the Inspector takes the schemas of all tools, and calls one 300 times without an error', async () => {
  test.setTimeout(300_000);
  const desk = await openDesk(board());
  try {
    const rows = await tryInspector(board());
    expect(rows.map(({ era, strict }) => [era, strict.problem])).toEqual([
      ['modern', null],
      ['legacy', null],
    ]);
    // The two of the desk, and the server's own.
    for (const { strict } of rows) expect(strict.tools).toBeGreaterThan(2);
    const load = { requests: 300, problem: null };
    expect(rows.map((row) => row.load)).toEqual([load, load]);
    expect(desk.called.filter((name) => name === 'desk.note')).toHaveLength(600);
  } finally {
    await desk.close();
  }
});
