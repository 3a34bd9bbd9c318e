/**
 * The `Via` of each request that `http.request` sends. A Callboard refuses what has
 * it, however the request reached it: no address, name or proxy makes the tool a way
 * to a control plane.
 */
export const TOOL_VIA = '1.1 callboard-tool';

/** Proxies add themselves to `Via`, separated by commas. */
export const isSentByTool = (via: string | undefined): boolean =>
  (via ?? '').split(',').some((hop) => hop.trim() === TOOL_VIA);
