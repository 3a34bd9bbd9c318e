'use client';

import { useLocale, useTranslations } from 'next-intl';
import { type FocusEvent, type KeyboardEvent, useMemo, useState } from 'react';
import { showControlCharacters } from '#lib/format/show-control-characters';
import { MarkedText } from '../ui/marked-text.tsx';
import { VisuallyHidden } from '../ui/visually-hidden.tsx';
import { Pager, usePartLabel } from './pager.tsx';
import { type Parts, useParts } from './use-parts.ts';

export interface JsonNodesProps {
  value: object;
  label: string;
  /** Whether all of it is open from the start, or its first level. */
  isOpen: boolean;
}

/** Of one level so many are drawn at once. */
const PART_NODES = 100;
/** Of a text in it. As much as a card has of a large one, which is not cut again. */
const SHOWN_CHARS = 2_048;

/**
 * A JSON value as a tree. It reads values and never calls anything on them, and
 * it draws each key as it is: two keys that differ in a hidden character are two.
 */
export function JsonNodes({ value, label, isOpen }: JsonNodesProps) {
  return (
    <ul
      {...TREE}
      aria-label={label}
      onKeyDown={onTreeKey}
      onFocus={keepTabStop}
      className="json-tree mono leading-6 wrap-anywhere"
    >
      <Node
        label={label}
        value={value}
        isLast
        level={0}
        openLevels={isOpen ? Number.POSITIVE_INFINITY : 1}
      />
    </ul>
  );
}

interface NodeProps {
  /** For those who listen. */
  label: string;
  /** Of a property; items of a list have none. */
  name?: string;
  value: unknown;
  isLast: boolean;
  level: number;
  openLevels: number;
}

function Node(props: NodeProps) {
  const { name, value, isLast } = props;
  if (typeof value === 'object' && value !== null) return <Group {...props} value={value} />;
  return (
    <li {...ITEM}>
      <Name name={name} />
      <Scalar value={value} />
      <Comma isLast={isLast} />
    </li>
  );
}

const TREE = { role: 'tree' };
const GROUP = { role: 'group' };
/** Tab reaches one item of a tree; the arrow keys lead to the others. */
const ITEM = { role: 'treeitem', tabIndex: -1 };

function Group(props: NodeProps & { value: object }) {
  const { value, level, openLevels } = props;
  const t = useTranslations('card.result');
  const [isOpen, setOpen] = useState(level < openLevels);
  // Made once: an object may have a hundred thousand of them.
  const names = useMemo(() => (Array.isArray(value) ? null : Object.keys(value)), [value]);
  const count = names?.length ?? (Array.isArray(value) ? value.length : 0);
  const parts = useParts(count, PART_NODES);
  const nodes = childrenOf(value, names, parts);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const hasNodes = count > 0;
  return (
    <li
      {...ITEM}
      {...(hasNodes ? { 'aria-expanded': isOpen } : {})}
      tabIndex={level === 0 ? 0 : -1}
    >
      {props.name === undefined && level > 0 && <VisuallyHidden>{props.label}</VisuallyHidden>}
      {hasNodes && (
        <button
          type="button"
          tabIndex={-1}
          aria-label={t(isOpen ? 'collapse' : 'expand')}
          onClick={() => setOpen(!isOpen)}
          className={`json-icon ${isOpen ? 'json-collapse' : 'json-expand'}`}
        />
      )}
      <Name name={props.name} />
      <span className="text-muted">{open}</span>
      {hasNodes && isOpen && (
        <ul {...GROUP}>
          {nodes.map((node) => (
            <Node
              {...node}
              key={node.place}
              isLast={node.place === count - 1}
              level={level + 1}
              openLevels={openLevels}
            />
          ))}
          {count > PART_NODES && <PartRow parts={parts} />}
        </ul>
      )}
      {hasNodes && !isOpen && <span className="text-muted">…</span>}
      <span className="text-muted">{close}</span>
      <Comma isLast={props.isLast} />
    </li>
  );
}

