import { z } from 'zod';
import { compileToolSchema } from '#lib/schema/compile-tool-schema';
import type { AnyServerTool } from './define-tool.ts';
import { hashesOf } from './tool-hashes.ts';
import type { ProvidedTool } from './tool-provider.ts';

/**
 * Turns a server tool's zod schema into the JSON Schema that is listed, and its
 * check out of that one, so that arguments are repaired as a client tool's are.
 * Throws when the schema cannot be listed: that is a defect of ours.
 */
export function toProvidedTool(tool: AnyServerTool): ProvidedTool {
  // `input`: what has a default need not be given.
  const { $schema: _, ...schema } = z.toJSONSchema(tool.args, {
    ...{ io: 'input', unrepresentable: coercedDate },
  });
  const compiled = compileToolSchema(schema);
  if (!compiled.ok) throw new Error(`The schema of ${tool.name} is wrong: ${compiled.message}`);
  const { name, timeoutMs, displayName, description, neverAlways, question, operands, endsTurn } =
    tool;
  const annotations = { readOnlyHint: tool.effect === 'read', ...tool.annotations };
  const shown = { name, displayName, description, schema, annotations };
  return {
    ...{ ...shown, ...hashesOf(shown), timeoutMs, neverAlways, question, operands, endsTurn },
    ...{ check: compiled.check, withhold: compiled.withhold },
  };
}

type Unrepresentable = Extract<
  NonNullable<z.core.ToJSONSchemaParams['unrepresentable']>,
  (...given: never[]) => unknown
>;

/** A date that is coerced comes as text. What else JSON cannot hold would never be valid. */
const coercedDate: Unrepresentable = ({ zodSchema: { _zod } }) =>
  _zod.def.type === 'date' && 'coerce' in _zod.def && _zod.def.coerce === true
    ? { type: 'string', format: 'date-time' }
    : 'throw';
