import {
  type ClientToolContext,
  type ClientToolDefinition,
  ToolFailure,
} from '../client/client-tool.ts';
import { choice, defineClientTool, flag } from '../client/tool-arguments.ts';
import { abortable } from '../util/abortable.ts';
import { errorMessage } from '../util/error-message.ts';
import type { DevicePrompts } from './browser-env.ts';
import type { BrowserEnv } from './create-browser-env.ts';
import type { Picture } from './device-parts.ts';
import { openStream } from './open-stream.ts';
import { withTouch } from './with-touch.ts';

type Env = Pick<BrowserEnv, 'display' | 'page' | 'takeFrame'>;

/** A picture of the tab: drawn from its elements, or, after a tap, of what it really shows. */
export function createScreenshotTool(env: Env, prompts: DevicePrompts): ClientToolDefinition {
  const shared = createSharedDisplay(env, prompts);
  const modes = env.display ? (['page', 'display'] as const) : (['page'] as const);

  return defineClientTool({
    name: 'browser.screenshot',
    displayName: 'Screenshot',
    description:
      'Takes a screenshot of this browser tab. "page" draws the page again from its elements, without asking; "display" captures the real pixels after the person allowed it by a tap, of what they share: displaySurface says whether that is a tab ("browser"), a window or a screen ("monitor").',
    annotations: { readOnlyHint: true, openWorldHint: false },
    timeoutMs: 30_000,
    args: {
      mode: choice(modes, { default: 'page', description: 'How the picture is taken.' }),
      full_page: flag({
        default: false,
        description: 'With "page": the whole page instead of the visible part.',
      }),
    },
    run: ({ mode, full_page }, context) =>
      mode === 'display'
        ? captureDisplay(env, shared, context)
        : drawPage(env, full_page, context.signal),
  });
}

async function drawPage(env: Env, fullPage: boolean, signal: AbortSignal) {
  try {
    const picture = await abortable(signal, env.page.draw({ fullPage }));
    return answerOf(picture, { mode: 'page', note: PICTURE_NOTES.page }, `“${env.page.title}”`);
  } catch (error) {
    signal.throwIfAborted();
    throw new ToolFailure('internal', `The page could not be drawn: ${errorMessage(error)}`);
  }
}

type Shared = (context: ClientToolContext) => Promise<MediaStream>;

async function captureDisplay(env: Env, shared: Shared, context: ClientToolContext) {
  const stream = await shared(context);
  const { signal } = context;
  const frame = env.takeFrame(stream, { type: 'image/png', source: 'display' });
  const picture = await abortable(signal, frame).catch((error: unknown) => {
    signal.throwIfAborted();
    throw new ToolFailure('unavailable', `No picture was taken: ${errorMessage(error)}`);
  });
  const displaySurface = surfaceOf(stream);
  const isTab = displaySurface === 'browser';
  const note = PICTURE_NOTES[displaySurface === 'browser' ? 'display' : displaySurface];
  const about = { mode: 'display', displaySurface, note } as const;
  return answerOf(picture, about, isTab ? `“${env.page.title}”` : displaySurface);
}

/** The kind of thing that the person shared. Some browsers do not say. */
function surfaceOf(stream: MediaStream): 'browser' | 'window' | 'monitor' | 'unknown' {
  const surface = stream.getVideoTracks()[0]?.getSettings().displaySurface;
  return surface === 'browser' || surface === 'window' || surface === 'monitor'
    ? surface
    : 'unknown';
}

function answerOf(
  { blob, mediaType, width, height }: Picture,
  about: { readonly mode: 'page' | 'display'; readonly note: string },
  what: string,
) {
  return {
    output: { width, height, media_type: mediaType, ...about },
    attachments: [
      {
        blob,
        mediaType,
        name: `screenshot.${mediaType.split('/')[1] ?? 'png'}`,
        alt: `Screenshot of ${what}, ${width} × ${height}, ${about.note}`,
      },
    ],
  };
}

/** The person is asked once what to share: a browser wants a tap each time, so the stream is kept. */
function createSharedDisplay({ display }: Env, prompts: DevicePrompts): Shared {
  let kept: MediaStream | null = null;
  return async (context) => {
    if (!display) throw new ToolFailure('unavailable', 'This browser cannot share its tab.');
    if (kept?.active) return kept;
    const what = display.sharesTabs ? 'this tab' : 'a window or a screen';
    const question = {
      tool: 'browser.screenshot',
      message: `Share ${what}, so that a screenshot of it can be taken?`,
      variant: display.sharesTabs ? undefined : ('screens' as const),
      what: `to share ${what}`,
    };
    // The call may end while the browser asks: this stream would never be stopped then.
    const open = () => openStream(display.open, `Sharing ${what}`, context.signal);
    try {
      kept = await withTouch(prompts, question, context, open);
      return kept;
    } catch (error) {
      if (!(error instanceof ToolFailure && error.code === 'declined')) throw error;
      throw new ToolFailure('permission_denied', `The person declined ${question.what}.`);
    }
  };
}

/** How a screenshot was taken, by its mode; pages leave these words out beside the picture. */
export const PICTURE_NOTES = {
  page: 'reconstructed from the elements of the page',
  display: 'as displayed',
  /** Something else was shared in place of this tab. */
  window: 'a window that the person chose, with all that it shows',
  monitor: 'a screen that the person chose, with all that is on it',
  unknown: 'a window or a screen that the person chose, with all that it shows',
} as const;
