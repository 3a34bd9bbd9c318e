import type { Card } from '#lib/protocol/card';
import { CannotShow } from '../result/cannot-show.tsx';

/** In place of a card that could not be drawn: which call it is, and its data as a file. */
export const BrokenCard = ({ callId, card }: { callId: string; card: Card }) => (
  <article
    aria-label={callId}
    tabIndex={-1}
    data-testid="tool-card"
    data-call-id={callId}
    className="tool-card card px-3 py-2.5"
  >
    <h3 className="mono font-bold wrap-anywhere">{callId}</h3>
    <CannotShow value={card} name={callId} />
  </article>
);
