import type { ApprovalInput } from '#lib/api/http-client';
import type { Answer } from '#lib/protocol/question';
import type { CardPart } from './whole-value.ts';

export type CopyKind = 'id' | 'curl' | 'json';

/** What a card asks of its surroundings. Stable, so that it never renders a card again. */
export interface CardActions {
  /** Resolves to whether the server was asked. */
  cancel(callId: string): Promise<boolean>;
  /** `clientId`: the client that runs it, or `all`. */
  retry(callId: string, clientId?: string): void;
  /** Who offers the tool now, to choose one that runs it again. */
  showClients(callId: string): void;
  extend(callId: string): void;
  /** Resolves to whether the decision was taken. */
  decide(callId: string, input: ApprovalInput): Promise<boolean>;
  /** Resolves to whether the answer to a question was taken. */
  answer(callId: string, answer: Answer): Promise<boolean>;
  copy(callId: string, kind: CopyKind): void;
  showModelOutput(callId: string): void;
  /** All of a value of which the card has the beginning. */
  showWhole(callId: string, part: CardPart): void;
  download(callId: string, part: CardPart): void;
  blobUrl(blobId: string): string;
}
