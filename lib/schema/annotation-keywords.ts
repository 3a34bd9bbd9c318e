import { type Read, readAnyList, readAnyRecord, readFlag, readText } from './read-keyword.ts';

type ReadAny = (value: unknown) => Read<unknown>;

const each = (keywords: readonly string[], read: ReadAny): [string, ReadAny][] =>
  keywords.map((keyword) => [keyword, read]);

/**
 * Keywords that check nothing and that people and programs read, with the type
 * that JSON Schema gives each (2020-12: core 8, validation 8 and 9). `default`
 * may be any value.
 */
export const ANNOTATIONS: ReadonlyMap<string, ReadAny> = new Map([
  ...each(['title', 'description', '$comment', '$id', '$schema', '$anchor'], readText),
  ...each(['contentEncoding', 'contentMediaType'], readText),
  ...each(['deprecated', 'readOnly', 'writeOnly'], readFlag),
  ...each(['examples'], readAnyList),
  ...each(['$vocabulary'], readAnyRecord),
]);
