import type { JSONSchema7 } from '@ai-sdk/provider';
import { isRecord } from '#lib/json/is-record';
import { isDeeperThan } from '#lib/json/measure-json';
import { LIMITS } from '#lib/protocol/limits';
import { modernKeywords } from '#lib/schema/modern-keywords';
import { followPointer } from '#lib/schema/read-schema';
import { TYPE_WORDS, type TypeWord } from '#lib/schema/schema-node';
import { forModelDeep } from '#lib/text/for-model';
import { given } from '#lib/util/given';
import {
  asList,
  asSchema,
  asTexts,
  isClosed,
  merge,
  mergedProperty,
  namesToMerge,
  propertiesOf,
  type Schema,
  unique,
} from './merge-schemas.ts';
import {
  isTaken,
  isTakenValue,
  KEYWORDS,
  type SchemaTarget,
  TARGETS,
  type TargetForm,
  typeOfValue,
} from './schema-targets.ts';

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
  const source = asSchema(schema);
  const forms = known.get(source) ?? new Map<SchemaTarget, NormalizedSchema>();
  known.set(source, forms);
  const found = forms.get(target) ?? new Normalization(source, TARGETS[target]).result();
  forms.set(target, found);
  return found;
}

const MOST_PARTS = 1_000;
/** So many names are merged: a thousand references may lead to one part that has as many. */
const MOST_MERGED = 50_000;
const TOO_LARGE = 'The schema is too large with its references; parts of it are open.';
const MOST_WARNINGS = 20;
/** One reference is written out inside itself so often. */
const MOST_ROUNDS = 2;
/** A description gets no more of one keyword that is left out, and twice that in all. */
const MOST_CHARS = 300;

class Normalization {
  readonly #root: Schema;
  readonly #form: TargetForm;
  readonly #isWide: boolean;
  /** References lead to these schemas: each has its name in `$defs`. */
  readonly #names = new Map<Schema, string>();
  readonly #warnings = new Set<string>();
  #refusal: string | undefined;
  /** Parts that may still be made: references written out can grow beyond any bound. */
  #partsLeft = MOST_PARTS;
  #namesLeft = MOST_MERGED;

  constructor(source: Schema, form: TargetForm) {
    this.#root = isDeeperThan(source, LIMITS.jsonDepth) ? {} : asSchema(forModelDeep(source));
    this.#form = form;
    this.#isWide = form.dialect === 'wide';
  }

