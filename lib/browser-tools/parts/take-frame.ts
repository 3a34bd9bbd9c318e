import { ToolFailure } from '../../client/client-tool.ts';
import type { FrameOptions } from '../browser-env.ts';
import type { Picture } from '../device-parts.ts';

/** A camera's first frames are dark while it adjusts itself. */
const FRAMES_TO_SKIP = { camera: 3, display: 1 };
/** A few, so that a browser that has none ends the call, too. */
const GRABS = 5;

/** Takes one frame of a live stream, at most `maxWidth` wide. */
export async function takeFrame(
  stream: MediaStream,
  { maxWidth = Number.POSITIVE_INFINITY, type, quality, source }: FrameOptions,
): Promise<Picture> {
  const [track] = stream.getVideoTracks();
  if (!track) throw new Error('the stream has no video');
  const endPainting = source === 'display' ? keepPainting() : undefined;
  try {
    const frame =
      source === 'camera' || !('ImageCapture' in window)
        ? await settledFrame(stream, FRAMES_TO_SKIP[source])
        : await inTime(grabFrame(track));
    return await writePicture(frame, { maxWidth, type, quality });
  } finally {
    endPainting?.();
  }
}

/** A page at rest gives no other frame when its first was lost: a spot too faint to be seen changes meanwhile. */
function keepPainting(): () => void {
  const spot = document.createElement('div');
  spot.style.cssText =
    'position:fixed;left:0;top:0;width:1px;height:1px;z-index:2147483647;background:#888;pointer-events:none';
  document.body.append(spot);
  spot.animate(
    { opacity: [0.01, 0.03] },
    { duration: 1_000, iterations: Number.POSITIVE_INFINITY },
  );
  return () => spot.remove();
}

async function grabFrame(track: MediaStreamTrack): Promise<ImageBitmap> {
  const { ImageCapture } = window as unknown as {
    ImageCapture: new (track: MediaStreamTrack) => { grabFrame(): Promise<ImageBitmap> };
  };
  for (let grabs = 0; grabs < GRABS; grabs += 1) {
    try {
      return await new ImageCapture(track).grabFrame();
    } catch (error) {
      // Chromium under load loses a frame now and then, and rejects with nothing; an end has a reason.
      if (error !== undefined) throw error;
    }
  }
  throw noFrame();
}

/** By a video element, which every browser has. */
async function settledFrame(stream: MediaStream, skip: number): Promise<ImageBitmap> {
  const { video, nextFrame, close } = await playStream(stream);
  try {
    for (let skipped = 0; skipped < skip; skipped += 1) await nextFrame();
    return await createImageBitmap(video);
  } finally {
    close();
  }
}

/** The longest wait for the first frame: a camera may take seconds to start. */
const FIRST_FRAME_MS = 10_000;
/** The longest wait for one more frame: a shared page that does not change gives none. */
const FRAME_MS = 500;

export interface PlayedStream {
  readonly video: HTMLVideoElement;
  /** Resolves with the next frame, or after a moment without one. */
  nextFrame(): Promise<void>;
  close(): void;
}

/** Shows a stream in a video element, which every browser has. */
export async function playStream(stream: MediaStream): Promise<PlayedStream> {
  const video = document.createElement('video');
  video.muted = true;
  video.playsInline = true;
  video.srcObject = stream;
  // Out of sight, but in the document: elsewhere some browsers give no frames.
  video.style.cssText = 'position:fixed;left:-10000px;width:1px;height:1px';
  document.body.append(video);
  const close = () => {
    video.srcObject = null;
    video.remove();
  };
  try {
    await inTime(video.play());
  } catch (error) {
    close();
    throw error;
  }
  return { video, nextFrame: () => waitForFrame(video), close };
}

const noFrame = (): ToolFailure =>
  new ToolFailure(
    'unavailable',
    'The browser gave no frame: the source may be hidden, switched off or in use elsewhere.',
  );

/** A browser waits for a first frame without end. */
function inTime<T>(frame: Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => reject(noFrame()), FIRST_FRAME_MS);
    frame.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function waitForFrame(video: HTMLVideoElement): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, FRAME_MS);
    if (!('requestVideoFrameCallback' in video)) return;
    video.requestVideoFrameCallback(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

const QUALITY = 0.9;
/** Browsers refuse larger canvases. */
export const MAX_SIDE = 8_192;

/** The pixels of a picture as a file of that type; of what was beside them nothing is left. */
async function writePicture(
  frame: ImageBitmap,
  options: { maxWidth: number; type: string; quality?: number | undefined },
): Promise<Picture> {
  const { maxWidth, type, quality = QUALITY } = options;
  const scale = Math.min(
    1,
    maxWidth / frame.width,
    MAX_SIDE / frame.width,
    MAX_SIDE / frame.height,
  );
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(frame.width * scale));
  canvas.height = Math.max(1, Math.round(frame.height * scale));
  canvas.getContext('2d')?.drawImage(frame, 0, 0, canvas.width, canvas.height);
  frame.close();
  return toPicture(canvas, type, quality);
}

/** The canvas becomes a file of that type. */
export async function toPicture(
  canvas: HTMLCanvasElement,
  type: string,
  quality: number,
): Promise<Picture> {
  const { width, height } = canvas;
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, type, quality));
  if (!blob) throw new Error(`a canvas of ${width} × ${height} gives no ${type}`);
  // A browser that cannot write the wanted type gives PNG, with its type.
  return { blob, mediaType: blob.type, width, height };
}

/** A canvas writes these; a picture of another type becomes a JPEG. */
const WRITTEN_TYPES = ['image/png', 'image/jpeg', 'image/webp'];

/** A picture file written anew from its pixels, upright. Throws when the browser cannot read it. */
export async function rewritePicture(
  file: Blob,
  { maxWidth }: { maxWidth: number },
): Promise<Picture> {
  const frame = await createImageBitmap(file, { imageOrientation: 'from-image' });
  const type = WRITTEN_TYPES.includes(file.type) ? file.type : 'image/jpeg';
  return writePicture(frame, { maxWidth, type });
}
