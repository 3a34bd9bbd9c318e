import { isRecord } from '#lib/json/is-record';
import { type NormalRun, type Schema, warn } from './normal-run.ts';

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
export function describeRest(run: NormalRun, keywords: Schema, made: Schema): Schema {
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