  result(): NormalizedSchema {
    const root = this.#makeRoot();
    const $defs: Record<string, Schema> = {};
    // These may refer to more, which are then made as well.
    for (const [target, name] of this.#names) $defs[name] = this.#part(target, []) ?? {};
    if (this.#refusal !== undefined) return { ok: false, reason: this.#refusal };
    const whole = this.#names.size === 0 ? root : { ...root, $defs };
    const warnings = [...this.#warnings].slice(0, MOST_WARNINGS);
    // An adapter's cast: what was sent is passed on, loosened, to be judged by the API.
    return { ok: true, schema: whole as JSONSchema7, warnings };
  }

  /** An object without a union, which is what each of the targets wants there. */
  #makeRoot(): Schema {
    const open: Schema[] = [];
    const flat = this.#flatten(this.#root, open, false) ?? {};
    const { enum: _, const: __, $ref: ___, ...root } = this.#mergeUnion(flat, open);
    const properties = asSchema(root.properties);
    const isOdd = (name: string) => this.#form.rootNames?.test(name) === false;
    const [odd] = [...asTexts(root.required), ...Object.keys(properties)].filter(isOdd);
    if (odd === undefined) return this.#write({ ...root, type: 'object', properties }, open) ?? {};
    const shown = JSON.stringify(odd.slice(0, 64));
    if (asTexts(root.required).includes(odd))
      this.#refusal ??= `it requires the argument ${shown}, and the model's API takes no such name`;
    this.#warnings.add(`Arguments are left out whose names are not taken, such as ${shown}.`);
    const taken = Object.entries(properties).filter(([name]) => !isOdd(name));
    // The others may still be given, so nothing may be said of those that are not named.
    const without = { additionalProperties: undefined, patternProperties: undefined };
    const named = { ...root, ...without, type: 'object', properties: Object.fromEntries(taken) };
    return this.#write(named, open) ?? {};
  }

  /**
   * A schema in one piece: no `allOf`, no `oneOf`, and no reference that the target would not
   * accept; null when nothing fits it. A `$ref` that is kept is the schema that it leads to.
   */
  #flatten(schema: unknown, open: Schema[], mayRefer = true): Schema | null {
    if (schema === false) return null;
    const { allOf, $ref, ...own } = inPlainWords(asSchema(schema));
    const parts = asList(allOf);
    const [only] = parts;
    // One part and words about it: what old generators write for a reference with a description.
    if (isRecord(only) && parts.length === 1 && $ref === undefined && isForPeople(own))
      return this.#flatten({ ...only, ...own }, open, mayRefer);
    let flat = typeof $ref === 'string' ? this.#withRef(own, $ref, open, mayRefer) : own;
    // The later parts are usually the narrower ones.
    for (const part of parts.toReversed()) {
      // A reference that is kept cannot be merged with anything.
      const next = this.#flatten(part, open, false);
      flat = flat && next && this.#merge(flat, next);
    }
    return flat;
  }

  #withRef(own: Schema, ref: string, open: Schema[], mayRefer: boolean): Schema | null {
    const place = ref.startsWith('#') ? followPointer(this.#root, ref.slice(1)) : undefined;
    const target = ref === '#' ? this.#root : place;
    if (target === false) return null;
    if (!isRecord(target)) return own;
    // The strict form takes nothing beside it.
    if (mayRefer && isTaken(this.#form, '$ref') && (this.#isWide || isForPeople(own))) {
      this.#names.set(target, this.#names.get(target) ?? this.#freeName(ref));
      return { ...own, $ref: target };
    }
    if (open.filter((one) => one === target).length >= MOST_ROUNDS) {
      this.#warnings.add('A schema that refers to itself is written out twice, and open below.');
      return own;
    }
    open.push(target);
    const next = this.#flatten(target, open, false);
    return next && this.#merge(own, next);
  }

  /** Both in one; where that is too much work the first alone, which accepts more. */
  #merge(first: Schema, second: Schema): Schema {
    if (this.#namesLeft > 0) {
      this.#namesLeft -= namesToMerge(first, second);
      return merge(first, second);
    }
    this.#warnings.add(TOO_LARGE);
    return first;
  }

  /** After the last word of the place, e.g. `point` of `#/$defs/point`. */
  #freeName(ref: string): string {
    const word = ref.slice(ref.lastIndexOf('/') + 1).replaceAll(/[^A-Za-z0-9_-]+/g, '_');
    const taken = new Set(this.#names.values());
    let name = word.slice(0, 48);
    for (let number = 2; taken.has(name); number += 1) name = `${word.slice(0, 48)}_${number}`;
    return name;
  }

  /**
   * An object of several forms as one object (rule AL30): for targets, and places,
   * that take no union of objects. It requires what each of the forms does.
   */
  #mergeUnion({ anyOf, ...base }: Schema, open: Schema[]): Schema {
    const opened = new Set<Schema>();
    const forms = asList(anyOf).flatMap((one) => {
      const ofForm = [...open];
      const form = this.#flatten(one, ofForm, false);
      for (const target of ofForm.slice(open.length)) opened.add(target);
      const types = typesOf(form?.type);
      // What is no object fits nothing here.
      return form && (types.length === 0 || types.includes('object')) ? [form] : [];
    });
    open.push(...opened);
    const own = asSchema(base.properties);
    const byName = Map.groupBy(forms.flatMap(propertiesOf), ({ name }) => name);
    const openForms = forms.filter((one) => !isClosed(one)).length;
    const merged = [...byName].map(([name, having]) => {
      const { [name]: anyway = {} } = own;
      const isOpen = having.filter((one) => !one.isClosed).length < openForms;
      return [name, mergedProperty(having, isOpen ? [anyway] : [])];
    });
    const [common = [], ...others] = forms.map(({ required }) => new Set(asTexts(required)));
    const ofAll = [...common].filter((name) => others.every((one) => one.has(name)));
    return {
      ...base,
      properties: { ...own, ...Object.fromEntries(merged) },
      required: [...asTexts(base.required), ...ofAll],
    };
  }

