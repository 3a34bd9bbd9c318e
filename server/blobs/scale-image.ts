import { type ExecFileException, execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import type { Metadata, Sharp, SharpOptions } from 'sharp';
import { runIn, Semaphore } from '#lib/limits/semaphore';
import { isInlineMediaType, isSvg, sniffMediaType } from './media-type.ts';

interface DrawLimits {
  readonly maxPixels: number;
  readonly maxEdge: number;
  readonly ms: number;
}

/** So many wait for the one that is drawn. */
const MOST_WAITING = 8;
const TOO_MANY = 'too many drawings wait';
const PNG_BYTES = 32 * 1024 * 1024;

const SCRIPT = `
const { default: sharp } = await import(process.argv[1]);
const [pixels, edge] = process.argv.slice(2).map(Number);
const parts = [];
for await (const part of process.stdin) parts.push(part);
const size = { width: edge, height: edge, fit: 'inside', withoutEnlargement: true };
const drawing = sharp(Buffer.concat(parts), { limitInputPixels: pixels });
process.stdout.write(await drawing.resize(size).flatten({ background: '#ffffff' }).png().toBuffer());
`;

const drawings = new Semaphore({ atOnce: 1, waiting: MOST_WAITING });

/**
 * An SVG as PNG. It is a program of sorts, which no call into a library can stop: it is drawn in a
 * process of its own, one at a time, that is killed when its time is over. That process is given
 * neither the place of a file nor an address, so nothing that the SVG refers to is read.
 */
async function draw(bytes: Uint8Array, { maxPixels, maxEdge, ms }: DrawLimits) {
  const sharp = createRequire(import.meta.url).resolve('sharp');
  const drawing = promisify(execFile)(
    process.execPath,
    ['--input-type=module', '-e', SCRIPT, sharp, String(maxPixels), String(maxEdge)],
    {
      env: { NODE_ENV: 'production' },
      encoding: 'buffer',
      maxBuffer: PNG_BYTES,
      timeout: ms,
      killSignal: 'SIGKILL',
    },
  );
  // It may end before it has read all.
  drawing.child.stdin?.on('error', () => undefined).end(bytes);
  const { stdout } = await drawing.catch(({ code, signal }: ExecFileException) => {
    if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') throw new Error('the drawing is too large');
    throw new Error(signal ? `it took over ${ms} ms` : 'it is no SVG, or has too many pixels');
  });
  return stdout;
}

type SharpModule = (bytes: Uint8Array, options: SharpOptions) => Sharp;

export type ScaleOutcome =
  | { readonly ok: true; readonly bytes: Uint8Array; readonly mediaType: string }
  | {
      readonly ok: false;
      /** `unavailable`: the part that reads pictures is not installed on this machine. */
      readonly code: 'too_many_pixels' | 'unreadable' | 'too_large' | 'unavailable';
      readonly message: string;
    };

export interface ScaleOptions {
  /** Longest edge in pixels; models shrink larger ones themselves, and charge for them. */
  readonly maxEdge?: number;
  readonly maxBytes?: number;
  /** A small file may hold a picture that takes gigabytes to unpack. */
  readonly maxPixels?: number;
  loadSharp?(): Promise<SharpModule>;
  /** For a drawing, which is a program of sorts. */
  readonly drawMs?: number;
}

/** Models take these; any other picture is made into one of them. */
const TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
};

/** Tried in turn until the picture is small enough. PNG keeps the text of a screenshot sharp. */
const ATTEMPTS = [
  { format: 'png', quality: 100, scale: 1 },
  { format: 'jpeg', quality: 85, scale: 1 },
  { format: 'jpeg', quality: 65, scale: 1 },
  { format: 'jpeg', quality: 65, scale: 0.6 },
  { format: 'jpeg', quality: 50, scale: 0.3 },
] as const;

/**
 * A picture as a model needs it: upright, with edges of at most `maxEdge` pixels
 * and at most `maxBytes` bytes. One that is so already comes back as it is; of
 * one that moves, the first moment. People see the original.
 */
