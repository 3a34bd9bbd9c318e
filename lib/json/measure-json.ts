export interface JsonLimits {
  /** UTF-8 bytes of the compact JSON text, escapes not counted. */
  readonly maxBytes: number;
  readonly maxDepth: number;
  readonly maxNodes: number;
}

export type JsonFault = 'bytes' | 'depth' | 'nodes' | 'proto' | 'not_json';

/** UTF-8 length of `text`; a lone surrogate counts like the three bytes that replace it. */
function utf8Length(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code < 0x80) continue;
    // Half of a surrogate pair stands for two of its four bytes.
    bytes += code < 0x800 || (code >= 0xd800 && code <= 0xdfff) ? 1 : 2;
  }
  return bytes;
}

/**
 * Walks a value as far as the limits allow and names the first one it breaks.
 * Keys called `__proto__` are a fault of their own: code that copies by
 * assignment would change a prototype. Safe for cyclic values: the depth ends them.
 */
export function measureJson(root: unknown, limits: JsonLimits): JsonFault | undefined {
  let bytes = 0;
  let nodes = 0;
  const visit = (value: unknown, depth: number): JsonFault | undefined => {
    nodes += 1;
    if (nodes > limits.maxNodes) return 'nodes';
    if (typeof value === 'object' && value !== null) {
      if (depth >= limits.maxDepth) return 'depth';
      const fault = Array.isArray(value) ? visitItems(value, depth) : visitEntries(value, depth);
      if (fault) return fault;
    } else {
      const size = scalarBytes(value);
      if (size === undefined) return 'not_json';
      bytes += size;
    }
    bytes += 1;
    return bytes > limits.maxBytes ? 'bytes' : undefined;
  };
  const visitItems = (list: readonly unknown[], depth: number) => {
    bytes += 1;
    for (let i = 0; i < list.length; i += 1) {
      const fault = visit(list[i], depth + 1);
      if (fault) return fault;
    }
  };
  const visitEntries = (record: object, depth: number) => {
    bytes += 1;
    for (const [key, value] of Object.entries(record)) {
      if (key === '__proto__') return 'proto';
      bytes += key.length + 3;
      const fault = visit(value, depth + 1);
      if (fault) return fault;
    }
  };
  return visit(root, 0);
}

function scalarBytes(value: unknown): number | undefined {
  if (typeof value === 'string') return utf8Length(value) + 2;
  if (typeof value === 'number') return Number.isFinite(value) ? String(value).length : undefined;
  if (typeof value === 'boolean' || value === null) return 4;
  return undefined;
}
