import { useEffect, useLayoutEffect, useRef } from 'react';
// Relative: in the package these types are found without `#lib`.
import { callboard } from '../../lib/client/page/module.ts';
import type { Callboard } from '../../lib/client/page/page-callboard.ts';
import type { PageTool } from '../../lib/client/page/page-tool.ts';

/**
 * Offers a tool for as long as the component is mounted; with null, none. A call runs the
 * `execute` of the newest render. Registered anew is only what has another name, description,
 * schema or hint, compared by its JSON: an object made by each render is no change.
 */
export function useTool<Args extends object = Record<string, unknown>>(
  tool: PageTool<Args> | null,
  client: Pick<Callboard, 'tool'> = callboard,
): void {
  const latest = useRef(tool);
  // Before any call can come: the registration below happens later.
  useLayoutEffect(() => {
    latest.current = tool ?? latest.current;
  });
  const spec = tool && JSON.stringify({ ...tool, execute: undefined });
  useEffect(() => {
    if (spec === null) return undefined;
    return client.tool<Args>({
      ...JSON.parse(spec),
      execute: (args, context) => latest.current?.execute(args, context),
    });
  }, [client, spec]);
}
