import { expect, test } from 'vitest';
import { callRecordSchema } from './call-record.ts';
import { cardUpdateSchema } from './card.ts';
import { toolListingSchema } from './tool-spec.ts';

test('readers of tools, calls and cards accept a source that they have no word for', () => {
  for (const { source } of [
    toolListingSchema.shape,
    callRecordSchema.shape,
    cardUpdateSchema.shape,
  ])
    expect(['server', 'client', 'mcp'].map((one) => source.safeParse(one).success)).toEqual([
      ...[true, true, true],
    ]);
});
