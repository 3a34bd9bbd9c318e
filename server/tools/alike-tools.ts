import type { CheckedTool } from './tool-registry.ts';

/** The tools that are offered, those that are alike in all that is shown of them as one (TR19). */
export interface AlikeTools {
  find(key: string): CheckedTool | undefined;
  /** Of all of them. */
  readonly bytes: number;
  /** One more client offers it. */
  hold(tool: CheckedTool): void;
  /** One client fewer does. */
  release(key: string): void;
}

export function createAlikeTools(): AlikeTools {
  const byKey = new Map<string, { readonly tool: CheckedTool; holders: number }>();
  let bytes = 0;
  return {
    find: (key) => byKey.get(key)?.tool,
    get bytes() {
      return bytes;
    },
    hold(tool) {
      const known = byKey.get(tool.key);
      if (known) known.holders += 1;
      else {
        byKey.set(tool.key, { tool, holders: 1 });
        bytes += tool.bytes;
      }
    },
    release(key) {
      const known = byKey.get(key);
      if (!known) return;
      known.holders -= 1;
      if (known.holders > 0) return;
      byKey.delete(key);
      bytes -= known.tool.bytes;
    },
  };
}
