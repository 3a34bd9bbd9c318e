import { canonicalJson } from '#lib/json/equal';
import { isRecord } from '#lib/json/is-record';
import { followPointer } from '#lib/schema/read-schema';
import { given } from '#lib/util/given';
import {
  asList,
  asSchema,
  asTexts,
  type NormalRun,
  type Open,
  type Schema,
  type TargetForm,
} from './schema-target.ts';

/** A schema in one piece: no `allOf`, no `oneOf`, and no reference that the target would not accept. */
export interface Flat {
  /** They are as they were sent; `$ref` is a reference that is kept. */
  readonly keywords: Schema;
  /** These references have been written out on the way here. */
  readonly open: Open;
}

/** One reference is written out inside itself so often. */
const MOST_ROUNDS = 2;

/** Keywords of a list's items hold together: those of two schemas are not mixed. */
const OF_ITEMS = ['items', 'prefixItems'];
/** These say nothing about values. */
const FOR_PEOPLE = new Set(['title', 'description', 'default', 'examples', '$comment']);

/**
 * Brings the parts of a schema together; null when nothing fits it. Where two
 * parts name one keyword the first counts, so the result only ever accepts more.
 */
export function flatten(run: NormalRun, schema: unknown, open: Open, mayRefer = true): Flat | null {
  if (schema === false) return null;
  const { allOf, $ref, ...own } = withoutOldForms(asSchema(schema));
  const parts = asList(allOf);
  // One part and words about it: what old generators write for a reference with a description.
  const isWrapper = parts.length === 1 && $ref === undefined && isForPeople(own);
  let flat: Flat = { keywords: own, open };
  if (typeof $ref === 'string') {
    const referred = flattenRef(run, flat, $ref, mayRefer);
    if (!referred) return null;
    flat = referred;
  }
  for (const part of parts) {
    // A reference that is kept cannot be merged with anything.
    const next = flatten(run, part, flat.open, mayRefer && isWrapper);
    if (!next) return null;
    flat = merge(flat, next);
  }
  return flat;
}

/** Tuples of old drafts, `oneOf`, and `false` in place of items, each in words that hold for all targets. */
function withoutOldForms(schema: Schema): Schema {
  const { additionalItems, oneOf, ...rest } = schema;
  const isTuple = Array.isArray(rest.items);
  const items = isTuple ? additionalItems : rest.items;
  const prefixItems = isTuple ? rest.items : rest.prefixItems;
  const maxItems =
    items === false ? Math.min(asList(prefixItems).length, asNumber(rest.maxItems)) : rest.maxItems;
  return given({
    ...rest,
    items: items === false ? undefined : items,
    prefixItems,
    maxItems,
    // A value that fits exactly one of them fits one of them.
    anyOf: rest.anyOf ?? oneOf,
  });
}

const asNumber = (value: unknown): number =>
  typeof value === 'number' ? value : Number.POSITIVE_INFINITY;

function flattenRef(run: NormalRun, flat: Flat, ref: string, mayRefer: boolean): Flat | null {
  const target = resolve(run, ref);
  if (target === undefined) return flat;
  if (target === false) return null;
  if (mayRefer && mayKeep(run.form, flat.keywords)) {
    run.names.set(target, run.names.get(target) ?? freeName(run, ref));
    return { ...flat, keywords: { ...flat.keywords, $ref: target } };
  }
  const { open } = flat;
  if (open.filter((one) => one === target).length >= MOST_ROUNDS) {
    run.warn('A schema that refers to itself is written out twice, and open below.');
    return flat;
  }
  const next = flatten(run, target, [...open, target], mayRefer);
  return next && merge(flat, next);
}

const mayKeep = ({ refs }: TargetForm, beside: Schema): boolean =>
  refs === 'alone' ? isForPeople(beside) : refs === 'beside';

const isForPeople = (schema: Schema): boolean =>
  Object.keys(schema).every((keyword) => FOR_PEOPLE.has(keyword));

/** The schema at a place of this one; undefined for any other, and for true. */
function resolve({ root }: NormalRun, ref: string): Schema | false | undefined {
  const target =
    ref === '#' ? root : ref.startsWith('#') ? followPointer(root, ref.slice(1)) : null;
  if (target === false) return false;
  return isRecord(target) ? target : undefined;
}

/** After the last word of the place, e.g. `point` of `#/$defs/point`. */
function freeName({ names }: NormalRun, ref: string): string {
  const word = ref.slice(ref.lastIndexOf('/') + 1).replaceAll(/[^A-Za-z0-9_-]+/g, '_');
  const name = word === '' || word === '_' ? 'root' : word.slice(0, 48);
  const taken = new Set(names.values());
  for (let number = 2, free = name; ; number += 1) {
    if (!taken.has(free)) return free;
    free = `${name}_${number}`;
  }
}

