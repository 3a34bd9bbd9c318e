import type { ClientToolDefinition } from '../client/client-tool.ts';
import { defineClientTool } from '../client/define-client-tool.ts';
import { optional, string } from '../client/tool-arguments.ts';
import { ToolFailure } from '../client/tool-failure.ts';
import { errorMessage } from '../util/error-message.ts';
import type { BrowserEnv } from './browser-env.ts';
import { permissionDenied } from './permission-denied.ts';
import { withPermission } from './with-permission.ts';

type Env = Pick<BrowserEnv, 'permission'> & {
  notifications: NonNullable<BrowserEnv['notifications']>;
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
      const ask = () => env.notifications.ask();
      const answer = await withPermission(env, 'notifications', context, ask);
      if (answer !== 'granted') throw permissionDenied('Showing notifications');
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