  /** The target's form of one part; null where nothing fits it. `above`: references written out on the way there. */
  #part(schema: unknown, above: readonly Schema[]): Schema | null {
    this.#partsLeft -= 1;
    if (above.length > LIMITS.jsonDepth || this.#partsLeft < 0) {
      this.#warnings.add(TOO_LARGE);
      return {};
    }
    const open = [...above];
    const flat = this.#flatten(schema, open);
    if (!flat) return null;
    const isMerged = !this.#isWide && isRecord(flat.properties) && flat.anyOf !== undefined;
    return this.#write(isMerged ? this.#mergeUnion(flat, open) : flat, open);
  }

  /** Writes a part in one piece by the table of keywords. */
  #write(flat: Schema, open: readonly Schema[]): Schema | null {
    const form = this.#form;
    const full = withItems(form, splitTypes(form, splitValues(form, flat)));
    const union = this.#union(full, open);
    if (union === null) return null;
    const isUnionAlone = union !== undefined && !this.#isWide;
    const made: Record<string, unknown> = given({ anyOf: union });
    for (const [keyword, value] of Object.entries(full)) {
      if (value === undefined || (isUnionAlone && !FOR_PEOPLE.has(keyword))) continue;
      const written = isTaken(form, keyword) ? this.#value(keyword, value, open) : undefined;
      if (written !== undefined) made[keyword] = written;
    }
    // Some refuse names that no property has.
    const names = asSchema(made.properties);
    const required = unique(asTexts(full.required).filter((name) => Object.hasOwn(names, name)));
    if (required.length > 0) made.required = required;
    const described = this.#describeRest(full, made);
    return form.dialect === 'strict' ? this.#strictPart(full, described) : described;
  }

  /** Undefined without a union that the target takes here; null when nothing fits any of it. */
  #union({ anyOf, type }: Schema, open: readonly Schema[]): readonly Schema[] | null | undefined {
    const branches = asList(anyOf);
    if (branches.length === 0) return undefined;
    const made = branches.map((one) => this.#part(one, open)).filter((one) => one !== null);
    if (made.length === 0) return null;
    // Forms without a type say something about the one that is beside them.
    const isAbout = type !== undefined && !made.every(hasShape);
    return isAbout && !this.#isWide ? undefined : made;
  }

  #value(keyword: string, value: unknown, open: readonly Schema[]): unknown {
    if (keyword === '$ref')
      return isRecord(value) ? `#/$defs/${this.#names.get(value)}` : undefined;
    switch (KEYWORDS.get(keyword)?.kind) {
      case 'part':
        return this.#part(value, open) ?? {};
      case 'others':
        return typeof value === 'boolean' ? value : (this.#part(value, open) ?? false);
      case 'parts':
        return asList(value).map((one) => this.#part(one, open) ?? {});
      case 'map': {
        const entries = Object.entries(asSchema(value));
        const parts = entries.map(([name, one]) => [name, this.#part(one, open)] as const);
        return Object.fromEntries(parts.filter(([, one]) => one));
      }
      default:
        return isTakenValue(this.#form, keyword, value) ? value : undefined;
    }
  }

  /** The part with what it could not hold, as JSON in its description. The check of the arguments holds all of it. */
  #describeRest(full: Schema, made: Schema): Schema {
    const rest = Object.entries(full).filter(
      ([keyword, value]) =>
        value !== undefined &&
        made[keyword] === undefined &&
        KEYWORDS.get(keyword)?.isDescribed &&
        (keyword !== 'additionalProperties' || isRecord(value)),
    );
    for (const [keyword] of rest)
      this.#warnings.add(
        `"${keyword}" is not taken here: what it says is at most in a description.`,
      );
    const short = rest.filter(([, value]) => JSON.stringify(value).length <= MOST_CHARS);
    const text = JSON.stringify(Object.fromEntries(short));
    if (short.length === 0 || text.length > 2 * MOST_CHARS) return made;
    const words = typeof made.description === 'string' ? `${made.description} ` : '';
    return { ...made, description: `${words}Also: ${text}` };
  }

  /**
   * OpenAI's strict form of a part that is otherwise made: an object lists all its
   * names and requires each, so one that may be left out may be null instead.
   */
  #strictPart(full: Schema, made: Schema): Schema {
    if (!hasShape(made)) this.#refusal ??= 'it takes a value of any type';
    // A case may name more arguments, which a list of all names would forbid.
    if (full.if !== undefined || full.dependentSchemas !== undefined)
      this.#refusal ??= 'what it takes depends on its other arguments';
    if (!typesOf(made.type).includes('object')) return made;
    const { additionalProperties: others = made.properties === undefined } = full;
    if (others !== false || isRecord(full.patternProperties))
      this.#refusal ??= 'it takes an object whose names it does not list';
    const required = new Set(asTexts(full.required));
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
}

const typesOf = (type: unknown): readonly TypeWord[] =>
  TYPE_WORDS.filter((word) => [type].flat().includes(word));

/** These say nothing about values. */
const FOR_PEOPLE = new Set(['title', 'description', 'default', 'examples', '$comment']);

const isForPeople = (schema: Schema): boolean =>
  Object.keys(schema).every((keyword) => FOR_PEOPLE.has(keyword));

/** A part has a shape where it says of what kind its values are. */
const hasShape = (schema: Schema): boolean =>
  ['type', 'anyOf', '$ref', 'enum', 'const'].some((keyword) => schema[keyword] !== undefined);

/** Older drafts, `nullable`, `oneOf`, and `false` in place of items in words that hold for all targets. */
function inPlainWords({ nullable, ...schema }: Schema): Schema {
  if (nullable === true) return { anyOf: [schema, { type: 'null' }] };
  const { oneOf, items, ...modern } = modernKeywords(schema);
  // A value that fits exactly one of them fits one of them.
  const words: Schema = { ...modern, ...given({ anyOf: modern.anyOf ?? oneOf }) };
  if (items !== false) return { ...words, ...given({ items }) };
  const { length } = asList(words.prefixItems);
  return { ...words, maxItems: Math.min(length, Number(words.maxItems ?? length)) };
}

/** Values that `enum` may have here: those of each type for themselves. */
function splitValues({ enumTypes }: TargetForm, keywords: Schema): Schema {
  const { const: one, enum: listed, anyOf, type, ...rest } = keywords;
  const isConstant = Object.hasOwn(keywords, 'const');
  const values = unique(isConstant ? [one] : asList(listed));
  if (values.length === 0) return { ...rest, anyOf, type };
  if (!enumTypes) return { ...keywords, enum: isConstant ? undefined : values };
  const parts = [...Map.groupBy(values, typeOfValue)].map(([of, some]) =>
    of === 'null' ? { type: of } : { type: of, enum: some },
  );
  return parts.length === 1 ? { ...rest, ...parts[0] } : { ...rest, anyOf: parts };
}

/** A list of types as one form for each, where the target takes no such list. */
function splitTypes({ hasTypeLists }: TargetForm, { type, ...rest }: Schema): Schema {
  const types = typesOf(type);
  if (types.length < 2) return { type: types[0], ...rest };
  if (hasTypeLists) return { type: types, ...rest };
  // The union is kept; it holds whichever type it is.
  if (rest.anyOf !== undefined) return rest;
  const about = (wanted: TypeWord | null) =>
    Object.entries(rest).filter(([keyword]) => KEYWORDS.get(keyword)?.about === wanted);
  const forms = types.map((of) => ({
    type: of,
    ...Object.fromEntries(about(of === 'integer' ? 'number' : of)),
  }));
  return { ...Object.fromEntries(about(null)), anyOf: forms };
}

/** An array says what it holds (AL34): the first items and the rest are one kind of item where places have no schemas of their own. */
function withItems(form: TargetForm, { prefixItems, ...keywords }: Schema): Schema {
  const { items = {}, maxItems, type } = keywords;
  if (Array.isArray(prefixItems) && !isTaken(form, 'prefixItems')) {
    const isWhole = typeof maxItems === 'number' && maxItems <= prefixItems.length;
    return { ...keywords, items: { anyOf: isWhole ? prefixItems : [...prefixItems, items] } };
  }
  const isArray = typesOf(type).includes('array');
  return { ...keywords, ...given({ prefixItems, items: isArray ? items : undefined }) };
}

function orNull({ description, ...schema }: Schema): Schema {
  const isNullable = typesOf(schema.type).includes('null');
  const either = isNullable ? schema : { anyOf: [schema, { type: 'null' }] };
  return { ...either, ...given({ description }) };
}
