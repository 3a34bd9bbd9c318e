import { LIMITS } from '#lib/protocol/limits';
import type { RejectedTool } from '#lib/protocol/tool-spec';

/** The refusal of a tool with which its client's would be larger than they may be. */
export const tooLarge = (name: string): RejectedTool => ({
  name,
  code: 'too_many_tools',
  message: `The tools of a client may have ${LIMITS.toolBytesPerClient} bytes of JSON together; make them smaller or unregister some first.`,
});
