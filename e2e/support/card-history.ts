import type { Page } from '@playwright/test';
import { watchServerMessageSchema } from '../../lib/protocol/watch-messages.ts';

declare global {
  interface Window {
    drawnCards?: Record<string, string[]>;
  }
}

export interface CardHistory {
  /** The statuses that the watch socket told of a call, in order, each once. */
  fed(callId: string): readonly string[];
  /** The looks that were drawn: of what comes within one frame only the last is. */
  drawn(callId: string): Promise<readonly string[]>;
}

/** Keeps what became of each card: one that is done in a few frames is seen by no poll. */
export async function watchCards(page: Page): Promise<CardHistory> {
  const fed = new Map<string, string[]>();
  page.on('websocket', (socket) => {
    if (!socket.url().endsWith('/ws/watch')) return;
    socket.on('framereceived', ({ payload }) => {
      const message = watchServerMessageSchema.parse(JSON.parse(String(payload)));
      for (const event of message.type === 'batch' ? message.events : [message]) {
        if (event.type !== 'call' || event.update.status === undefined) continue;
        const known = fed.get(event.tool_call_id) ?? [];
        if (known.at(-1) !== event.update.status) known.push(event.update.status);
        fed.set(event.tool_call_id, known);
      }
    });
  });
  await page.addInitScript(() => {
    const drawn: Record<string, string[]> = {};
    window.drawnCards = drawn;
    const look = () => {
      for (const card of document.querySelectorAll<HTMLElement>('[data-testid="tool-card"]')) {
        const { callId = '', status = '' } = card.dataset;
        drawn[callId] ??= [];
        if (drawn[callId].at(-1) !== status) drawn[callId].push(status);
      }
    };
    new MutationObserver(look).observe(document, {
      subtree: true,
      childList: true,
      attributes: true,
      attributeFilter: ['data-status'],
    });
  });
  return {
    fed: (callId) => fed.get(callId) ?? [],
    drawn: (callId) => page.evaluate((id) => window.drawnCards?.[id] ?? [], callId),
  };
}
