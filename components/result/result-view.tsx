'use client';

import { useTranslations } from 'next-intl';
import { Fragment, useState } from 'react';
import { PICTURE_NOTES } from '#lib/browser-tools/screenshot-tool';
import { jsonLine } from '#lib/format/json-preview';
import { isRecord } from '#lib/json/is-record';
import { isSmallJson } from '#lib/json/measure-json';
import type { Attachment } from '#lib/protocol/attachment';
import { FormattedText } from '../conversation/assistant-text.tsx';
import { Boundary } from '../ui/boundary.tsx';
import { MarkedText } from '../ui/marked-text.tsx';
import { AttachmentList } from './attachment-list.tsx';
import { CannotShow } from './cannot-show.tsx';
import { chooseResultView, type Fact, type ResultView as View } from './choose-result-view.ts';
import { DownloadButton } from './download-button.tsx';
import { JsonTree } from './json-tree.tsx';
import { LongText } from './long-text.tsx';
import { PART_CHARS, PagedText } from './paged-text.tsx';
import { PartNote, type Whole } from './part-note.tsx';
import { PositionView } from './position-view.tsx';
import { TableView } from './table-view.tsx';
import { WeatherView } from './weather-view.tsx';

export interface ResultViewProps {
  /** `undefined`: the tool returned nothing. Every other value is shown as itself. */
  value: unknown;
  attachments: readonly Attachment[];
  /** Name of the tool, for alternative texts and file names. */
  name: string;
  blobUrl: (blobId: string) => string;
  /** Given when `value` is only the beginning: how the whole is had. */
  whole?: Whole | undefined;
  /** It is a model's own answer, which is formatted as a message is (RV9). */
  isAnswer?: boolean;
}

/** A tool's answer for people, always as data: never as HTML, and as Markdown only a model's own answer. */
export const ResultView = (props: ResultViewProps) => (
  <Boundary of={props.value} fallback={<CannotShow value={props.value} name={props.name} />}>
    <DrawnResult {...props} />
  </Boundary>
);

type Mode = 'view' | 'raw' | 'text';

function DrawnResult(props: ResultViewProps) {
  const { value, attachments, name, blobUrl, whole, isAnswer = false } = props;
  const t = useTranslations('card');
  const [mode, setMode] = useState<Mode>('view');
  const view = chooseResultView(value);
  const raw = <JsonTree value={value} label={t('result.tree')} />;
  // An attachment is the whole result where the tool returned nothing beside it.
  const isOnlyFiles = attachments.length > 0 && (value === undefined || value === null);
  return (
    <div data-testid="result" data-result-kind={view.kind}>
      {attachments.length > 0 && (
        <AttachmentList
          attachments={attachments}
          name={name}
          blobUrl={blobUrl}
          isReconstructed={isReconstructed(value)}
        />
      )}
      {!isOnlyFiles && (
        <Boundary
          of={value}
          fallback={
            <>
              <p className="text-error">{t('result.drawFailed')}</p>
              {raw}
            </>
          }
        >
          {mode === 'raw' && raw}
          {mode === 'text' && <AsText value={value} />}
          {mode === 'view' && !isCaption(value, attachments) && (
            <Body view={view} label={t('result.tree')} isAnswer={isAnswer} />
          )}
        </Boundary>
      )}
      {value !== undefined && !isOnlyFiles && (
        <div className="mt-1 flex flex-wrap gap-3 text-xs">
          {otherModes(view, mode).map((one) => (
            <button key={one} type="button" className="link-button" onClick={() => setMode(one)}>
              {t(`action.${one}`)}
            </button>
          ))}
          {!whole && <DownloadButton value={value} name={name} label={t('action.download')} />}
        </div>
      )}
      {whole && <PartNote shown={value} whole={whole} />}
    </div>
  );
}

/** Up to this size a tree shows all that text would. */
const SMALL_TREE = { maxNodes: 80, maxBytes: 1_000 };

/** How else it can be shown: a small tree holds all that its text would. */
function otherModes(view: View, mode: Mode): Mode[] {
  if (view.kind === 'scalar' || view.kind === 'nothing') return [];
  const isSmall = !('value' in view) || isSmallJson(view.value, SMALL_TREE);
  const modes: Mode[] = ['view'];
  if (view.kind !== 'json') modes.push('raw');
  if (!isSmall) modes.push('text');
  return modes.filter((one) => one !== mode);
}

function AsText({ value }: { value: unknown }) {
  const t = useTranslations('card.result');
  return <PagedText text={JSON.stringify(value, null, 2)} label={t('text')} />;
}

