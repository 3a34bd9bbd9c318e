import type { CheckRun, Path, Seen } from './check-run.ts';
import type { SchemaNode } from './schema-node.ts';

/** Judges `value` by `node`; the checkers get it as an argument, so that no two files need each other. */
export type Evaluate = (
  node: SchemaNode,
  value: unknown,
  path: Path | null,
  run: CheckRun,
  seen: Seen | undefined,
) => boolean;
