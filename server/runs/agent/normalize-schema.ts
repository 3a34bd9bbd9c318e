import type { JSONSchema7 } from '@ai-sdk/provider';
import { isRecord } from '#lib/json/is-record';
import { isDeeperThan } from '#lib/json/measure-json';
import { LIMITS } from '#lib/protocol/limits';
import { forModelDeep } from '#lib/text/for-model';
import { given } from '#lib/util/given';
import { type Flat, flatten, mergeUnion } from './schema/flatten.ts';
import {
  asList,
  asSchema,
  asTexts,
  formOf,
  NormalRun,
  type Open,
  type Schema,
  type SchemaTarget,
  type TargetForm,
  typeOfValue,
  typesOf,
} from './schema/schema-target.ts';
import { splitValues } from './schema/split-values.ts';
export type NormalizedSchema =
  | {
      readonly ok: true;
      readonly schema: JSONSchema7;
      /** The form could not hold these, in sentences; at most 20. */
      readonly warnings: readonly string[];
    }
  /** The target has no form of it: why, as the end of a sentence about the tool. */
  | { readonly ok: false; readonly reason: string };

/** By the schema, which is never changed: each step of a run asks for the same ones. */
const known = new WeakMap<object, Map<SchemaTarget, NormalizedSchema>>();

/**
 * A tool's schema in the form that a target accepts (rules AL30 to AL39). It only
 * ever accepts more than the original, but for what the strict form demands: the call
 * service checks the arguments against the tool's own schema anyway.
 */
export function normalizeSchema(schema: unknown, target: SchemaTarget): NormalizedSchema {
  if (!isRecord(schema)) return normalize({}, target);
  const forms = known.get(schema) ?? new Map<SchemaTarget, NormalizedSchema>();
  known.set(schema, forms);
  const found = forms.get(target) ?? normalize(schema, target);
  forms.set(target, found);
  return found;
}

function normalize(schema: Schema, target: SchemaTarget): NormalizedSchema {
  const read = isDeeperThan(schema, LIMITS.jsonDepth) ? {} : asSchema(forModelDeep(schema));
  const run = new NormalRun(read, formOf(target));
  const root = makeRoot(run);
  const $defs = makeDefinitions(run);
  if (run.refusal !== undefined) return { ok: false, reason: run.refusal };
  const whole = { ...root, ...given({ $defs }) };
  // An adapter's cast: what was sent is passed on, loosened, to be judged by the API.
  return { ok: true, schema: whole as JSONSchema7, warnings: [...run.warnings] };
}

/** An object without a union, which is what each of the targets wants there. */
function makeRoot(run: NormalRun): Schema {
  const flat = flatten(run, run.root, [], false);
  const merged = flat && mergeUnion(run, flat);
  const { enum: _, const: __, $ref: ___, ...keywords } = merged?.keywords ?? {};
  const properties = asSchema(keywords.properties);
  const required = asTexts(keywords.required).filter((name) => Object.hasOwn(properties, name));
  const root = {
    ...keywords,
    type: 'object',
    properties,
    required: required.length === 0 ? undefined : required,
  };
  const named = withAcceptedNames(run, root);
  return makeFlat(run, { keywords: named, open: merged?.open ?? [] }, 0) ?? {};
}

function withAcceptedNames(run: NormalRun, root: Schema): Schema {
  const { rootNames } = run.form;
  const properties = Object.entries(asSchema(root.properties));
  const odd = properties
    .filter(([name]) => rootNames && !rootNames.test(name))
    .map(([name]) => name);
  if (odd.length === 0) return root;
  const shown = JSON.stringify(odd[0]?.slice(0, 64));
  if (odd.some((name) => asTexts(root.required).includes(name))) {
    run.refusal ??= `it requires the argument ${shown}, and the model's API takes no such name`;
  }
  run.warn(`Arguments are left out whose names are not taken, such as ${shown}.`);
  // They may still be given, so nothing may be said of others.
  const { additionalProperties: _, patternProperties: __, ...open } = root;
  return {
    ...open,
    properties: Object.fromEntries(properties.filter(([name]) => !odd.includes(name))),
  };
}

/** References lead to these schemas, which may refer to more. */
function makeDefinitions(run: NormalRun): Record<string, Schema> | undefined {
  const made: [string, Schema][] = [];
  for (const [target, name] of run.names) {
    made.push([name, makePart(run, target, { open: [], depth: 1 }) ?? {}]);
  }
  return made.length === 0 ? undefined : Object.fromEntries(made);
}

/** A part has a shape where it says of what kind its values are. */
const hasShape = (schema: Schema): boolean =>
  ['type', 'anyOf', '$ref', 'enum', 'const'].some((keyword) => schema[keyword] !== undefined);

/** The place of a part: what references led to it, and how deep it lies. */
interface Place {
  readonly open: Open;
  readonly depth: number;
}

