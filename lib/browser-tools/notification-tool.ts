import type { ClientToolContext, ClientToolDefinition } from '../client/client-tool.ts';
import { defineClientTool } from '../client/define-client-tool.ts';
import { optional, string } from '../client/tool-arguments.ts';
import { ToolFailure } from '../client/tool-failure.ts';
import { errorMessage } from '../util/error-message.ts';
import type { BrowserEnv } from './browser-env.ts';
import type { DevicePrompts } from './device-prompts.ts';
import { permissionDenied } from './permission-denied.ts';
import { withTouch } from './with-touch.ts';

type Env = Pick<BrowserEnv, 'permission'> & {
  notifications: NonNullable<BrowserEnv['notifications']>;
  prompts: DevicePrompts;
};

/** A notification on the device. */
export const createNotificationTool = (env: Env): ClientToolDefinition =>
  defineClientTool({
    name: 'notification.show',
    displayName: 'Notification',
    description: 'Shows a notification on this device. The person may be asked first.',
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
    timeoutMs: 30_000,
    args: {
      title: string({ min: 1, max: 200, description: 'The first line of the notification.' }),
      body: optional(string({ max: 2_000, description: 'The text of the notification.' })),
    },
    async run({ title, body }, context) {
      await allow(env, context);
      try {
        await env.notifications.show(title, body);
      } catch (error) {
        throw new ToolFailure(
          'unavailable',
          `This browser cannot show notifications: ${errorMessage(error)}`,
        );
      }
      return { output: { shown: true } };
    },
  });

/** Browsers put their question in a touch alone, and answer `default` elsewhere without a word (BT60). */
async function allow(env: Env, context: ClientToolContext): Promise<void> {
  const { notifications, prompts } = env;
  let answer = notifications.permission();
  // The state at hand comes first: a browser forgets the tap while it looks up the other.
  if (answer === 'default' || (await env.permission('notifications')) === 'prompt') {
    const what = 'to be shown notifications';
    const question = { tool: 'notification.show', message: 'Allow notifications?', what };
    answer = await withTouch(prompts, question, context, notifications.ask);
  }
  if (answer === 'denied') throw permissionDenied('Showing notifications');
  if (answer === 'granted') return;
  throw new ToolFailure(
    'needs_person',
    'The person has not decided yet whether this page may show notifications. They can answer the question of the browser when the call is repeated.',
  );
}
