import type { ClientToolDefinition } from '../client/client-tool.ts';
import { defineClientTool } from '../client/define-client-tool.ts';
import { choice, integer, number } from '../client/tool-arguments.ts';
import { abortable } from '../util/abortable.ts';
import type { BrowserEnv } from './browser-env.ts';
import { openStream } from './open-stream.ts';
import { stopStream } from './stop-stream.ts';
import { withPermission } from './with-permission.ts';

type Env = Pick<BrowserEnv, 'permission' | 'takeFrame'> & {
  camera: NonNullable<BrowserEnv['camera']>;
};

/** One photo; the camera is on no longer than that takes. */
export const createCameraTool = (env: Env): ClientToolDefinition =>
  defineClientTool({
    name: 'camera.photo',
    displayName: 'Photo',
    description:
      "Takes one photo with this device's camera. It has no metadata such as the place. The person may be asked first.",
    annotations: { readOnlyHint: true, openWorldHint: false },
    timeoutMs: 30_000,
    args: {
      facing: choice(['user', 'environment'], {
        default: 'environment',
        description: 'Which camera.',
      }),
      max_width: integer({ min: 16, max: 8_192, default: 1_920, description: 'In pixels.' }),
      format: choice(['jpeg', 'png', 'webp'], {
        default: 'jpeg',
        description: 'Of the file; a browser that cannot write WebP gives PNG.',
      }),
      quality: number({
        min: 0.1,
        max: 1,
        default: 0.9,
        description: 'Of JPEG and WebP: less gives a smaller file.',
      }),
    },
    async run({ facing, max_width, format, quality }, context) {
      const { signal } = context;
      const open = () =>
        openStream(() => env.camera.open({ facing, width: max_width }), 'The camera', signal);
      const stream = await withPermission(env, 'camera', context, open);
      try {
        const type = `image/${format}`;
        const frame = env.takeFrame(stream, {
          maxWidth: max_width,
          type,
          quality,
          source: 'camera',
        });
        const { blob, mediaType, width, height } = await abortable(signal, frame);
        const extension = extensionOf(mediaType);
        const name = `photo.${extension}`;
        const about = { width, height, media_type: mediaType, size: blob.size, facing };
        return {
          // As agents of OpenClaw's nodes know it; the bytes are the attachment's alone.
          output: { ...about, format: extension },
          attachments: [{ blob, mediaType, name, alt: `Photo, ${width} × ${height}` }],
        };
      } finally {
        stopStream(stream);
      }
    },
  });

const extensionOf = (mediaType: string): string =>
  mediaType === 'image/jpeg' ? 'jpg' : mediaType.replace('image/', '');
