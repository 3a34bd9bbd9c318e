'use client';

import { useTranslations } from 'next-intl';
import { createContext, type Ref, type RefObject, use } from 'react';
import {
  type CustomContainerComponentProps,
  type CustomItemComponentProps,
  Virtualizer,
  type VirtualizerHandle,
} from 'virtua';
import type { CardActions } from './card-actions.ts';
import { ConnectedCard } from './connected-card.tsx';

export interface CardListProps {
  ids: readonly string[];
  handle: Ref<VirtualizerHandle>;
  scroller: RefObject<HTMLDivElement | null>;
  onScroll: (offset: number) => void;
  /** Stays mounted off screen, so that it does not lose the focus. */
  focusedIndex: number;
  isStale: boolean;
  actions: CardActions;
}

/** About the height of a card that is done: the most frequent one. */
const CARD_PX = 118;

const SizeContext = createContext(0);

/** Cards of which only those in sight are in the page, however many there are. */
export const CardList = (props: CardListProps) => (
  <SizeContext value={props.ids.length}>
    <Virtualizer
      ref={props.handle}
      scrollRef={props.scroller}
      data={props.ids}
      as={List}
      item={Item}
      itemSize={CARD_PX}
      keepMounted={props.focusedIndex < 0 ? NONE : [props.focusedIndex]}
      onScroll={props.onScroll}
    >
      {(callId) => (
        <ConnectedCard
          key={callId}
          callId={callId}
          isStale={props.isStale}
          actions={props.actions}
        />
      )}
    </Virtualizer>
  </SizeContext>
);

const NONE: readonly number[] = [];

/** Repeated because Safari does not expose a list without bullets as one. */
const LIST = { role: 'list' };

function List({
  ref,
  style,
  children,
}: CustomContainerComponentProps & { ref?: Ref<HTMLOListElement> }) {
  const t = useTranslations('card.list');
  return (
    <ol ref={ref} style={style} aria-label={t('list')} {...LIST}>
      {children}
    </ol>
  );
}

function Item({
  ref,
  style,
  index,
  children,
}: CustomItemComponentProps & { ref?: Ref<HTMLLIElement> }) {
  return (
    <li ref={ref} style={style} aria-posinset={index + 1} aria-setsize={use(SizeContext)}>
      {/* The gap lies inside: padding of the item itself would not be measured. */}
      <div className="px-4 pb-2.5">{children}</div>
    </li>
  );
}