function merge(first: Flat, second: Flat): Flat {
  const [a, b] = [first.keywords, second.keywords];
  const hasItems = OF_ITEMS.some((keyword) => a[keyword] !== undefined);
  const { items, prefixItems, ...others } = b;
  const { if: _, then: __, else: ___, ...unconditional } = hasItems ? others : b;
  const keywords = {
    // One condition holds together, too.
    ...(a.if === undefined ? (hasItems ? others : b) : unconditional),
    ...a,
    ...given({
      properties: mergeMaps(a.properties, b.properties),
      patternProperties: mergeMaps(a.patternProperties, b.patternProperties),
      required: mergeNames(a.required, b.required),
    }),
  };
  // The second was brought together after the first, and has its references too.
  return { keywords, open: second.open };
}

/** A name that both have must fit both. */
function mergeMaps(a: unknown, b: unknown): unknown {
  if (!isRecord(a) || !isRecord(b)) return a ?? b;
  const both = Object.entries(b).map(([name, one]) => [
    name,
    Object.hasOwn(a, name) ? { allOf: [a[name], one] } : one,
  ]);
  return { ...a, ...Object.fromEntries(both) };
}

function mergeNames(a: unknown, b: unknown): unknown {
  if (a === undefined || b === undefined) return a ?? b;
  return [...new Set([...asTexts(a), ...asTexts(b)])];
}

/**
 * An object of several forms as one object (rule AL30): for targets, and places,
 * that take no union of objects. A property that each form has may be as any of
 * them has it. Where a form leaves a name open it may be anything, since the
 * original accepts that; what the other forms have for it stays for the model to read.
 */
export function mergeUnion(run: NormalRun, flat: Flat): Flat {
  const { anyOf, ...base } = flat.keywords;
  const forms = asList(anyOf)
    .map((one) => flatten(run, one, flat.open, false))
    .filter((one) => one !== null);
  if (forms.length === 0) return { ...flat, keywords: base };
  const own = asSchema(base.properties);
  const branches = forms.map(({ keywords }) => keywords);
  const names = new Set(branches.flatMap(({ properties }) => Object.keys(asSchema(properties))));
  const merged = [...names].flatMap((name) => {
    const one = mergeProperty(branches, name, own, base.additionalProperties === false);
    return one === undefined ? [] : [[name, one] as const];
  });
  const isClosed = base.additionalProperties === undefined && branches.every(isClosedForm);
  const keywords = {
    ...base,
    properties: { ...own, ...Object.fromEntries(merged) },
    ...given({
      required: mergeRequired(base, branches),
      additionalProperties: isClosed ? false : undefined,
    }),
  };
  return {
    keywords,
    open: forms.reduce(
      (longest, { open }) => (open.length > longest.length ? open : longest),
      flat.open,
    ),
  };
}

/** Undefined where the base's own stays. */
function mergeProperty(
  branches: readonly Schema[],
  name: string,
  own: Schema,
  isBaseClosed: boolean,
): unknown {
  const given = branches.flatMap(({ properties }) => {
    const map = asSchema(properties);
    return Object.hasOwn(map, name) ? [map[name]] : [];
  });
  const options = [...new Map(given.map((one) => [canonicalJson(one), one])).values()];
  const isOpen = branches.some(
    (one) => !Object.hasOwn(asSchema(one.properties), name) && !isClosedForm(one),
  );
  if (Object.hasOwn(own, name)) {
    // Beside `kind: string` the constants of the forms tell more.
    return isOpen ? undefined : { allOf: [own[name], { anyOf: options }] };
  }
  if (isBaseClosed) return undefined;
  if (options.some(isAny)) return {};
  if (isOpen) return { anyOf: [...options, {}] };
  return options.length === 1 ? options[0] : { anyOf: options };
}

const isAny = (option: unknown): boolean =>
  option === true || (isRecord(option) && Object.keys(option).length === 0);

const isClosedForm = ({ additionalProperties, patternProperties }: Schema): boolean =>
  additionalProperties === false && !isRecord(patternProperties);

/** An object requires what the base requires, and what each of the forms does. */
function mergeRequired(base: Schema, branches: readonly Schema[]): string[] | undefined {
  const [first, ...others] = branches.map(({ required }) => asTexts(required));
  const common = (first ?? []).filter((name) => others.every((one) => one.includes(name)));
  const required = [...new Set([...asTexts(base.required), ...common])];
  return required.length === 0 ? undefined : required;
}
