/** A WebSocket frame of a byte stream, by where it begins and how long it is with its header. */
export interface FrameSpan {
  readonly start: number;
  readonly bytes: number;
}

export interface FrameScanner {
  /** Frames whose headers are complete with this chunk. */
  feed(chunk: Buffer): FrameSpan[];
}

const END_OF_REQUEST = Buffer.from('\r\n\r\n');

/** Finds the frames after the request for the upgrade. Looks at lengths only; never at what is in them. */
export function createFrameScanner(): FrameScanner {
  let rest: Buffer = Buffer.alloc(0);
  /** Where `rest` begins in the stream. */
  let at = 0;
  let received = 0;
  let isUpgraded = false;

  function skip(bytes: number): void {
    rest = rest.subarray(Math.min(bytes, rest.length));
    at += bytes;
  }

  return {
    feed(chunk) {
      // A frame that was skipped before its end: what is left of it comes first.
      const missing = Math.max(0, at - received);
      received += chunk.length;
      if (missing >= chunk.length) return [];
      rest = Buffer.concat([rest, chunk.subarray(missing)]);
      if (!isUpgraded) {
        const end = rest.indexOf(END_OF_REQUEST);
        if (end < 0) return [];
        skip(end + END_OF_REQUEST.length);
        isUpgraded = true;
      }
      const spans: FrameSpan[] = [];
      for (;;) {
        const bytes = frameBytes(rest);
        if (bytes === undefined) return spans;
        spans.push({ start: at, bytes });
        skip(bytes);
      }
    },
  };
}

/** The length of the frame that begins here; undefined while its header is not complete. */
function frameBytes(buffer: Buffer): number | undefined {
  if (buffer.length < 2) return undefined;
  const mask = (buffer.readUInt8(1) & 0x80) === 0 ? 0 : 4;
  const short = buffer.readUInt8(1) & 0x7f;
  if (short < 126) return 2 + mask + short;
  if (short === 126) return buffer.length < 4 ? undefined : 4 + mask + buffer.readUInt16BE(2);
  return buffer.length < 10 ? undefined : 10 + mask + Number(buffer.readBigUInt64BE(2));
}