/** The target's form of one part of a schema; null where nothing fits that part. */
function makePart(run: NormalRun, schema: unknown, { open, depth }: Place): Schema | null {
  run.partsLeft -= 1;
  if (depth > LIMITS.jsonDepth || run.partsLeft < 0) {
    run.warn('The schema is too large once its references are written out; parts of it are open.');
    return {};
  }
  const flat = flatten(run, schema, open);
  if (!flat) return null;
  const { properties, anyOf } = flat.keywords;
  const isUnionOfObjects = !run.form.unionsBeside && isRecord(properties) && anyOf !== undefined;
  return makeFlat(run, isUnionOfObjects ? mergeUnion(run, flat) : flat, depth);
}

/** The same of a part in one piece, whose union of objects is merged where it has to be. */
function makeFlat(run: NormalRun, flat: Flat, depth: number): Schema | null {
  const { form } = run;
  const keywords = withoutPrefix(run, splitValues(form, flat.keywords));
  const place = { open: flat.open, depth: depth + 1 };
  const union = makeUnion(run, keywords, place);
  if (union === null) return null;
  const isUnionAlone = union !== undefined && !form.unionsBeside;
  const made: Record<string, unknown> = {
    ...plainKeywords(form, keywords, isUnionAlone),
    ...(isUnionAlone ? {} : makeParts(run, keywords, place)),
    ...(union === undefined ? {} : { anyOf: union }),
    ...referenceOf(run, keywords),
  };
  const described = describeRest(run, keywords, made);
  return form.isStrict ? strictPart(run, keywords, described) : described;
}

function referenceOf(run: NormalRun, { $ref }: Schema): Schema {
  const name = isRecord($ref) ? run.names.get($ref) : undefined;
  return name === undefined ? {} : { $ref: `#/$defs/${name}` };
}

/** Undefined without a union that the target takes here; null when nothing fits any of it. */
function makeUnion(
  run: NormalRun,
  keywords: Schema,
  place: Place,
): readonly Schema[] | null | undefined {
  const branches = asList(keywords.anyOf);
  if (branches.length === 0) return undefined;
  const made = branches.map((one) => makePart(run, one, place)).filter((one) => one !== null);
  if (made.length === 0) return null;
  // Forms without a type say something about the one that is beside them.
  const isAbout = keywords.type !== undefined && !made.every(hasShape);
  return isAbout && !run.form.unionsBeside ? undefined : made;
}

/** The values of these keywords are schemas. */
const PARTS = {
  properties: 'map',
  patternProperties: 'map',
  prefixItems: 'list',
  items: 'part',
  propertyNames: 'part',
  additionalProperties: 'others',
} as const;

function makeParts(run: NormalRun, keywords: Schema, place: Place): Schema {
  const part = (value: unknown) => makePart(run, value, place);
  const ways = {
    map(value: unknown) {
      const parts = Object.entries(asSchema(value)).map(
        ([name, one]) => [name, part(one)] as const,
      );
      return isRecord(value) ? Object.fromEntries(parts.filter(([, one]) => one)) : undefined;
    },
    list: (value: unknown) =>
      Array.isArray(value) ? value.map((one) => part(one) ?? {}) : undefined,
    part: (value: unknown) => part(value) ?? {},
    others: (value: unknown) => (typeof value === 'boolean' ? value : (part(value) ?? false)),
  };
  // OpenAI refuses an array that does not say what it holds (AL34).
  const whole = typesOf(keywords.type).includes('array') ? { items: {}, ...keywords } : keywords;
  const made = Object.entries(PARTS).flatMap(([keyword, way]) => {
    const value: unknown = Reflect.get(whole, keyword);
    const isTaken = value !== undefined && run.form.keywords.has(keyword);
    return isTaken ? [[keyword, ways[way](value)] as const] : [];
  });
  const parts = Object.fromEntries(made.filter(([, value]) => value !== undefined));
  return { ...parts, ...requiredOf(run, keywords, parts) };
}

/** Some refuse names that no property has. */
function requiredOf({ form }: NormalRun, keywords: Schema, made: Schema): Schema {
  const known = asSchema(made.properties);
  const names = new Set(asTexts(keywords.required));
  const kept = [...names].filter((name) => form.unionsBeside || Object.hasOwn(known, name));
  return kept.length === 0 ? {} : { required: kept };
}

/** The first items and the rest as one kind of item, where a list's places have no schemas of their own. */
function withoutPrefix({ form }: NormalRun, keywords: Schema): Schema {
  const { prefixItems, ...rest } = keywords;
  if (!Array.isArray(prefixItems) || form.keywords.has('prefixItems')) return keywords;
  const isClosed = typeof rest.maxItems === 'number' && rest.maxItems <= prefixItems.length;
  const others = isClosed ? [] : [rest.items ?? {}];
  return { ...rest, items: { anyOf: [...prefixItems, ...others] } };
}

/** These say something about values, so that the model should read those that are left out. */
const CONSTRAINTS = [
  'enum const format pattern minLength maxLength minimum maximum exclusiveMinimum',
  'exclusiveMaximum multipleOf minItems maxItems uniqueItems minProperties maxProperties',
  'propertyNames patternProperties additionalProperties anyOf not if then else',
  'dependentRequired dependentSchemas default',
].flatMap((words) => words.split(' '));

