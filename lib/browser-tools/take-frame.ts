import type { Picture } from './browser-env.ts';

/** A camera's first frames are dark while it adjusts itself. */
const FRAMES_TO_SKIP = 3;
/** A few, so that a browser that has none ends the call, too. */
const GRABS = 5;

/** Takes one frame of a live stream, at most `maxWidth` wide. */
export async function takeFrame(
  stream: MediaStream,
  { maxWidth = Number.POSITIVE_INFINITY, type }: { maxWidth?: number; type: string },
): Promise<Picture> {
  const [track] = stream.getVideoTracks();
  if (!track) throw new Error('the stream has no video');
  const frame =
    type === 'image/jpeg' || !('ImageCapture' in window)
      ? await settledFrame(stream)
      : await grabFrame(track);
  return encode(frame, maxWidth, type);
}

interface FrameGrabber {
  grabFrame(): Promise<ImageBitmap>;
}

async function grabFrame(track: MediaStreamTrack): Promise<ImageBitmap> {
  const { ImageCapture } = window as unknown as {
    ImageCapture: new (track: MediaStreamTrack) => FrameGrabber;
  };
  const capture = new ImageCapture(track);
  for (let grabs = 0; grabs < GRABS; grabs += 1) {
    try {
      return await capture.grabFrame();
    } catch (error) {
      // Chromium under load loses a frame now and then, and rejects with nothing; an end has a reason.
      if (error !== undefined) throw error;
    }
  }
  throw new Error('the browser gave no frame of the shared tab');
}

/** By a video element, which every browser has. */
async function settledFrame(stream: MediaStream): Promise<ImageBitmap> {
  const video = document.createElement('video');
  video.muted = true;
  video.playsInline = true;
  video.srcObject = stream;
  // Out of sight, but in the document: elsewhere some browsers give no frames.
  video.style.cssText = 'position:fixed;left:-10000px;width:1px;height:1px';
  document.body.append(video);
  try {
    await video.play();
    for (let skipped = 0; skipped < FRAMES_TO_SKIP; skipped += 1) {
      await new Promise((resolve) => video.requestVideoFrameCallback(resolve));
    }
    return await createImageBitmap(video);
  } finally {
    video.srcObject = null;
    video.remove();
  }
}

async function encode(frame: ImageBitmap, maxWidth: number, type: string): Promise<Picture> {
  const scale = Math.min(1, maxWidth / frame.width);
  const canvas = document.createElement('canvas');
  canvas.width = Math.round(frame.width * scale);
  canvas.height = Math.round(frame.height * scale);
  canvas.getContext('2d')?.drawImage(frame, 0, 0, canvas.width, canvas.height);
  frame.close();
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, type, 0.9));
  if (!blob) throw new Error(`the picture could not be written as ${type}`);
  return { blob, mediaType: blob.type, width: canvas.width, height: canvas.height };
}
