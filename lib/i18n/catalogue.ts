import type { Locale } from './locales.ts';
import enDevice from './messages/device/en.json';
import zhDevice from './messages/device/zh.json';
import enWorkbench from './messages/workbench/en.json';
import zhWorkbench from './messages/workbench/zh.json';

const en = { ...enWorkbench, browserTools: enDevice.own };
const zh = { ...zhWorkbench, browserTools: zhDevice.own };

/** Every text of the workbench, by language. A key that one of the two lacks does not compile. */
export const catalogue = { en, zh } satisfies Record<Locale, typeof en & typeof zh>;
