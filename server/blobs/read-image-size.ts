export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

type Reader = (view: DataView) => ImageSize | undefined;

/** By the types that can be read; AVIF keeps its size too deep in the file to be worth it. */
const READERS: Readonly<Record<string, Reader>> = {
  'image/png': readPng,
  'image/jpeg': readJpeg,
  'image/gif': (view) => ({ width: view.getUint16(6, true), height: view.getUint16(8, true) }),
  'image/webp': readWebp,
};

/** True for a type whose pictures must have a readable size, or else are broken. */
export const hasReadableSize = (mediaType: string): boolean => Object.hasOwn(READERS, mediaType);

/** Size of a picture from its header alone; undefined when it has none that makes sense. */
export function readImageSize(mediaType: string, bytes: Uint8Array): ImageSize | undefined {
  const reader = hasReadableSize(mediaType) ? READERS[mediaType] : undefined;
  try {
    const size = reader?.(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    return size && size.width > 0 && size.height > 0 ? size : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined; // It ends before its header does.
    throw error;
  }
}

const textAt = (view: DataView, at: number): string =>
  String.fromCharCode(...[0, 1, 2, 3].map((offset) => view.getUint8(at + offset)));

function readPng(view: DataView): ImageSize | undefined {
  if (textAt(view, 12) !== 'IHDR') return undefined;
  return { width: view.getUint32(16), height: view.getUint32(20) };
}

/** Start-of-frame markers; C4, C8 and CC in their midst mean something else. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;

function readJpeg(view: DataView): ImageSize | undefined {
  let at = 2;
  for (;;) {
    if (view.getUint8(at) !== 0xff) return undefined;
    const marker = view.getUint8(at + 1);
    if (marker === 0xff) {
      at += 1; // Fill bytes may precede a marker.
    } else if (isFrame(marker)) {
      return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    } else if (marker === 0xd9 || marker === 0xda) {
      return undefined; // The picture itself begins or ends, and no frame came before it.
    } else {
      at += 2 + view.getUint16(at + 2);
    }
  }
}

/** The three kinds of WebP (RFC 9649, section 2.5 to 2.7). */
function readWebp(view: DataView): ImageSize | undefined {
  switch (textAt(view, 12)) {
    case 'VP8 ':
      return {
        width: view.getUint16(26, true) & 0x3fff,
        height: view.getUint16(28, true) & 0x3fff,
      };
    case 'VP8L': {
      const bits = view.getUint32(21, true);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      return { width: getUint24(view, 24) + 1, height: getUint24(view, 27) + 1 };
    default:
      return undefined;
  }
}

const getUint24 = (view: DataView, at: number): number =>
  view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
