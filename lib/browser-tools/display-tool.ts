import type { ClientToolDefinition } from '../client/client-tool.ts';
import { defineClientTool } from '../client/define-client-tool.ts';
import { flag, list, optional, string } from '../client/tool-arguments.ts';
import { ToolFailure } from '../client/tool-failure.ts';
import type { DevicePrompts, QuestionPicture } from './device-prompts.ts';

interface Env {
  readonly show: NonNullable<DevicePrompts['show']>;
}

const MAX_BUTTONS = 6;

/** Shows something to the person at this device, and returns the answer. */
export const createDisplayTool = ({ show }: Env): ClientToolDefinition =>
  defineClientTool({
    name: 'display.show',
    displayName: 'Show and ask',
    description:
      'Shows a text, an image or a question to the person at this device and waits for the answer: the button that was chosen, the text that was written, or that it was closed. At least one of title, text and image.',
    // What it shows is taken away again: nothing is changed by it.
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
