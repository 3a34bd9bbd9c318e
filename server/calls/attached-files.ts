import type { Attachment } from '#lib/protocol/attachment';
import { LIMITS } from '#lib/protocol/limits';
import type { BlobStore } from '../blobs/blob-store.ts';
import { type ToolContext, ToolError } from '../tools/define-tool.ts';

/** The files that a running tool gives with its result, in that order. */
export function createAttachedFiles(blobs: Pick<BlobStore, 'put'>, signal: AbortSignal) {
  const attached: Attachment[] = [];
  let taken = 0;
  let given = 0;
  const attach: ToolContext['attach'] = async (file) => {
    signal.throwIfAborted();
    if (taken >= LIMITS.attachmentsPerResult) {
      throw new ToolError(`A result may have ${LIMITS.attachmentsPerResult} attachments at most.`);
    }
    taken += 1;
    const place = given++;
    const put = await blobs.put(file);
    if (!put.ok) {
      // What is not kept takes no room from the next.
      taken -= 1;
      throw new ToolError(put.message);
    }
    attached[place] = put.attachment;
    return put.attachment;
  };
  // One that could not be kept leaves no gap.
  return { attach, attached: (): readonly Attachment[] => attached.filter(() => true) };
}
