import type { ClientToolDefinition } from '../client/client-tool.ts';
import { defineClientTool } from '../client/define-client-tool.ts';
import { choice, integer } from '../client/tool-arguments.ts';
import { ToolFailure } from '../client/tool-failure.ts';
import { abortable } from '../util/abortable.ts';
import { errorMessage } from '../util/error-message.ts';
import type { BrowserEnv } from './browser-env.ts';
import { isNotAllowed, permissionDenied } from './permission-denied.ts';
import { withPermission } from './with-permission.ts';

type Env = Pick<BrowserEnv, 'permission' | 'takeFrame'> & {
  camera: NonNullable<BrowserEnv['camera']>;
};

/** One photo; the camera is on no longer than that takes. */
export const createCameraTool = (env: Env): ClientToolDefinition =>
  defineClientTool({
    name: 'camera.photo',
    displayName: 'Photo',
    description: "Takes one photo with this device's camera. The person may be asked first.",
    annotations: { readOnlyHint: true, openWorldHint: false },
    timeoutMs: 30_000,
    args: {
      facing: choice(['user', 'environment'], {
        default: 'environment',
        description: 'Which camera.',
      }),
      max_width: integer({ min: 16, max: 8_192, default: 1_920, description: 'In pixels.' }),
    },
    async run({ facing, max_width }, context) {
      const open = () => openFor(env, facing, context.signal);
      const stream = await withPermission(env, 'camera', context, open);
      try {
        const frame = env.takeFrame(stream, { maxWidth: max_width, type: 'image/jpeg' });
        const { blob, mediaType, width, height } = await abortable(context.signal, frame);
        return {
          output: { width, height, media_type: mediaType, facing },
          attachments: [{ blob, mediaType, name: 'photo.jpg', alt: `Photo, ${width} × ${height}` }],
        };
      } finally {
        stop(stream);
      }
    },
  });

async function openFor(
  env: Env,
  facing: 'user' | 'environment',
  signal: AbortSignal,
): Promise<MediaStream> {
  try {
    const stream = await env.camera.open({ facing });
    // The call may have ended while the browser asked: it would never be turned off then.
    if (signal.aborted) stop(stream);
    return stream;
  } catch (error) {
    if (isNotAllowed(error)) throw permissionDenied('The camera');
    throw new ToolFailure('unavailable', `The camera cannot be used: ${errorMessage(error)}`);
  }
}

function stop(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop();
}
