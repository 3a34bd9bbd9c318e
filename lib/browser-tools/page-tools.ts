import { type ClientToolDefinition, ToolFailure } from '../client/client-tool.ts';
import { defineClientTool, integer, optional, string } from '../client/tool-arguments.ts';
import type { BrowserEnv, EnvOf } from './create-browser-env.ts';
import { withTouch } from './with-touch.ts';

/** The text that the page shows. */
export const createPageTextTool = ({ page }: Pick<BrowserEnv, 'page'>): ClientToolDefinition =>
  defineClientTool({
    name: 'page.text',
    displayName: 'Page text',
    description: 'Reads the visible text of the page in this tab, or of one element of it.',
    annotations: { readOnlyHint: true, openWorldHint: false },
    timeoutMs: 5_000,
    args: {
      selector: optional(string({ max: 1_000, description: 'CSS selector of the element.' })),
      max_chars: integer({
        min: 1,
        max: 200_000,
        default: 20_000,
        description: 'Cut after this many characters.',
      }),
    },
    run({ selector, max_chars }) {
      const text = read(page, selector);
      if (text === undefined) {
        throw new ToolFailure('unavailable', `Nothing in the page fits the selector ${selector}.`);
      }
      const truncated = text.length > max_chars;
      const { title, url } = page;
      return {
        output: { title, url, text: text.slice(0, max_chars), chars: text.length, truncated },
      };
    },
  });

function read(page: BrowserEnv['page'], selector: string | undefined): string | undefined {
  try {
    return page.text(selector);
  } catch {
    throw new ToolFailure('invalid_args', `${selector} is not a CSS selector.`);
  }
}

/** Opens a page of the web beside this one. */
export const createPageOpenTool = ({
  windows,
  prompts,
}: EnvOf<'windows' | 'prompts'>): ClientToolDefinition =>
  defineClientTool({
    name: 'page.open',
    displayName: 'Open page',
    description:
      'Opens a web address in a new window of this browser, after a touch of the person. What that page shows is not reported.',
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
    timeoutMs: 30_000,
    args: { url: string({ min: 1, max: 2_000, description: 'An http or https address.' }) },
    async run({ url }, context) {
      const address = readWebUrl(url);
      const what = 'to open the page';
      const question = { tool: 'page.open', message: 'Open this page?', what, detail: address };
      const open = async () => windows.open(address);
      if (!(await withTouch(prompts, question, context, open))) {
        throw new ToolFailure(
          'unavailable',
          'The browser blocked the new window. The person can allow windows of this page in the site settings, and the call can be repeated.',
        );
      }
      return { output: { opened: true, url: address } };
    },
  });

/** The tool says what kind of device and browser this is. */
export const createDeviceInfoTool = (
  env: Pick<BrowserEnv, 'device' | 'battery' | 'secureContext'>,
): ClientToolDefinition =>
  defineClientTool({
    name: 'device.info',
    displayName: 'Device',
    description:
      'Describes this device and browser: platform, screen, window, languages, time zone, connection, battery.',
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    timeoutMs: 5_000,
    args: {},
    async run() {
      const battery = await env.battery();
      return {
        output: {
          ...env.device(),
          ...(battery && { battery: { level: battery.level, charging: battery.charging } }),
          secure_context: env.secureContext,
        },
      };
    },
  });

const READS = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };

/** How full the battery is. */
export const createBatteryTool = (env: Pick<BrowserEnv, 'battery'>): ClientToolDefinition =>
  defineClientTool({
    name: 'battery.read',
    displayName: 'Battery',
    description:
      'Returns how full the battery of this device is (0 to 1), whether it charges, and how long that or what is left takes.',
    annotations: READS,
    timeoutMs: 5_000,
    args: {},
    async run() {
      const battery = await env.battery();
      if (!battery) throw new ToolFailure('unavailable', 'This browser reports no battery.');
      const { level, charging, chargingTime, dischargingTime } = battery;
      return {
        output: {
          level,
          charging,
          ...(Number.isFinite(chargingTime) && { charging_time_s: chargingTime }),
          ...(Number.isFinite(dischargingTime) && { discharging_time_s: dischargingTime }),
        },
      };
    },
  });

/** How this device is connected. */
export const createNetworkTool = ({ network }: Pick<BrowserEnv, 'network'>): ClientToolDefinition =>
  defineClientTool({
    name: 'network.read',
    displayName: 'Network',
    description:
      'Returns whether this device is online and, where the browser reports it, the kind of its connection, its speed, its round trip and whether data is to be saved.',
    annotations: READS,
    timeoutMs: 5_000,
    args: {},
    run: () => ({ output: network.read() }),
  });

/** An address of the web in its usual form; no other scheme runs code or opens an app. */
export function readWebUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url.href;
  throw new ToolFailure(
    'invalid_args',
    `${text.slice(0, 200)} is not a whole address that begins with http:// or https://.`,
  );
}
