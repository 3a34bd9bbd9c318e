import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { buffer } from 'node:stream/consumers';

export interface DrawLimits {
  readonly maxPixels: number;
  readonly maxEdge: number;
  readonly ms: number;
}

/** Those that wait for the one that is drawn. */
const MOST_WAITING = 8;
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

let waiting = 0;
let last: Promise<unknown> = Promise.resolve();

/**
 * An SVG as PNG. It is a program of sorts, which no call into a library can stop: it is drawn in a
 * process of its own, one at a time, that is killed when its time is over. That process is given
 * neither the place of a file nor an address, so nothing that the SVG refers to is read.
 */
export async function drawSvg(bytes: Uint8Array, limits: DrawLimits): Promise<Uint8Array> {
  if (waiting >= MOST_WAITING) throw new Error('too many drawings wait');
  waiting += 1;
  const drawn = last
    .then(() => draw(bytes, limits))
    .finally(() => {
      waiting -= 1;
    });
  last = drawn.catch(() => undefined);
  return drawn;
}

async function draw(bytes: Uint8Array, { maxPixels, maxEdge, ms }: DrawLimits) {
  const sharp = createRequire(import.meta.url).resolve('sharp');
  const child = spawn(
    process.execPath,
    ['--input-type=module', '-e', SCRIPT, sharp, String(maxPixels), String(maxEdge)],
    {
      stdio: ['pipe', 'pipe', 'ignore'] as const,
      env: { NODE_ENV: 'production' },
      timeout: ms,
      killSignal: 'SIGKILL',
    },
  );
  const ended = new Promise<string | undefined>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (signal !== null) resolve(`it took over ${ms} ms`);
      else resolve(code === 0 ? undefined : 'it is no SVG, or has too many pixels');
    });
  });
  // It may end before it has read all.
  child.stdin.on('error', () => undefined);
  child.stdin.end(bytes);
  const [png, why] = await Promise.all([buffer(child.stdout), ended]);
  if (why !== undefined) throw new Error(why);
  if (png.length > PNG_BYTES) throw new Error('the drawing is too large');
  return png;
}
