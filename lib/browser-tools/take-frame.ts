import type { FrameOptions } from './browser-env.ts';
import { inTime, noFrame, playStream } from './parts/play-stream.ts';
import { writePicture } from './parts/write-picture.ts';
import type { Picture } from './picture.ts';

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
