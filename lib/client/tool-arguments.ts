import { given } from '../util/given.ts';
import { own } from '../util/own.ts';
import {
  type ClientToolAnswer,
  type ClientToolContext,
  type ClientToolDefinition,
  ToolFailure,
} from './client-tool.ts';

/**
 * The arguments of a tool that this library's own programs offer, described once: as the JSON
 * Schema that is registered, and as the check of what a call brings. A page loads it before any
 * person has done anything, which is why it is no schema library.
 */
export interface Argument<Value> {
  readonly schema: Readonly<Record<string, unknown>>;
  /** A call without the argument gets it; without a default the argument is required. */
  readonly fallback?: { readonly value: Value };
  /** It says what the value must be, and follows "must be". */
  readonly wants: string;
  fits(value: unknown): value is Value;
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

function argument<Value>(
  schema: Readonly<Record<string, unknown>>,
  { description, default: fallback }: About<Value>,
  wants: string,
  fits: (value: unknown) => value is Value,
): Argument<Value> {
  return {
    schema: { ...schema, ...(fallback === undefined ? {} : { default: fallback }), description },
    ...(fallback === undefined ? {} : { fallback: { value: fallback } }),
    wants,
    fits,
  };
}

export const flag = (about: About<boolean>): Argument<boolean> =>
  argument({ type: 'boolean' }, about, 'true or false', (value) => typeof value === 'boolean');

/** One of some texts. */
export const choice = <const Text extends string>(
  texts: readonly Text[],
  about: About<Text>,
): Argument<Text> =>
  argument(
    { type: 'string', enum: texts },
    about,
    `one of ${texts.join(', ')}`,
    (value): value is Text => texts.some((text) => text === value),
  );

/** Lengths in UTF-16 units. */
export const string = (about: About<string> & Limits): Argument<string> => {
  const { min = 0, max = Number.POSITIVE_INFINITY } = about;
  return argument(
    {
      type: 'string',
      ...given({ minLength: about.min, maxLength: about.max }),
    },
    about,
    `a text of ${rangeWords(about)} characters`,
    (value): value is string =>
      typeof value === 'string' && value.length >= min && value.length <= max,
  );
};

const numeric = (type: 'number' | 'integer', about: About<number> & Limits): Argument<number> => {
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = about;
  const isKind = type === 'integer' ? Number.isSafeInteger : Number.isFinite;
  return argument(
    {
      type,
      ...given({ minimum: about.min, maximum: about.max }),
    },
    about,
    `${type === 'integer' ? 'an integer' : 'a number'} ${rangeWords(about)}`.trimEnd(),
    (value): value is number =>
      typeof value === 'number' && isKind(value) && value >= min && value <= max,
  );
};

export const number = (about: About<number> & Limits): Argument<number> => numeric('number', about);
export const integer = (about: About<number> & Limits): Argument<number> =>
  numeric('integer', about);

/** Several of the same kind. */
export const list = <Item>(
  item: Argument<Item>,
  about: About<readonly Item[]> & { readonly min?: number; readonly max: number },
): Argument<readonly Item[]> => {
  const { min = 0, max } = about;
  const { description: _, ...items } = item.schema;
  return argument(
    { type: 'array', items, ...(min > 0 ? { minItems: min } : {}), maxItems: max },
    about,
    `a list of ${min} to ${max}, each ${item.wants}`,
    (value): value is readonly Item[] =>
      Array.isArray(value) && value.length >= min && value.length <= max && value.every(item.fits),
  );
};

/** An argument that a call may leave out; it is then undefined. */
export const optional = <Value>(given: Argument<Value>): Argument<Value | undefined> => ({
  ...given,
  fallback: { value: undefined },
});

function rangeWords({ min, max }: Limits): string {
  if (min !== undefined && max !== undefined) return `${min} to ${max}`;
  if (max !== undefined) return `at most ${max}`;
  return min === undefined ? '' : `at least ${min}`;
}

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

/** The arguments of a call with defaults filled in; what is not described is left out. */
export function readArguments<Args extends Arguments>(
  args: Args,
  given: Readonly<Record<string, unknown>>,
): { readonly ok: true; readonly values: ValuesOf<Args> } | { ok: false; problem: string } {
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const [name, { wants, fits, fallback }] of Object.entries(args)) {
    const value = own(given, name);
    if (value === undefined && fallback) values[name] = fallback.value;
    else if (fits(value)) values[name] = value;
    else problems.push(`${name} must be ${wants}`);
  }
  return problems.length === 0
    ? { ok: true, values: values as ValuesOf<Args> }
    : { ok: false, problem: problems.join('; ') };
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
export function defineClientTool<Args extends Arguments>({
  args,
  run,
  ...tool
}: TypedClientTool<Args>): ClientToolDefinition {
  return {
    ...tool,
    parameters: toJsonSchema(args),
    run(given, context) {
      const read = readArguments(args, given);
      if (read.ok) return run(read.values, context);
      throw new ToolFailure(
        'invalid_args',
        `${tool.name} cannot take these arguments: ${read.problem}.`,
      );
    },
  };
}
