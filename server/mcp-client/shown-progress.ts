import type { ProgressCallback } from '@modelcontextprotocol/client';
import { given } from '#lib/util/given';
import type { ToolContext } from '../tools/room.ts';

/** Between two updates of a card, whatever the server sends. */
const EACH_MS = 100;
export const TIP_CHARS = 500;

type Update = Parameters<ToolContext['status']>[0];

/** Shows the progress of a call on its card; of many reports the newest. */
export function shownProgress(show: ToolContext['status']) {
  let waiting: Update | undefined;
  let timer: NodeJS.Timeout | undefined;
  function flush(): void {
    timer = undefined;
    if (!waiting) return;
    show(waiting);
    waiting = undefined;
    timer = setTimeout(flush, EACH_MS);
  }
  const take: ProgressCallback = ({ progress, total, message }) => {
    const done = Number.isFinite(progress) && progress >= 0 ? progress : undefined;
    const of = total !== undefined && Number.isFinite(total) && total > 0 ? total : undefined;
    if (done === undefined && message === undefined) return;
    waiting = {
      ...waiting,
      ...given({ tip: message?.slice(0, TIP_CHARS) }),
      ...(done !== undefined && { progress: { done, ...given({ total: of }) } }),
    };
    if (timer === undefined) flush();
  };
  return {
    take,
    end() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
