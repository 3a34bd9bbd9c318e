import fc from 'fast-check';

/**
 * Keys that mean something to JavaScript, to React or to a promise, and those
 * by which viewers and forms recognize a shape.
 */
const KEYS = [
  ...['__proto__', 'toString', 'valueOf', 'constructor', 'hasOwnProperty', 'toJSON', 'then'],
  ...['$$typeof', 'length', 'key', 'ref', 'props', 'type', 'children', '', '0'],
  ...['columns', 'rows', 'name', 'coords', 'latitude', 'longitude', 'accuracy', 'location'],
  ...['place', 'current', 'temperature_c', 'humidity', 'wind', 'conditions', 'forecast'],
  ...['media_type', 'mode', 'title', 'description', 'properties', 'items', 'enum', 'default'],
  ...['required', 'examples', 'format', 'anyOf', '$ref', 'additionalProperties', 'maxLength'],
];

const TEXTS = ['', 'Bern', 'string', 'object', 'array', 'number', '#', 'a\u202eb\u{e0041}', '<b>x'];

const scalarText = fc.oneof(
  fc.constantFrom('null', 'true', 'false', '0', '-0', '1', '12.5', '1e308', '-180'),
  fc.constantFrom(...TEXTS).map((text) => JSON.stringify(text)),
  fc.string({ unit: 'binary', maxLength: 12 }).map((text) => JSON.stringify(text)),
);

const key = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...KEYS) }, fc.string());

/** JSON as text, so that a key `__proto__` comes as it would over the wire. */
const { value: jsonText } = fc.letrec<{ value: string; list: string; record: string }>((tie) => ({
  value: fc.oneof({ maxDepth: 4, depthSize: 'small' }, scalarText, tie('list'), tie('record')),
  list: fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
  record: entriesOf(tie('value')),
}));

function entriesOf(value: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .array(fc.tuple(key, value), { maxLength: 5 })
    .map((pairs) => `{${pairs.map(([name, one]) => `${JSON.stringify(name)}:${one}`).join(',')}}`);
}

/** Values of the shapes that viewers look for, with anything in the places they read. */
const shapedText = fc.oneof(
  fc
    .tuple(fc.array(jsonText, { maxLength: 3 }), fc.array(jsonText, { maxLength: 3 }))
    .map(([columns, rows]) => `{"columns":[${columns}],"rows":[${rows}]}`),
  fc
    .array(entriesOf(scalarText), { minLength: 1, maxLength: 4 })
    .map((rows) => `[${rows.join(',')}]`),
  entriesOf(scalarText).map((at) => `{"coords":{"latitude":1,"longitude":2},"x":${at}}`),
  jsonText.map((any) => `{"location":${any},"temperature_c":1,"wind":2,"forecast":[${any}]}`),
);

export const hostileJson: fc.Arbitrary<unknown> = fc
  .oneof({ weight: 2, arbitrary: jsonText }, { weight: 1, arbitrary: shapedText })
  .map((text) => JSON.parse(text));

export const hostileRecord: fc.Arbitrary<Record<string, unknown>> = entriesOf(jsonText).map(
  (text) => JSON.parse(text),
);

const keyword = fc.constantFrom(
  ...['title', 'description', 'default', 'enum', 'examples', 'format', 'items', 'properties'],
  ...[
    'required',
    'readOnly',
    'minLength',
    'multipleOf',
    'minimum',
    'pattern',
    'minItems',
    'uniqueItems',
  ],
);
const typeText = fc.constantFrom('string', 'number', 'integer', 'boolean', 'array', 'object');

/** A schema of a known type, with anything under the keywords that a form reads. */
const { schema: schemaText } = fc.letrec<{ schema: string }>((tie) => ({
  schema: fc
    .tuple(
      typeText,
      fc.dictionary(keyword, jsonText, { maxKeys: 3 }),
      fc.option(fc.tuple(key, tie('schema')), { nil: null, maxDepth: 3 }),
    )
    .map(([type, keywords, inner]) => {
      const entries = Object.entries(keywords).map(([name, value]) => `"${name}":${value}`);
      if (inner) entries.push(`"items":${inner[1]}`);
      if (inner) entries.push(`"properties":{${JSON.stringify(inner[0])}:${inner[1]}}`);
      return `{${[`"type":"${type}"`, ...entries].join(',')}}`;
    }),
}));

/** The schema of a tool whose properties have such schemas. */
export const hostileSchema: fc.Arbitrary<Record<string, unknown>> = fc
  .array(fc.tuple(key, schemaText), { minLength: 1, maxLength: 3 })
  .map((pairs) => pairs.map(([name, one]) => `${JSON.stringify(name)}:${one}`).join(','))
  .map((properties) => JSON.parse(`{"type":"object","properties":{${properties}}}`));

/** Small values that took the page down, or would in code that coerces what it is given. */
export const KNOWN_HOSTILE: readonly unknown[] = [
  '{"columns":[{"name":{"toString":1}}],"rows":[[1]]}',
  '{"columns":[{"toString":1}],"rows":[[1]]}',
  '{"columns":["__proto__","constructor"],"rows":[{"a":1},{"__proto__":2}]}',
  '[{"toString":1},{"a":2}]',
  '{"$$typeof":"Symbol(react.element)","type":"b","props":{}}',
  '{"then":1}',
  '{"toJSON":"x","length":-1}',
  '{"":{"":[]},"0":1}',
].map((text): unknown => JSON.parse(text));
