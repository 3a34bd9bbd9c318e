import { isRecord } from '#lib/json/is-record';
import { asList, asSchema, asTexts, hasShape, type NormalRun, type Schema } from './normal-run.ts';
import { typesOf } from './split-values.ts';

const CASES = ['if', 'dependentSchemas'];

/**
 * OpenAI's strict form of a part that is otherwise made: an object lists all its
 * names and requires each, so one that may be left out may be null instead.
 */
export function strictPart(run: NormalRun, keywords: Schema, made: Schema): Schema {
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
