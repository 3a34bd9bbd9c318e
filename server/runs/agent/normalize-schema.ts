import type { JSONSchema7 } from '@ai-sdk/provider';
import { isRecord } from '#lib/json/is-record';
import { isDeeperThan } from '#lib/json/measure-json';
import { LIMITS } from '#lib/protocol/limits';
import { forModelDeep } from '#lib/text/for-model';
import { given } from '#lib/util/given';
import { flatten, mergeUnion } from './schema/flatten.ts';
import { makeFlat, makePart } from './schema/make-part.ts';
import {
  asSchema,
  asTexts,
  createNormalRun,
  formOf,
  type NormalRun,
  type Schema,
  type SchemaTarget,
  warn,
} from './schema/schema-target.ts';

export type NormalizedSchema =
  | {
      readonly ok: true;
      readonly schema: JSONSchema7;
      /** What the form could not hold, in sentences; at most 20. */
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
  const run = createNormalRun(read, formOf(target));
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
  warn(run, `Arguments are left out whose names are not taken, such as ${shown}.`);
  // They may still be given, so nothing may be said of others.
  const { additionalProperties: _, patternProperties: __, ...open } = root;
  return {
    ...open,
    properties: Object.fromEntries(properties.filter(([name]) => !odd.includes(name))),
  };
}

/** What references lead to, which may refer to more. */
function makeDefinitions(run: NormalRun): Record<string, Schema> | undefined {
  for (const [target, name] of run.names) {
    run.defs.set(name, makePart(run, target, { open: [], depth: 1 }) ?? {});
  }
  return run.defs.size === 0 ? undefined : Object.fromEntries(run.defs);
}
