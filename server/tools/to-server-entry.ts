import { z } from 'zod';
import { compileToolSchema } from '#lib/schema/compile-tool-schema';
import type { AnyServerTool } from './define-tool.ts';
import { hashesOf } from './tool-hashes.ts';
import type { ServerToolEntry } from './tool-registry.ts';

/**
 * Turns a server tool's zod schema into the JSON Schema that is listed, and its
 * check out of that one, so that arguments are repaired as a client tool's are.
 * Throws when the schema cannot be listed: that is a defect of ours.
 */
export function toServerEntry(tool: AnyServerTool): ServerToolEntry {
  // `input`: what has a default need not be given.
  const { $schema: _, ...schema } = z.toJSONSchema(tool.args, { io: 'input' });
  const compiled = compileToolSchema(schema);
  if (!compiled.ok) throw new Error(`The schema of ${tool.name} is wrong: ${compiled.message}`);
  const { timeoutMs, displayName } = tool;
  const annotations = { readOnlyHint: tool.effect === 'read' };
  return {
    source: 'server',
    clientId: null,
    tool,
    schema,
    annotations,
    timeoutMs,
    displayName,
    check: compiled.check,
    ...hashesOf({ ...tool, schema, annotations }),
  };
}
