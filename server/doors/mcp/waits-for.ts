import type { Call } from '#lib/call/call';

/** What an open call waits for, as a sentence for the program that asked. */
export function waitsFor({ phase, card, toolName, status }: Call): string {
  const client = card.client_name;
  switch (phase) {
    case 'approval':
      return 'Waiting for approval on the board.';
    case 'held':
      return 'Waiting for its turn to be approved on the board.';
    case 'queued':
      return `Waiting for a client that has ${toolName}.`;
    case 'offered':
      // A client that takes without a claim is shown as offered while it runs.
      return progressOf(card) ?? `Offered to ${client ?? 'a client'}.`;
    case 'device':
      return `${client ?? 'The device'} asks its owner.`;
    case 'cancelling':
      return 'Stopping.';
    default:
      return status === 'RUNNING' ? (progressOf(card) ?? 'Running.') : 'Waiting.';
  }
}

function progressOf({ progress, tip }: Call['card']): string | undefined {
  const count = progress?.total === undefined ? '' : `${progress.done} of ${progress.total}`;
  if (tip) return count === '' ? tip : `${tip} (${count})`;
  return count === '' ? undefined : `${count}.`;
}
