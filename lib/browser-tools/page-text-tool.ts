import type { ClientToolDefinition } from '../client/client-tool.ts';
import { defineClientTool } from '../client/define-client-tool.ts';
import { integer, optional, string } from '../client/tool-arguments.ts';
import { ToolFailure } from '../client/tool-failure.ts';
import type { BrowserEnv } from './browser-env.ts';

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
