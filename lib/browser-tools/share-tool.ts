import type { ClientToolDefinition } from '../client/client-tool.ts';
import { defineClientTool } from '../client/define-client-tool.ts';
import { optional, string } from '../client/tool-arguments.ts';
import { ToolFailure } from '../client/tool-failure.ts';
import { given } from '../util/given.ts';
import type { DeviceParts } from './device-parts.ts';
import type { DevicePrompts } from './device-prompts.ts';
import { readWebUrl } from './read-web-url.ts';
import { withTouch } from './with-touch.ts';

interface Env {
  readonly share: NonNullable<DeviceParts['share']>;
  readonly prompts: DevicePrompts;
}

/** Sends something by an app that the person chooses. */
export const createShareTool = ({ share, prompts }: Env): ClientToolDefinition =>
  defineClientTool({
    name: 'share.send',
    displayName: 'Share',
    description:
      'Offers a text or an address to the apps of this device; the person chooses which app gets it. At least one of title, text and url. Which app it was is not reported.',
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
    timeoutMs: 60_000,
    args: {
      title: optional(string({ max: 200, description: 'What it is about.' })),
      text: optional(string({ max: 20_000, description: 'The text.' })),
      url: optional(string({ max: 2_000, description: 'An http or https address.' })),
    },
    async run({ title, text, url }, context) {
      const address = url === undefined ? undefined : readWebUrl(url);
      const content = given({ title, text, url: address });
      if (Object.keys(content).length === 0)
        throw new ToolFailure('invalid_args', 'share.send needs a title, a text or a url.');
      if (!share.canShare(content))
        throw new ToolFailure('unavailable', 'This browser cannot share such content.');
      const detail = [title, text, address].filter((one) => one !== undefined).join('\n');
      const question = { tool: 'share.send', message: 'Share this?', what: 'to share it', detail };
      await withTouch(prompts, question, context, () => share.send(content));
      return { output: { shared: true } };
    },
  });
