export interface JsonTextLimits {
  readonly maxDepth: number;
  readonly maxNodes: number;
}

export type JsonTextCheck =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: 'depth' | 'nodes' };

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Looks over JSON text before it is parsed, in one pass and without memory of
 * its own: `[` five thousand times parses, and then breaks whatever walks it.
 * Nodes are counted as commas and brackets, which is never less than the values
 * that are not a first child. Whether the text is JSON at all is for the parser.
 */
export function checkJsonText(text: string, limits: JsonTextLimits): JsonTextCheck {
  let depth = 0;
  let nodes = 1;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
    } else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      depth += 1;
      nodes += 1;
      if (depth > limits.maxDepth) return { ok: false, reason: 'depth' };
      if (nodes > limits.maxNodes) return { ok: false, reason: 'nodes' };
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
      depth -= 1;
    } else if (code === COMMA) {
      nodes += 1;
      if (nodes > limits.maxNodes) return { ok: false, reason: 'nodes' };
    }
  }
  return { ok: true };
}

/** Place of the quote that ends the string begun at `start`; the end of the text when there is none. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end >= 0) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
}
