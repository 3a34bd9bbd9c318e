import type { ClientToolDefinition } from '../client/client-tool.ts';
import { defineClientTool } from '../client/define-client-tool.ts';
import { string } from '../client/tool-arguments.ts';
import { ToolFailure } from '../client/tool-failure.ts';
import type { DeviceParts } from './device-parts.ts';
import type { DevicePrompts } from './device-prompts.ts';
import { readWebUrl } from './read-web-url.ts';
import { withTouch } from './with-touch.ts';

interface Env {
  readonly windows: DeviceParts['windows'];
  readonly prompts: DevicePrompts;
}

/** Opens a page of the web beside this one. */
export const createPageOpenTool = ({ windows, prompts }: Env): ClientToolDefinition =>
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
