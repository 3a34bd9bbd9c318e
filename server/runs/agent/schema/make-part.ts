import { isRecord } from '#lib/json/is-record';
import { LIMITS } from '#lib/protocol/limits';
import { type Flat, flatten, mergeUnion } from './flatten.ts';
import {
  asList,
  asSchema,
  asTexts,
  hasShape,
  type NormalRun,
  type Open,
  type Schema,
  type TargetForm,
  warn,
} from './schema-target.ts';
import { splitValues, typeOfValue, typesOf } from './split-values.ts';

/** The place of a part: what references led to it, and how deep it lies. */
interface Place {
  readonly open: Open;
  readonly depth: number;
}

/** The target's form of one part of a schema; null where nothing fits that part. */
export function makePart(run: NormalRun, schema: unknown, { open, depth }: Place): Schema | null {
  run.partsLeft -= 1;
  if (depth > LIMITS.jsonDepth || run.partsLeft < 0) {
    warn(run, 'The schema is too large once its references are written out; parts of it are open.');
    return {};
  }
  const flat = flatten(run, schema, open);
  if (!flat) return null;
  const { properties, anyOf } = flat.keywords;
  const isUnionOfObjects = !run.form.unionsBeside && isRecord(properties) && anyOf !== undefined;
  return makeFlat(run, isUnionOfObjects ? mergeUnion(run, flat) : flat, depth);
}

/** The same of a part in one piece, whose union of objects is merged where it has to be. */
export function makeFlat(run: NormalRun, flat: Flat, depth: number): Schema | null {
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
  return form.target === 'openai-strict' ? strictPart(run, keywords, described) : described;
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

/** The keywords whose values are schemas. */
function makeParts(run: NormalRun, keywords: Schema, place: Place): Schema {
  const { form } = run;
  const made: Record<string, unknown> = {};
  const part = (keyword: string) => makePart(run, keywords[keyword], place);
  const map = (keyword: string) =>
    Object.fromEntries(
      Object.entries(asSchema(keywords[keyword])).flatMap(([name, one]) => {
        const own = makePart(run, one, place);
        return own === null ? [] : [[name, own] as const];
      }),
    );
  for (const keyword of ['properties', 'patternProperties']) {
    if (isRecord(keywords[keyword]) && form.keywords.has(keyword)) made[keyword] = map(keyword);
  }
  if (form.keywords.has('prefixItems') && Array.isArray(keywords.prefixItems)) {
    made.prefixItems = keywords.prefixItems.map((one) => makePart(run, one, place) ?? {});
  }
  // OpenAI refuses an array that does not say what it holds (AL34).
  const isList = typesOf(keywords.type).includes('array');
  if (keywords.items !== undefined || isList) made.items = part('items') ?? {};
  if (form.keywords.has('propertyNames') && keywords.propertyNames !== undefined) {
    made.propertyNames = part('propertyNames') ?? {};
  }
  const { additionalProperties: others } = keywords;
  if (form.keywords.has('additionalProperties') && others !== undefined) {
    made.additionalProperties =
      typeof others === 'boolean' ? others : (part('additionalProperties') ?? false);
  }
  return { ...made, ...requiredOf(run, keywords, made) };
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

/** What is left out of these says something about values, so that the model should read it. */
const CONSTRAINTS = [
  ...['enum', 'const', 'format', 'pattern', 'minLength', 'maxLength', 'minimum', 'maximum'],
  ...['exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minItems', 'maxItems', 'uniqueItems'],
  ...['minProperties', 'maxProperties', 'propertyNames', 'patternProperties'],
  ...['additionalProperties', 'anyOf', 'not', 'if', 'then', 'else'],
  ...['dependentRequired', 'dependentSchemas', 'default'],
];

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
    warn(run, `"${keyword}" is not taken here: what it says is at most in a description.`);
  const named = rest.map((keyword) => [keyword, keywords[keyword]] as const);
  const short = named.filter(([, value]) => JSON.stringify(value).length <= MOST_CHARS);
  const text = JSON.stringify(Object.fromEntries(short));
  if (short.length === 0 || text.length > 2 * MOST_CHARS) return made;
  const words = typeof made.description === 'string' ? `${made.description} ` : '';
  return { ...made, description: `${words}Also: ${text}` };
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean => typeof value === 'number';
const isFlag = (value: unknown): boolean => typeof value === 'boolean';
const isAny = (): boolean => true;

/** Keywords whose value is no schema, and the kind that it has. */
const PLAIN: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ...['title', 'description', 'format', 'pattern', 'contentEncoding', 'contentMediaType'].map(
    (keyword) => [keyword, isText] as const,
  ),
  ...[
    ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
    ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'],
  ].map((keyword) => [keyword, isNumber] as const),
  ...['uniqueItems', 'deprecated', 'readOnly', 'writeOnly'].map(
    (keyword) => [keyword, isFlag] as const,
  ),
  ['type', (value) => typesOf(value).length > 0],
  ['enum', Array.isArray],
  ['examples', Array.isArray],
  ['const', isAny],
  ['default', isAny],
]);

const BESIDE_A_UNION = new Set(['title', 'description', 'default']);

/** Those that the target accepts as they are; beside a union that stands alone, only words about it. */
function plainKeywords(form: TargetForm, keywords: Schema, isUnionAlone: boolean): Schema {
  const kept = Object.entries(keywords).filter(
    ([keyword, value]) =>
      value !== undefined &&
      form.keywords.has(keyword) &&
      PLAIN.get(keyword)?.(value) === true &&
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
  // What holds in one case only may name more arguments, which a list of all names would forbid.
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
