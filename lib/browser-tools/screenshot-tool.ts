import type { ClientToolContext, ClientToolDefinition } from '../client/client-tool.ts';
import { defineClientTool } from '../client/define-client-tool.ts';
import { choice, flag } from '../client/tool-arguments.ts';
import { ToolFailure } from '../client/tool-failure.ts';
import { abortable } from '../util/abortable.ts';
import { errorMessage } from '../util/error-message.ts';
import type { BrowserEnv } from './browser-env.ts';
import type { DevicePrompts } from './device-prompts.ts';
import { isNotAllowed, permissionDenied } from './permission-denied.ts';
import { PICTURE_NOTES } from './picture-notes.ts';
import { stopStream } from './stop-stream.ts';

type Env = Pick<BrowserEnv, 'display' | 'page' | 'takeFrame'>;

/** A picture of the tab: drawn from its elements, or, after a tap, of what it really shows. */
export function createScreenshotTool(env: Env, prompts: DevicePrompts): ClientToolDefinition {
  const shared = createSharedDisplay(env, prompts);
  const modes = env.display ? (['page', 'display'] as const) : (['page'] as const);

  return defineClientTool({
    name: 'browser.screenshot',
    displayName: 'Screenshot',
    description:
      'Takes a screenshot of this browser tab. "page" draws the page again from its elements, without asking; "display" captures the real pixels after the person allowed it by a tap.',
    annotations: { readOnlyHint: true, openWorldHint: false },
    timeoutMs: 30_000,
    args: {
      mode: choice(modes, { default: 'page', description: 'How the picture is taken.' }),
      full_page: flag({
        default: false,
        description: 'With "page": the whole page instead of the visible part.',
      }),
    },
    async run({ mode, full_page }, context) {
      const picture =
        mode === 'display'
          ? await env.takeFrame(await shared(context), { type: 'image/png', source: 'display' })
          : await drawPage(env, full_page, context.signal);
      const { width, height, mediaType } = picture;
      const about = PICTURE_NOTES[mode];
      return {
        output: { width, height, media_type: mediaType, mode, note: about },
        attachments: [
          {
            blob: picture.blob,
            mediaType,
            name: `screenshot.${mediaType.split('/')[1] ?? 'png'}`,
            alt: `Screenshot of “${env.page.title}”, ${width} × ${height}, ${about}`,
          },
        ],
      };
    },
  });
}

async function drawPage(env: Env, fullPage: boolean, signal: AbortSignal) {
  try {
    return await abortable(signal, env.page.draw({ fullPage }));
  } catch (error) {
    signal.throwIfAborted();
    throw new ToolFailure('internal', `The page could not be drawn: ${errorMessage(error)}`);
  }
}

/** The shared tab, asked for once: a browser wants a tap each time, so the stream is kept. */
function createSharedDisplay({ display }: Env, prompts: DevicePrompts) {
  let kept: MediaStream | null = null;

  async function open(context: ClientToolContext): Promise<MediaStream> {
    if (!display) throw new ToolFailure('unavailable', 'This browser cannot share its tab.');
    const { callId, signal } = context;
    const answer = await prompts.ask({
      callId,
      signal,
      tool: 'browser.screenshot',
      message: 'Share this tab, so that a screenshot of it can be taken?',
    });
    if (answer === 'denied')
      throw new ToolFailure('permission_denied', 'The person declined to share this tab.');
    const stream = await display.open();
    // The call may have ended while the browser asked: this stream would never be stopped then.
    if (signal.aborted) stopStream(stream);
    signal.throwIfAborted();
    return stream;
  }

  return async (context: ClientToolContext): Promise<MediaStream> => {
    if (kept?.active) return kept;
    try {
      kept = await context.askDevice(() => open(context));
      return kept;
    } catch (error) {
      if (isNotAllowed(error)) throw permissionDenied('Sharing this tab');
      throw error;
    }
  };
}
