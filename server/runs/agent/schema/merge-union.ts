import { canonicalJson } from '#lib/json/canonical-json';
import { isRecord } from '#lib/json/is-record';
import { given } from '#lib/util/given';
import { type Flat, flatten } from './flatten.ts';
import { asList, asSchema, asTexts, type NormalRun, type Schema } from './normal-run.ts';

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
    // Of `kind: string` and a constant for each form, the constants tell more.
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

/** What the base requires, and what each of the forms does. */
function mergeRequired(base: Schema, branches: readonly Schema[]): string[] | undefined {
  const [first, ...others] = branches.map(({ required }) => asTexts(required));
  const common = (first ?? []).filter((name) => others.every((one) => one.includes(name)));
  const required = [...new Set([...asTexts(base.required), ...common])];
  return required.length === 0 ? undefined : required;
}
