import type { ClientToolDefinition } from '../client/client-tool.ts';
import { defineClientTool } from '../client/define-client-tool.ts';
import { choice, integer } from '../client/tool-arguments.ts';
import { ToolFailure } from '../client/tool-failure.ts';
import { abortable } from '../util/abortable.ts';
import type { BrowserEnv } from './browser-env.ts';
import type { CodeReader, ReadCode } from './device-parts.ts';
import { openStream } from './open-stream.ts';
import { stopStream } from './stop-stream.ts';
import { reportSeconds } from './wait-ms.ts';
import { withPermission } from './with-permission.ts';

type Env = Pick<BrowserEnv, 'permission'> & {
  camera: NonNullable<BrowserEnv['camera']>;
  codes: NonNullable<BrowserEnv['codes']>;
};

/** Codes are small in the picture. */
const WIDTH = 1_280;

/** Looks through the camera until a code is read. */
export const createScanTool = (env: Env): ClientToolDefinition =>
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
        openStream(() => env.camera.open({ facing, width: WIDTH }), 'The camera', signal);
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

/** Of a call that has ended meanwhile the reader is closed once it is open: it holds a part of the page. */
async function openReader(
  { codes }: Env,
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
