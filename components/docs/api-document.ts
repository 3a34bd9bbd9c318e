import { isRecord } from '#lib/json/is-record';

/** What the reference shows of an OpenAPI document: only what ours has. */
export interface ApiParameter {
  readonly name: string;
  readonly place: string;
  readonly required: boolean;
  readonly type: string;
}

export interface ApiAnswer {
  /** An HTTP status, or `default`. */
  readonly status: string;
  readonly description: string;
  readonly schema: JsonObject | undefined;
}

export interface ApiOperation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly open: boolean;
  readonly parameters: readonly ApiParameter[];
  readonly body: JsonObject | undefined;
  readonly answers: readonly ApiAnswer[];
}

export interface ApiGroup {
  readonly name: string;
  readonly operations: readonly ApiOperation[];
}

export type JsonObject = Readonly<Record<string, unknown>>;

/** The document's operations by group, in its own order. What is not there is left out. */
export function readDocument(document: unknown): ApiGroup[] {
  const groups = new Map<string, ApiOperation[]>();
  for (const [path, methods] of Object.entries(toObject(toObject(document).paths))) {
    for (const [method, operation] of Object.entries(toObject(methods))) {
      const details = toObject(operation);
      const name = toText(toArray(details.tags)[0]);
      groups.set(name, [...(groups.get(name) ?? []), readOperation(path, method, details)]);
    }
  }
  return [...groups].map(([name, operations]) => ({ name, operations }));
}

function readOperation(path: string, method: string, details: JsonObject): ApiOperation {
  return {
    id: toText(details.operationId),
    method: method.toUpperCase(),
    path,
    summary: toText(details.summary),
    description: toText(details.description),
    open: toArray(details.security).length === 0,
    parameters: toArray(details.parameters).map((one) => readParameter(toObject(one))),
    body: readContent(toObject(details.requestBody)),
    answers: Object.entries(toObject(details.responses)).map(([status, answer]) => ({
      status,
      description: toText(toObject(answer).description),
      schema: readContent(toObject(answer)),
    })),
  };
}

const readParameter = (parameter: JsonObject): ApiParameter => ({
  name: toText(parameter.name),
  place: toText(parameter.in),
  required: parameter.required === true,
  type: typeOf(toObject(parameter.schema)),
});

function readContent(holder: JsonObject): JsonObject | undefined {
  const { schema } = toObject(toObject(holder.content)['application/json']);
  return schema === undefined ? undefined : toObject(schema);
}

/** A schema's type in a few words: `string`, `integer | null`, `a | b`, `string[]`. */
export function typeOf(schema: JsonObject): string {
  if (Array.isArray(schema.enum)) return schema.enum.map((one) => JSON.stringify(one)).join(' | ');
  const either = toArray(schema.anyOf ?? schema.oneOf).map((one) => typeOf(toObject(one)));
  if (either.length > 0) return [...new Set(either)].join(' | ');
  const types = [schema.type].flat().filter((type) => typeof type === 'string');
  if (types.length === 0) return 'any';
  return types
    .map((type) => (type === 'array' ? `${typeOf(toObject(schema.items))}[]` : type))
    .join(' | ');
}

/** The fields of an object schema; those of its items for a list. */
export function fieldsOf(
  schema: JsonObject,
): readonly [name: string, JsonObject, required: boolean][] {
  const holder = schema.properties === undefined ? toObject(schema.items) : schema;
  const required = toArray(holder.required);
  return Object.entries(toObject(holder.properties)).map(([name, field]) => [
    name,
    toObject(field),
    required.includes(name),
  ]);
}

export const toObject = (value: unknown): JsonObject => (isRecord(value) ? value : {});

const toArray = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const toText = (value: unknown): string => (typeof value === 'string' ? value : '');
