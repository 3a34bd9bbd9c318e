/**
 * The JSON Schema that a tool may use: a subset of 2020-12, documented in
 * docs/tool-schemas.md. A keyword that is in no list here is an annotation, as
 * JSON Schema has it (section 6.5 of its core): it is kept and checks nothing.
 */

/** Their value is a list of schemas. */
export const SCHEMA_LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'] as const;
/** Their value is one schema. */
export const SCHEMAS = ['not', 'items', 'additionalProperties', 'propertyNames'] as const;
/** Their value is one schema, which says what else holds for the same value. */
export const CONDITIONS = ['if', 'then', 'else'] as const;
/** Their value maps names to schemas that a `$ref` may point to. */
export const DEFINITIONS = ['$defs', 'definitions'] as const;
export const NUMBERS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'] as const;
export const COUNTS = [
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
] as const;

/** All keywords that are checked, those above included. */
export const CHECKED_KEYWORDS = [
  ...['type', 'enum', 'const', '$ref', ...DEFINITIONS],
  ...['properties', 'patternProperties', 'required'],
  ...SCHEMAS,
  ...SCHEMA_LISTS,
  ...[...CONDITIONS, 'dependentRequired', 'dependentSchemas'],
  ...NUMBERS,
  ...['multipleOf', 'pattern', 'format', 'uniqueItems'],
  ...COUNTS,
];

/** Annotations that programs read, by the kind of their value; another kind is refused. `default` may be any value. */
export const ANNOTATION_TEXTS = [
  ...['title', 'description', '$comment', '$id', '$schema', '$anchor'],
  ...['contentEncoding', 'contentMediaType'],
];
export const ANNOTATION_FLAGS = ['deprecated', 'readOnly', 'writeOnly', 'x-sensitive'];

const ITEMS = 'write "items", and "prefixItems" for the first ones';

/** Keywords that would have to be checked and are not, with what to write instead. */
export const REFUSED_KEYWORDS: ReadonlyMap<string, string> = new Map([
  ['dependencies', 'write "dependentRequired" for lists of names, "dependentSchemas" for schemas'],
  ['unevaluatedProperties', 'write all properties in one schema with "additionalProperties"'],
  ...['unevaluatedItems', 'additionalItems'].map((keyword) => [keyword, ITEMS] as const),
  ...['contains', 'minContains', 'maxContains'].map((keyword) => [keyword, ITEMS] as const),
  ...['$dynamicRef', '$recursiveRef'].map(
    (keyword) => [keyword, 'write "$ref" with a place in the schema (#/$defs/…)'] as const,
  ),
  ['nullable', 'write "type": ["string", "null"]'],
]);
