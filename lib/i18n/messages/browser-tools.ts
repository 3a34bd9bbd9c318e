import type { AreaMessages } from '../area-messages.ts';
import { en } from './browser-tools/en.ts';
import { zh } from './browser-tools/zh.ts';

/** The tools of a browser, by their names with `_` for `.`: for switches, and for what they ask. */
export const browserTools = { en, zh } as const satisfies AreaMessages;
