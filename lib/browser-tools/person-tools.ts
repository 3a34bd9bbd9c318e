import {
  type ClientToolContext,
  type ClientToolDefinition,
  ToolFailure,
} from '../client/client-tool.ts';
import {
  defineClientTool,
  flag,
  integer,
  list,
  optional,
  string,
} from '../client/tool-arguments.ts';
import { errorMessage } from '../util/error-message.ts';
import type { DevicePrompts, QuestionPicture } from './browser-env.ts';
import type { EnvOf } from './create-browser-env.ts';
import { permissionDenied } from './with-permission.ts';
import { withTouch } from './with-touch.ts';

const MAX_BUTTONS = 6;

/** Shows something to the person at this device, and returns the answer. */
export const createDisplayTool = ({
  show,
}: Required<Pick<DevicePrompts, 'show'>>): ClientToolDefinition =>
  defineClientTool({
    name: 'display.show',
    displayName: 'Show and ask',
    description:
      'Shows a text, an image or a question to the person at this device and waits for the answer: the button that was chosen, the text that was written, or that it was closed. At least one of title, text and image.',
    // It takes away again what it shows: nothing is changed by it.
    annotations: { readOnlyHint: true, openWorldHint: false },
    timeoutMs: 60_000,
    args: {
      title: optional(string({ max: 200, description: 'One line.' })),
      text: optional(string({ max: 4_000, description: 'Plain text; lines are kept.' })),
      image: optional(
        string({
          max: 240_000,
          description:
            'The blob_id of an attachment of an earlier result, or a data: URL with base64 of a PNG, JPEG, WebP or GIF.',
        }),
      ),
      buttons: list(string({ min: 1, max: 80, description: 'Its words.' }), {
        max: MAX_BUTTONS,
        default: [],
        description: 'One button for each answer; without any it can only be closed.',
      }),
      input: flag({ default: false, description: 'Whether the person may write an answer.' }),
    },
    async run({ title, text, image, buttons, input }, context) {
      if (!title && !text && !image)
        throw new ToolFailure('invalid_args', 'display.show needs a title, a text or an image.');
      const picture = image === undefined ? undefined : readPicture(image);
      const { callId, signal } = context;
      const message = title ?? text ?? 'A picture';
      const prompt = { callId, signal, tool: 'display.show', message, detail: undefined };
      const answer = await context.askDevice(() =>
        show({ ...prompt, title, text, image: picture, buttons, input }),
      );
      if (answer === 'closed') return { output: { answered: false, closed: true } };
      const chosen = answer.button === null ? undefined : buttons[answer.button];
      return {
        output: {
          answered: true,
          ...(chosen !== undefined && { button: chosen, button_index: answer.button }),
          ...(input && { text: answer.text }),
        },
      };
    },
  });

const DATA_URL = /^data:image\/(?:png|jpeg|webp|gif);base64,[A-Za-z0-9+/]+=*$/;
const BLOB_ID = /^[\w-]{1,128}$/;

function readPicture(image: string): QuestionPicture {
  if (DATA_URL.test(image)) return { dataUrl: image };
  if (BLOB_ID.test(image)) return { blobId: image };
  throw new ToolFailure(
    'invalid_args',
    'image must be a blob_id, or a data: URL with base64 of a PNG, JPEG, WebP or GIF.',
  );
}

type NotificationEnv = EnvOf<'permission' | 'notifications' | 'prompts'>;

/** A notification on the device. */
export const createNotificationTool = (env: NotificationEnv): ClientToolDefinition =>
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
async function allow(env: NotificationEnv, context: ClientToolContext): Promise<void> {
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

const LONGEST_MS = 10_000;

/** Lets the device vibrate. */
export const createVibrateTool = ({
  vibration,
  prompts,
}: EnvOf<'vibration' | 'prompts'>): ClientToolDefinition =>
  defineClientTool({
    name: 'vibrate',
    displayName: 'Vibrate',
    description:
      'Lets this device vibrate, so that the person notices it. A browser does not report whether the device has a motor.',
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
    timeoutMs: 30_000,
    args: {
      pattern: list(integer({ min: 1, max: 5_000, description: 'Milliseconds.' }), {
        min: 1,
        max: 20,
        default: [200],
        description:
          'Milliseconds of vibration and of pause in turn; together at most 10,000, e.g. [200, 100, 200].',
      }),
    },
    async run({ pattern }, context) {
      const duration = pattern.reduce((sum, one) => sum + one, 0);
      if (duration > LONGEST_MS) {
        throw new ToolFailure(
          'invalid_args',
          `The pattern lasts ${duration} ms; at most ${LONGEST_MS} are possible.`,
        );
      }
      const start = async () => vibration.start(pattern);
      const what = 'to have the device vibrate';
      const question = { tool: 'vibrate', message: 'Let this device vibrate?', what };
      // Browsers refuse it on a page that no person has touched.
      const isStarted = (await start()) || (await withTouch(prompts, question, context, start));
      if (!isStarted) throw new ToolFailure('unavailable', 'The browser refused to vibrate.');
      return { output: { started: true, duration_ms: duration } };
    },
  });
