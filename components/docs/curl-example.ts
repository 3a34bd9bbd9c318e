import { type ApiOperation, fieldsOf, type JsonObject, toObject, typeOf } from './api-document.ts';

/** A command that can be pasted into a shell; parts of the path to fill in stay as `{name}`. */
export function curlExample(operation: ApiOperation, origin: string): string {
  const lines = [
    `curl ${operation.method === 'GET' ? '' : `-X ${operation.method} `}'${origin}${operation.path}'`,
  ];
  if (!operation.open) lines.push(`-H "Authorization: Bearer $CALLBOARD_TOKEN"`);
  if (operation.body) {
    lines.push(`-H 'Content-Type: application/json'`);
    lines.push(`-d '${JSON.stringify(exampleOf(operation.body)).replaceAll("'", `'\\''`)}'`);
  }
  return lines.join(' \\\n  ');
}

/** The smallest value that has what is required. */
export function exampleOf(schema: JsonObject): unknown {
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const [first] = [schema.anyOf ?? schema.oneOf].flat();
  if (first !== undefined) return exampleOf(toObject(first));
  switch (typeOf(schema).split(' ')[0]) {
    case 'object':
      return Object.fromEntries(
        fieldsOf(schema)
          .filter(([, , required]) => required)
          .map(([name, field]) => [name, exampleOf(field)]),
      );
    case 'string':
      return 'text';
    case 'number':
    case 'integer':
      return 1;
    case 'boolean':
      return true;
    case 'any':
      return {};
    default:
      return [];
  }
}
