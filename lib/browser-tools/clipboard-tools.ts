import type { ClientToolContext, ClientToolDefinition } from '../client/client-tool.ts';
import { defineClientTool } from '../client/define-client-tool.ts';
import { string } from '../client/tool-arguments.ts';
import { ToolFailure } from '../client/tool-failure.ts';
import { errorMessage } from '../util/error-message.ts';
import type { BrowserEnv } from './browser-env.ts';
import type { DevicePrompts } from './device-prompts.ts';
import { isNotAllowed, permissionDenied } from './permission-denied.ts';
import { withPermission } from './with-permission.ts';
import { withTouch } from './with-touch.ts';

type Env = Pick<BrowserEnv, 'permission'> & {
  clipboard: NonNullable<BrowserEnv['clipboard']>;
  prompts: DevicePrompts;
};

/** The text in the clipboard. */
export const createClipboardReadTool = (env: Env): ClientToolDefinition =>
  defineClientTool({
    name: 'clipboard.read',
    displayName: 'Read clipboard',
    description: 'Reads the text in the clipboard of this device. The person may be asked first.',
    annotations: { readOnlyHint: true, openWorldHint: false },
    timeoutMs: 30_000,
    args: {},
    async run(_args, context) {
      const text = await use(env, 'read', context, () => env.clipboard.read());
      return { output: { text } };
    },
  });

/** Puts text into the clipboard. */
export const createClipboardWriteTool = (env: Env): ClientToolDefinition =>
  defineClientTool({
    name: 'clipboard.write',
    displayName: 'Write clipboard',
    description: 'Puts text into the clipboard of this device, in place of what is there.',
    annotations: {
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: true,
      openWorldHint: false,
    },
    timeoutMs: 30_000,
    args: { text: string({ max: 1_000_000, description: 'The text to put there.' }) },
    async run({ text }, context) {
      await use(env, 'write', context, () => env.clipboard.write(text));
      return { output: { written_chars: text.length } };
    },
  });

const QUESTIONS = {
  read: ['Give the text in the clipboard?', 'to give the clipboard'],
  write: ['Put a text into the clipboard?', 'to have the clipboard written'],
} as const;

async function use<T>(
  env: Env,
  kind: 'read' | 'write',
  context: ClientToolContext,
  act: () => Promise<T>,
): Promise<T> {
  const [message, what] = QUESTIONS[kind];
  const question = { tool: `clipboard.${kind}`, message, what };
  const inTouch = () => withTouch(env.prompts, question, context, act);
  const name = `clipboard-${kind}` as const;
  try {
    if (await env.clipboard.needsTouch(kind)) return await inTouch();
    return await withPermission(env, name, context, act).catch(async (error: unknown) => {
      // Refused though nobody has denied it: a touch is what was missing.
      const isDenied = (await env.permission(name)) === 'denied';
      if (!isNotAllowed(error) || isNotFocused(error) || isDenied) throw error;
      return inTouch();
    });
  } catch (error) {
    context.signal.throwIfAborted();
    if (error instanceof ToolFailure) throw error;
    if (isNotFocused(error)) {
      throw new ToolFailure(
        'unavailable',
        'The tab has to be in front, with the focus, for the clipboard.',
      );
    }
    if (isNotAllowed(error)) throw permissionDenied('The clipboard');
    throw new ToolFailure('unavailable', `The clipboard cannot be used: ${errorMessage(error)}`);
  }
}

/** Browsers refuse with the same error as for a denial; only the words differ. */
const isNotFocused = (error: unknown): boolean =>
  isNotAllowed(error) && /focus/i.test(errorMessage(error));
