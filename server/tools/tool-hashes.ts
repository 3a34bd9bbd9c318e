import { hash } from 'node:crypto';
import { canonicalJson } from '#lib/json/canonical-json';
import type { ToolAnnotations } from '#lib/protocol/tool-spec';

/** What two clients must agree on to be one pool, and what a person goes by who allows a call. */
export interface ToolHashes {
  /** Of the schema, whatever the order of its keys. */
  readonly schemaHash: string;
  /** Of all that is shown of the tool: name, title, description, schema, hints. */
  readonly toolHash: string;
}

export function hashesOf(tool: {
  readonly name: string;
  readonly displayName: string | undefined;
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly annotations: ToolAnnotations;
}): ToolHashes {
  const { name, displayName = null, description, schema, annotations } = tool;
  const schemaHash = sha256(schema);
  return {
    schemaHash,
    toolHash: sha256([name, displayName, description, schemaHash, annotations]),
  };
}

const sha256 = (value: unknown): string => hash('sha256', canonicalJson(value), 'base64url');