interface Child extends Pick<NodeProps, 'label' | 'name' | 'value'> {
  /** What has no name of its own is known by its place. */
  readonly place: number;
}

/** Those of one part. */
function childrenOf(value: object, names: readonly string[] | null, { from, to }: Parts): Child[] {
  if (Array.isArray(value)) {
    const items: unknown[] = value.slice(from, to);
    return items.map((item, at) => ({ place: from + at, label: `${from + at}`, value: item }));
  }
  return (names ?? []).slice(from, to).map((name, at) => ({
    place: from + at,
    label: showControlCharacters(name) || '""',
    name,
    value: Reflect.get(value, name),
  }));
}

function PartRow({ parts }: { parts: Parts }) {
  return (
    <li {...ITEM} aria-label={usePartLabel(parts, 'items')}>
      <Pager parts={parts} of="items" />
    </li>
  );
}

const Name = ({ name }: { name: string | undefined }) =>
  name === undefined ? null : (
    <span className="mr-1 text-muted">{name === '' ? '""' : <MarkedText text={name} />}:</span>
  );

const Comma = ({ isLast }: { isLast: boolean }) =>
  isLast ? null : <span className="text-muted">,</span>;

const COLOURS: Record<string, string> = {
  string: 'text-success',
  number: 'text-doing',
  boolean: 'text-wait',
};

function Scalar({ value }: { value: unknown }) {
  const t = useTranslations('card.result');
  const locale = useLocale();
  const isLong = typeof value === 'string' && value.length > SHOWN_CHARS;
  const shown = isLong ? `${value.slice(0, SHOWN_CHARS)}…` : value;
  return (
    <>
      <span className={COLOURS[typeof value] ?? 'text-cancel'}>
        <MarkedText text={JSON.stringify(shown) ?? 'undefined'} />
      </span>
      {isLong && (
        <span className="ml-1 text-muted">
          {t('longText', { count: value.length.toLocaleString(locale) })}
        </span>
      )}
    </>
  );
}

/** Arrow keys, Home, End and Enter, as in every tree: up and down, open or in, close or out. */
function onTreeKey(event: KeyboardEvent<HTMLElement>): void {
  if (event.target instanceof HTMLInputElement) return;
  const items = itemsIn(event.currentTarget);
  const item = itemOf(event.target);
  if (!item) return;
  const expanded = item.getAttribute('aria-expanded');
  const isToggle =
    (event.key === 'Enter' && event.target === item) ||
    (event.key === 'ArrowRight' && expanded === 'false') ||
    (event.key === 'ArrowLeft' && expanded === 'true');
  if (isToggle) item.querySelector<HTMLElement>('button')?.click();
  const next = isToggle ? item : nextItem(event.key, items, item);
  if (next === null) return;
  event.preventDefault();
  next?.focus();
}

/** Tab comes back to where one was. */
function keepTabStop(event: FocusEvent<HTMLElement>): void {
  const item = itemOf(event.target);
  for (const one of itemsIn(event.currentTarget)) one.tabIndex = one === item ? 0 : -1;
}

const ITEMS = '[role="treeitem"]';

const itemsIn = (tree: HTMLElement): HTMLElement[] => [
  ...tree.querySelectorAll<HTMLElement>(ITEMS),
];

const itemOf = (target: unknown): HTMLElement | null =>
  target instanceof Element ? target.closest<HTMLElement>(ITEMS) : null;

/** Null: the key means nothing here. Undefined: there is no item in that direction. */
function nextItem(
  key: string,
  items: readonly HTMLElement[],
  item: HTMLElement,
): HTMLElement | null | undefined {
  const at = items.indexOf(item);
  switch (key) {
    case 'ArrowDown':
      return items[at + 1];
    case 'ArrowUp':
      return items[at - 1];
    case 'ArrowRight':
      return item.getAttribute('aria-expanded') === 'true' ? items[at + 1] : undefined;
    case 'ArrowLeft':
      return itemOf(item.parentElement) ?? undefined;
    case 'Home':
      return items[0];
    case 'End':
      return items.at(-1);
    default:
      return null;
  }
}
