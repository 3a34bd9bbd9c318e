import { given } from '../util/given.ts';
import { own } from '../util/own.ts';
import type { ClientToolAnswer, ClientToolContext, ClientToolDefinition } from './client-tool.ts';

/**
 * The arguments of a tool that this library's own programs offer: the JSON Schema that is registered,
 * with the type of the values. The server checks each call by that schema before it offers it. A page
 * loads this before any person has done anything, which is why it is no schema library.
 */
export interface Argument<Value> {
  readonly schema: Readonly<Record<string, unknown>>;
  /** A call without the argument gets it; without a default the argument is required. */
  readonly fallback?: { readonly value: Value };
}

// biome-ignore lint/suspicious/noExplicitAny: any value is an argument's value.
export type Arguments = Readonly<Record<string, Argument<any>>>;

export type ValuesOf<Args extends Arguments> = {
  readonly [Name in keyof Args]: Args[Name] extends Argument<infer Value> ? Value : never;
};

export interface About<Value> {
  readonly description: string;
  readonly default?: Value;
}

interface Limits {
  readonly min?: number;
  readonly max?: number;
}

const argument = <Value>(
  schema: Readonly<Record<string, unknown>>,
  { description, default: fallback }: About<Value>,
): Argument<Value> => ({
  schema: { ...schema, ...given({ default: fallback }), description },
  ...(fallback === undefined ? {} : { fallback: { value: fallback } }),
});

export const flag = (about: About<boolean>): Argument<boolean> =>
  argument({ type: 'boolean' }, about);

/** One of some texts. */
export const choice = <const Text extends string>(
  texts: readonly Text[],
  about: About<Text>,
): Argument<Text> => argument({ type: 'string', enum: texts }, about);

export const string = (about: About<string> & Limits): Argument<string> =>
  argument({ type: 'string', ...given({ minLength: about.min, maxLength: about.max }) }, about);

const range = ({ min, max }: Limits) => given({ minimum: min, maximum: max });

export const number = (about: About<number> & Limits): Argument<number> =>
  argument({ type: 'number', ...range(about) }, about);
export const integer = (about: About<number> & Limits): Argument<number> =>
  argument({ type: 'integer', ...range(about) }, about);

/** Several of the same kind. */
export const list = <Item>(
  { schema: { description: _, ...items } }: Argument<Item>,
  about: About<readonly Item[]> & { readonly min?: number; readonly max: number },
): Argument<readonly Item[]> => {
  const { min: minItems, max: maxItems } = about;
  return argument({ type: 'array', items, ...given({ minItems, maxItems }) }, about);
};

/** An argument that a call may leave out; it is then undefined. */
export const optional = <Value>(given: Argument<Value>): Argument<Value | undefined> => ({
  ...given,
  fallback: { value: undefined },
});

/** Makes the schema that is registered. */
export function toJsonSchema(args: Arguments): Record<string, unknown> {
  const entries = Object.entries(args);
  const required = entries.filter(([, { fallback }]) => !fallback).map(([name]) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, { schema }]) => [name, schema])),
    ...(required.length === 0 ? {} : { required }),
  };
}

export interface TypedClientTool<Args extends Arguments>
  extends Omit<ClientToolDefinition, 'parameters' | 'run'> {
  readonly args: Args;
  run(
    args: ValuesOf<Args>,
    context: ClientToolContext,
  ): Promise<ClientToolAnswer> | ClientToolAnswer;
}

/** A client's tool whose JSON Schema and argument types both come from one description. */
export const defineClientTool = <Args extends Arguments>({
  args,
  run,
  ...tool
}: TypedClientTool<Args>): ClientToolDefinition => ({
  ...tool,
  parameters: toJsonSchema(args),
  run: (given, context) => run(withDefaults(args, given), context),
});

/** Leaves out what the schema does not describe. */
const withDefaults = <Args extends Arguments>(
  args: Args,
  given: Readonly<Record<string, unknown>>,
): ValuesOf<Args> =>
  Object.fromEntries(
    Object.entries(args).map(([name, { fallback }]) => [name, own(given, name) ?? fallback?.value]),
  ) as ValuesOf<Args>;
