import { type ClientToolDefinition, ToolFailure } from '../client/client-tool.ts';
import { choice, defineClientTool, integer, number } from '../client/tool-arguments.ts';
import { abortable } from '../util/abortable.ts';
import type { EnvOf } from './create-browser-env.ts';
import type { CodeReader, ReadCode } from './device-parts.ts';
import { openStream, stopStream } from './open-stream.ts';
import { reportSeconds } from './wait-ms.ts';
import { withPermission } from './with-permission.ts';

/** One photo; the camera is on no longer than that takes. */
export const createCameraTool = (
  env: EnvOf<'permission' | 'takeFrame' | 'camera'>,
): ClientToolDefinition =>
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
          // Agents of OpenClaw's nodes know it so; the bytes are the attachment's alone.
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

type ScanEnv = EnvOf<'permission' | 'camera' | 'codes'>;

/** Codes are small in the picture. */
const SCAN_WIDTH = 1_280;

/** Looks through the camera until a code is read. */
export const createScanTool = (env: ScanEnv): ClientToolDefinition =>
  defineClientTool({
    name: 'camera.scan',
    displayName: 'Scan a code',
    description:
      'Reads a code that the person holds before the camera of this device: QR codes, and bar codes where the browser has a detector of its own. Fails when none is read in time. The person may be asked first.',
    annotations: { readOnlyHint: true, openWorldHint: false },
    timeoutMs: 150_000,
    args: {
      facing: choice(['user', 'environment'], {
        default: 'environment',
        description: 'Which camera.',
      }),
      seconds: integer({ min: 1, max: 120, default: 30, description: 'How long to look for one.' }),
    },
    async run({ facing, seconds }, context) {
      const { signal } = context;
      const open = () =>
        openStream(() => env.camera.open({ facing, width: SCAN_WIDTH }), 'The camera', signal);
      const stream = await withPermission(env, 'camera', context, open);
      const endReports = reportSeconds(seconds, (done) =>
        context.status({ progress: { done, total: seconds } }),
      );
      try {
        const reader = await openReader(env, stream, signal);
        const codes = await readUntil(reader, performance.now() + seconds * 1_000, signal);
        if (codes.length === 0) throw noCode(seconds, reader);
        return { output: { codes, reader: reader.reader, ...note(reader) } };
      } finally {
        endReports();
        stopStream(stream);
      }
    },
  });

/** The reader of a call that has ended meanwhile is closed once it is open: it holds a part of the page. */
async function openReader(
  { codes }: ScanEnv,
  stream: MediaStream,
  signal: AbortSignal,
): Promise<CodeReader> {
  const opening = codes.open(stream);
  try {
    return await abortable(signal, opening);
  } catch (error) {
    opening.then(
      (late) => late.close(),
      () => {},
    );
    throw error;
  }
}

async function readUntil(
  reader: CodeReader,
  endMs: number,
  signal: AbortSignal,
): Promise<readonly ReadCode[]> {
  try {
    let codes: readonly ReadCode[] = [];
    while (codes.length === 0 && performance.now() < endMs) {
      codes = await abortable(signal, reader.read());
    }
    return codes;
  } finally {
    reader.close();
  }
}

const noCode = (seconds: number, reader: CodeReader): ToolFailure =>
  new ToolFailure(
    'unavailable',
    `No code was read in ${seconds} seconds. ${qrOnly(reader) ?? ''}Ask the person to hold it before the camera, near, level and well lit, and repeat the call.`,
  );

const note = (reader: CodeReader) => {
  const text = qrOnly(reader);
  return text === undefined ? {} : { note: text.trim() };
};

const qrOnly = ({ reader }: CodeReader): string | undefined =>
  reader === 'qr' ? 'This browser has no detector of its own: only QR codes are read. ' : undefined;

/** Below this the loudest moment is noise of the device itself. */
const SILENCE = 0.003;

/** A sound of some seconds; the microphone is on no longer than that. */
export const createMicrophoneTool = (
  env: EnvOf<'permission' | 'microphone'>,
): ClientToolDefinition =>
  defineClientTool({
    name: 'microphone.record',
    displayName: 'Record sound',
    description:
      'Records sound with the microphone of this device for some seconds, as a file beside the result. The person may be asked first.',
    annotations: { readOnlyHint: true, openWorldHint: false },
    timeoutMs: 90_000,
    args: { seconds: number({ min: 0.5, max: 60, default: 10, description: 'How long.' }) },
    async run({ seconds }, context) {
      const { signal } = context;
      const open = () => openStream(env.microphone.open, 'The microphone', signal);
      const stream = await withPermission(env, 'microphone', context, open);
      let level = 0;
      const total = Math.ceil(seconds);
      const endReports = reportSeconds(total, (done) =>
        context.status({ progress: { done, total }, preview: { level } }),
      );
      try {
        const { blob, mediaType, durationMs, peak } = await env.microphone.record(stream, {
          ms: seconds * 1_000,
          signal,
          onLevel(now) {
            level = Math.round(now * 100) / 100;
          },
        });
        const isSilent = peak !== null && peak < SILENCE;
        const about = { media_type: mediaType, size: blob.size, duration_ms: durationMs };
        return {
          output: {
            ...about,
            ...(peak !== null && { peak: Math.round(peak * 1_000) / 1_000, silent: isSilent }),
            ...(isSilent && { note: 'Nothing can be heard: the microphone may be muted.' }),
          },
          attachments: [
            {
              blob,
              mediaType,
              name: `recording.${mediaType.split('/')[1] ?? 'webm'}`,
              alt: `Sound of ${(durationMs / 1_000).toFixed(1)} s`,
            },
          ],
        };
      } finally {
        endReports();
        stopStream(stream);
      }
    },
  });
