import { isRecord } from '#lib/json/is-record';
import { LIMITS } from '#lib/protocol/limits';
import { describeRest } from './describe-rest.ts';
import { type Flat, flatten } from './flatten.ts';
import { mergeUnion } from './merge-union.ts';
import {
  asList,
  asSchema,
  asTexts,
  hasShape,
  type NormalRun,
  type Open,
  type Schema,
  warn,
} from './normal-run.ts';
import { plainKeywords } from './plain-keywords.ts';
import { splitValues, typesOf } from './split-values.ts';
import { strictPart } from './strict-part.ts';

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
