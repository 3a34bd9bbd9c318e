import { inPlaceNodes, partNodes, type SchemaNode } from './schema-node.ts';
import type { SchemaRefusal } from './schema-reader.ts';

/** How many nodes may check values in all, when every reference is written out. */
const MAX_EXPANSION = 10_000;
/** References, `allOf` and the like one inside the other, for one value: each costs stack. */
const MAX_CHAIN = 64;

/**
 * Refuses schemas that never end or blow up: a cycle of references that passes
 * no property or item asks the same question of the same value for ever, and
 * references that double at each level cost 2^n per value. Cycles that pass a
 * property or an item end with the value and are fine.
 */
export function checkExpansion(root: SchemaNode): SchemaRefusal | undefined {
  const entries = [root];
  const known = new Set(entries);
  const open = new Set<SchemaNode>();
  let expansion = 0;

  const expand = (node: SchemaNode): SchemaRefusal | undefined => {
    if (open.has(node)) {
      return {
        code: 'schema_ref_cycle',
        message: 'A "$ref" leads back to itself; a cycle must pass a property or an item.',
      };
    }
    expansion += 1;
    if (expansion > MAX_EXPANSION || open.size >= MAX_CHAIN) {
      return {
        code: 'schema_too_large',
        message: `The schema grows too large when its references are followed; at most ${MAX_EXPANSION} parts, ${MAX_CHAIN} one in the other.`,
      };
    }
    for (const part of partNodes(node)) {
      if (known.has(part)) continue;
      known.add(part);
      entries.push(part);
    }
    open.add(node);
    for (const next of inPlaceNodes(node)) {
      const refusal = expand(next);
      if (refusal) return refusal;
    }
    open.delete(node);
  };

  for (const entry of entries) {
    const refusal = expand(entry);
    if (refusal) return refusal;
  }
}
