/** `callboard/client`: the client of a page, for code that is bundled. */
import { pageCallboard } from './browser-page.ts';
import type { Callboard } from './page-callboard.ts';

export type { ClientToolContext } from '../client-tool.ts';
export { ToolFailure } from '../client-tool.ts';
export type { Callboard, ConnectOptions, PageStatus } from './page-callboard.ts';
export type { PageTool } from './page-tool.ts';

export const callboard: Callboard = pageCallboard();
