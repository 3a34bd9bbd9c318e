import type { Call } from '#lib/call/call';
import type { ListedCall } from '#lib/protocol/call-record';
import { type Included, toListedCall } from './to-wire-call.ts';

/** A page of the list (contract, section 6). */
export const PAGE_BYTES = 4 * 1024 * 1024;
/** The values behind a page of previews: to be cut, each whole has to be read first. */
const READ_BYTES = 16 * 1024 * 1024;

/**
 * Takes calls into a page as long as they fit; the first one always does, or
 * the list would end there.
 */
export function createListPage(include: readonly Included[]) {
  const calls: ListedCall[] = [];
  let bytes = 0;
  let bytesRead = 0;
  return {
    calls,
    /** Of the calls that were looked at. */
    get bytesRead() {
      return bytesRead;
    },
    takes(call: Call): boolean {
      const listed = toListedCall(call, include);
      const size = Buffer.byteLength(JSON.stringify(listed)) + 1;
      bytes += size;
      bytesRead += size + bytesCutOff(listed);
      const fits = calls.length === 0 || (bytes <= PAGE_BYTES && bytesRead <= READ_BYTES);
      if (fits) calls.push(listed);
      return fits;
    },
  };
}

const bytesCutOff = (call: ListedCall): number =>
  (call.args_bytes ?? 0) +
  (call.result_bytes ?? 0) +
  (call.display_bytes ?? 0) +
  (call.preview_bytes ?? 0) +
  (call.late_result_bytes ?? 0);