export async function scaleForModel(
  bytes: Uint8Array,
  options: ScaleOptions = {},
): Promise<ScaleOutcome> {
  const { maxPixels = MOST_PIXELS, loadSharp = importSharp } = options;
  if (isSvg(bytes)) return scaleSvg(bytes, options);
  const found = sniffMediaType(bytes);
  if (found === undefined || !(isInlineMediaType(found) || found === 'image/tiff')) {
    const kind = found?.startsWith('image/') ? `a picture of the type ${found}` : 'the picture';
    return failed('unreadable', `${kind} cannot be read; send PNG, JPEG, WebP, GIF, AVIF or SVG`);
  }
  const sharp = await attempt(loadSharp);
  if (!sharp.ok) return failed('unavailable', `pictures cannot be scaled here (${sharp.reason})`);
  // Its own limit is off, for here a picture that is too large is an answer, not an error.
  const header = await attempt(() => sharp.value(bytes, { limitInputPixels: false }).metadata());
  if (!header.ok) return failed('unreadable', `the picture cannot be read (${header.reason})`);
  const { width, height } = header.value;
  if (width * height > maxPixels) {
    const size = `${width} × ${height} pixels`;
    return failed('too_many_pixels', `${size} are too many; at most ${maxPixels} in all are read`);
  }
  const open = () =>
    sharp
      .value(bytes, { limitInputPixels: maxPixels, failOn: 'error' })
      .timeout({ seconds: SCALE_SECONDS });
  const scaled = await attempt(() => scale(bytes, header.value, open, options));
  return scaled.ok
    ? scaled.value
    : failed('unreadable', `the picture cannot be read (${scaled.reason})`);
}

/** Drawn as PNG, and then as any other. */
async function scaleSvg(bytes: Uint8Array, options: ScaleOptions): Promise<ScaleOutcome> {
  const { maxPixels = MOST_PIXELS, maxEdge = MOST_EDGE, drawMs = DRAW_MS } = options;
  const drawn = await attempt(() =>
    runIn(drawings, () => draw(bytes, { maxPixels, maxEdge, ms: drawMs })),
  );
  return drawn.ok
    ? scaleForModel(drawn.value, options)
    : failed('unreadable', `the drawing cannot be made a picture (${drawn.reason || TOO_MANY})`);
}

const MOST_PIXELS = 40_000_000;
const MOST_EDGE = 1_568;
const DRAW_MS = 5_000;
/** One step with a picture of pixels may take so long. */
const SCALE_SECONDS = 10;

async function scale(
  bytes: Uint8Array,
  header: Metadata,
  open: () => Sharp,
  { maxEdge = MOST_EDGE, maxBytes = 1024 * 1024 }: ScaleOptions,
): Promise<ScaleOutcome> {
  const type = Object.hasOwn(TYPES, header.format) ? TYPES[header.format] : undefined;
  const isUpright = (header.orientation ?? 1) === 1;
  const isSmall = Math.max(header.width, header.height) <= maxEdge && bytes.length <= maxBytes;
  if (type !== undefined && isUpright && isSmall) {
    await open().stats(); // A header alone is not a picture: what cannot be unpacked is not sent.
    return { ok: true, bytes, mediaType: type };
  }
  for (const { format, quality, scale: factor } of ATTEMPTS) {
    if (format === 'png' && header.format === 'jpeg') continue; // A photo is never smaller as PNG.
    const edge = Math.max(1, Math.round(maxEdge * factor));
    const image = open()
      .autoOrient()
      .resize({ width: edge, height: edge, fit: 'inside', withoutEnlargement: true });
    const output = await (format === 'png'
      ? image.png()
      : image.flatten({ background: '#ffffff' }).jpeg({ quality })
    ).toBuffer();
    if (output.length <= maxBytes) return { ok: true, bytes: output, mediaType: `image/${format}` };
  }
  return failed('too_large', `the picture cannot be brought down to ${maxBytes} bytes`);
}

/** Optional: it is native, and there may be none for a machine. */
async function importSharp(): Promise<SharpModule> {
  const { default: sharp } = await import('sharp');
  return sharp;
}

type Attempt<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: string };

/** Gives what was asked for, or the first line of why it failed. */
async function attempt<T>(work: () => Promise<T>): Promise<Attempt<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    const [reason = ''] = (error instanceof Error ? error.message : String(error))
      .trim()
      .split('\n');
    return { ok: false, reason };
  }
}

function failed(code: Extract<ScaleOutcome, { ok: false }>['code'], message: string): ScaleOutcome {
  return { ok: false, code, message };
}
