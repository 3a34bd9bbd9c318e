import type { NoticeParams } from '#lib/protocol/run';

type NamedIn<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamedIn<Rest>
  : never;

/** The facts that a text has places for, such as `{model}`; pages may say more of them. */
export type FactsOf<Text extends string> = Record<NamedIn<Text>, string | number> & NoticeParams;

/** Once over the text: what stands in a fact is no place. */
export const fillText = (text: string, facts: NoticeParams): string =>
  text.replace(/\{(\w+)\}/g, (_, name: string) => String(facts[name]));