const MOST_CHARS = 300;

/** The part with what it could not hold, as JSON in its description. The check of the arguments holds all of it. */
function describeRest(run: NormalRun, keywords: Schema, made: Schema): Schema {
  const rest = CONSTRAINTS.filter(
    (keyword) =>
      keywords[keyword] !== undefined &&
      made[keyword] === undefined &&
      (keyword !== 'additionalProperties' || isRecord(keywords[keyword])),
  );
  if (rest.length === 0) return made;
  for (const keyword of rest)
    run.warn(`"${keyword}" is not taken here: what it says is at most in a description.`);
  const named = rest.map((keyword) => [keyword, keywords[keyword]] as const);
  const short = named.filter(([, value]) => JSON.stringify(value).length <= MOST_CHARS);
  const text = JSON.stringify(Object.fromEntries(short));
  if (short.length === 0 || text.length > 2 * MOST_CHARS) return made;
  const words = typeof made.description === 'string' ? `${made.description} ` : '';
  return { ...made, description: `${words}Also: ${text}` };
}

/** Values of these keywords are no schemas: each has one of these types. */
const PLAIN: ReadonlyMap<string, string> = new Map(
  Object.entries({
    string: 'title description format pattern contentEncoding contentMediaType',
    number:
      'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems minProperties maxProperties',
    boolean: 'uniqueItems deprecated readOnly writeOnly',
    list: 'enum examples',
    types: 'type',
    any: 'const default',
  }).flatMap(([kind, words]) => words.split(' ').map((keyword) => [keyword, kind] as const)),
);

function isOfKind(kind: string | undefined, value: unknown): boolean {
  if (kind === 'list') return Array.isArray(value);
  if (kind === 'types') return typesOf(value).length > 0;
  return kind === 'any' || typeof value === kind;
}

const BESIDE_A_UNION = new Set(['title', 'description', 'default']);

/** The target accepts these as they are; beside a union that stands alone, only words about it. */
function plainKeywords(form: TargetForm, keywords: Schema, isUnionAlone: boolean): Schema {
  const kept = Object.entries(keywords).filter(
    ([keyword, value]) =>
      value !== undefined &&
      form.keywords.has(keyword) &&
      isOfKind(PLAIN.get(keyword), value) &&
      (!isUnionAlone || BESIDE_A_UNION.has(keyword)) &&
      isAcceptedValue(form, keyword, value),
  );
  return Object.fromEntries(kept);
}

function isAcceptedValue({ formats, enumTypes }: TargetForm, keyword: string, value: unknown) {
  if (keyword === 'format') return formats === null || formats.has(String(value));
  if (keyword !== 'enum' || enumTypes === null || !Array.isArray(value)) return true;
  // An empty text among the values is refused by some.
  return value.every((one) => one !== '' && enumTypes.has(typeOfValue(one)));
}

const CASES = ['if', 'dependentSchemas'];

/**
 * OpenAI's strict form of a part that is otherwise made: an object lists all its
 * names and requires each, so one that may be left out may be null instead.
 */
function strictPart(run: NormalRun, keywords: Schema, made: Schema): Schema {
  if (!hasShape(made)) return refuse(run, made, 'it takes a value of any type');
  // A case may name more arguments, which a list of all names would forbid.
  if (CASES.some((keyword) => keywords[keyword] !== undefined)) {
    return refuse(run, made, 'what it takes depends on its other arguments');
  }
  if (!typesOf(made.type).includes('object')) return made;
  const { additionalProperties: others, patternProperties } = keywords;
  const isOpen = isRecord(patternProperties) || (others !== undefined && others !== false);
  if (isOpen || (made.properties === undefined && others === undefined)) {
    return refuse(run, made, 'it takes an object whose names it does not list');
  }
  const required = new Set(asTexts(keywords.required));
  const properties = Object.entries(asSchema(made.properties)).map(
    ([name, one]) => [name, required.has(name) ? one : orNull(asSchema(one))] as const,
  );
  return {
    ...made,
    properties: Object.fromEntries(properties),
    required: properties.map(([name]) => name),
    additionalProperties: false,
  };
}

function refuse(run: NormalRun, made: Schema, reason: string): Schema {
  run.refusal ??= reason;
  return made;
}

function orNull(schema: Schema): Schema {
  const { type, anyOf, $ref, description, ...rest } = schema;
  const words = description === undefined ? {} : { description };
  if ($ref !== undefined) return { ...words, anyOf: [{ $ref }, { type: 'null' }] };
  if (anyOf !== undefined) return { ...schema, anyOf: [...asList(anyOf), { type: 'null' }] };
  const types = typesOf(type);
  if (types.includes('null')) return schema;
  const values = Array.isArray(rest.enum) ? { enum: [...rest.enum, null] } : {};
  return { ...schema, type: [...types, 'null'], ...values };
}