/** Screenshots drawn from the page's elements have a note of that in their result. */
const isReconstructed = (value: unknown): boolean =>
  isRecord(value) && (value.reconstructed === true || value.mode === 'page');

function Body({ view, label, isAnswer }: { view: View; label: string; isAnswer: boolean }) {
  const t = useTranslations('card.result');
  switch (view.kind) {
    case 'nothing':
      return <p className="text-muted">{t('nothing')}</p>;
    case 'text':
      return view.text === '' ? (
        <p>
          <code className="mono">""</code> <span className="text-muted">{t('emptyText')}</span>
        </p>
      ) : view.text.length > PART_CHARS ? (
        <PagedText text={view.text} label={t('text')} />
      ) : isAnswer ? (
        <FormattedText text={view.text} streaming={false} />
      ) : (
        <p>
          <LongText text={view.text} />
        </p>
      );
    case 'scalar':
      return <code className="mono text-sm">{String(view.value)}</code>;
    case 'position':
      return <PositionView position={view.position} />;
    case 'weather':
      return <WeatherView weather={view.weather} />;
    case 'table':
      return <TableView table={view.table} />;
    case 'facts':
      return <FactsView facts={view.facts} />;
    case 'json':
      return <Json value={view.value} label={label} />;
  }
}

/** Looks at no more than the first of them. */
function hasOwnKeys(value: object): boolean {
  for (const key in value) if (Object.hasOwn(value, key)) return true;
  return false;
}

function Json({ value, label }: { value: unknown; label: string }) {
  const t = useTranslations('card.result');
  const isEmpty = typeof value === 'object' && value !== null && !hasOwnKeys(value);
  if (!isEmpty) return <JsonTree value={value} label={label} />;
  return (
    <p>
      <code className="mono">{Array.isArray(value) ? '[]' : '{}'}</code>{' '}
      <span className="text-muted">{t(Array.isArray(value) ? 'emptyList' : 'emptyObject')}</span>
    </p>
  );
}

/**
 * Whether a result has no more than what is below its picture anyway: facts
 * of an attachment, and how this system's own tools took the picture. With any
 * other key, or another value, it is a result to be shown.
 */
function isCaption(value: unknown, attachments: readonly Attachment[]): boolean {
  if (!isRecord(value)) return false;
  return attachments.some((attachment) => {
    const facts = new Map<string, unknown>(Object.entries(attachment));
    const more = Object.keys(value).filter((key) => {
      if (key === 'media_type') return value[key] !== attachment.media_type;
      const isFact = facts.has(key)
        ? facts.get(key) === value[key]
        : SIZE.has(key) && typeof value[key] === 'number';
      return !isFact;
    });
    return 'media_type' in value && isOurs(more, value);
  });
}

/** The store measures pictures, but not those of every format. */
const SIZE = new Set(['width', 'height']);

/** The screenshot has a note of how it was taken, in words of our own; the camera, which one it was. */
function isOurs(
  keys: readonly string[],
  { mode, note, facing, displaySurface }: Record<string, unknown>,
): boolean {
  const ourNote = mode === 'page' || mode === 'display' ? PICTURE_NOTES[mode] : undefined;
  const isPhoto = facing === 'user' || facing === 'environment';
  return keys.every((key) => {
    if (key === 'facing') return isPhoto;
    if (key === 'note') return note === ourNote;
    if (key === 'displaySurface') return mode === 'display' && displaySurface === 'browser';
    return key === 'mode' && ourNote !== undefined;
  });
}

/** A few named values, e.g. what a device reports about itself. */
export const FactsView = ({ facts }: { facts: readonly Fact[] }) => (
  <dl className="grid items-baseline grid-cols-[minmax(0,auto)_minmax(0,1fr)] gap-x-4 gap-y-0.5">
    {facts.map(({ name, value }) => (
      <div key={name} className="contents">
        <dt className="mono text-muted wrap-anywhere">
          <MarkedText text={name} />
        </dt>
        <dd className="min-w-0 wrap-anywhere">
          <FactValue value={value} />
        </dd>
      </div>
    ))}
  </dl>
);

/** Facts are short; what is longer than this was no fact. */
const MAX_CHARS = 400;

function FactValue({ value }: { value: unknown }) {
  if (Array.isArray(value) && value.length > 0) {
    return value.map((item: unknown, at) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: items have no name and never change places.
      <Fragment key={at}>
        {at > 0 && ', '}
        <FactValue value={item} />
      </Fragment>
    ));
  }
  const isText = typeof value === 'string' && value !== '';
  return <MarkedText text={isText ? value : jsonLine(value, MAX_CHARS)} />;
}
