import { LIMITS } from '#lib/protocol/limits';

/** The room of one answer among the large ones of the server (rule UN4). */
export interface AnswerRoom {
  /** Resolves when an answer with so many bytes may be made; throws `rate_limited` when too many wait. */
  readonly makeRoom: (bytes: number) => Promise<void>;
  /** To how many it came. */
  readonly resizeRoom: (bytes: number) => void;
}

/** Of all pictures, sounds and texts of a result: it is one JSON text. */
export const BLOCKS_BYTES = 6 * 1024 * 1024;

/** A smaller record is read at once. */
const SMALL_BYTES = 256 * 1024;

/**
 * To be awaited before a record is read that has so many bytes in the store: a large one has its
 * room, and that of the files of its answer, since room is taken once (rule MP53).
 */
export async function roomToRead({ makeRoom }: AnswerRoom, storedBytes: number): Promise<void> {
  if (storedBytes < SMALL_BYTES) return;
  // One of the files at a time is whole in memory, before it is made smaller.
  await makeRoom(storedBytes + BLOCKS_BYTES + LIMITS.attachmentBytes);
}
