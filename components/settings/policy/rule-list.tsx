'use client';

import { useTranslations } from 'next-intl';
import { type ReactNode, useId } from 'react';
import type { PolicyStateAnswer } from '#lib/policy/policy-wire';
import { MarkedText } from '../../ui/marked-text.tsx';

type Definition = PolicyStateAnswer['policy'];
type Rule = Pick<Definition['rules'][number], 'name' | 'effect' | 'reason'> & object;

const LIST = { role: 'list' };

/** A part of the page with a list, which says so where there is nothing in it. */
export function Listed(props: {
  title: string;
  text?: string;
  none: string;
  children: ReactNode[];
}) {
  const titleId = useId();
  return (
    <section aria-labelledby={titleId} className="mt-6">
      <h2 id={titleId} className="text-base font-bold">
        {props.title}
      </h2>
      {props.text && <p className="text-muted">{props.text}</p>}
      {props.children.length === 0 && <p className="text-muted">{props.none}</p>}
      <ol className="mt-1 divide-y divide-line" {...LIST}>
        {props.children}
      </ol>
    </section>
  );
}

/** In the order of the file, the short form first, by the names under which records have them. */
function rulesOf({ ask, deny, rules }: Definition): (Rule & { id: string })[] {
  return [
    ...deny.map((tool, at) => ({ id: `deny.${at}`, effect: 'deny' as const, tools: [tool] })),
    ...ask.map((tool, at) => ({ id: `ask.${at}`, effect: 'ask' as const, tools: [tool] })),
    ...rules.map((rule, at) => ({ ...rule, id: rule.name ?? `rules.${at}` })),
  ];
}

export const EFFECT_TONES = {
  allow: 'bg-successbg text-success',
  ask: 'bg-waitbg text-wait',
  deny: 'bg-errorbg text-error',
} as const;

/** What each rule does, to which calls, and what becomes of the others. */
export function RuleList({ policy }: { policy: Definition }) {
  const t = useTranslations('settings.policy');
  return (
    <Listed
      title={t('rules')}
      text={`${t('rulesText')} ${t(`unknown.${policy.unknown_effects}`)}`}
      none={t('noRules')}
    >
      {rulesOf(policy).map(({ id, effect, reason, name: _, ...scope }) => (
        <li key={id} data-testid="policy-rule" data-name={id} className="py-2 wrap-anywhere">
          <p>
            <span className={`chip ${EFFECT_TONES[effect]}`}>{t(`effect.${effect}`)}</span>{' '}
            <span className="mono font-semibold">
              <MarkedText text={id} />
            </span>
          </p>
          {reason !== undefined && (
            <p>
              <MarkedText text={reason} />
            </p>
          )}
          <Scope scope={scope} />
        </li>
      ))}
    </Listed>
  );
}

function Scope({ scope }: { scope: object }) {
  const t = useTranslations('settings.policy');
  const parts = Object.entries(scope).filter(([, value]) => value !== undefined);
  if (parts.length === 0) return <p className="text-[13px] text-muted">{t('allCalls')}</p>;
  return (
    <dl className="text-[13px]">
      {parts.map(([key, value]) => (
        <div key={key}>
          <dt className="inline text-muted">{key}: </dt>
          <dd className="mono inline">
            <MarkedText text={JSON.stringify(value)} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** How often calls may be made. */
export function LimitList({ limits }: { limits: Definition['limits'] }) {
  const t = useTranslations('settings.policy');
  const common = useTranslations('common');
  return (
    <Listed title={t('limits')} none={t('noLimits')}>
      {limits.map(({ name, calls, seconds, each = [], ...scope }, at) => (
        <li key={name ?? at} data-testid="policy-limit" className="py-2 wrap-anywhere">
          <p>
            <span className="mono font-semibold">
              <MarkedText text={name ?? `limits.${at}`} />
            </span>{' '}
            {t('limit', { calls, seconds })}
            {each.length > 0 &&
              ` ${t('each', { each: each.map((one) => t(`countedBy.${one}`)).join(common('separator')) })}`}
          </p>
          <Scope scope={scope} />
        </li>
      ))}
    </Listed>
  );
}

const MARKS = ['private', 'untrusted', 'way_out'] as const;

/** Which tools read what is private or foreign, and which could carry it out. */
export function MarkList({ taint }: { taint: Definition['taint'] }) {
  const t = useTranslations('settings.policy');
  return (
    <Listed title={t('taint')} text={t('taintText')} none="">
      {MARKS.map((mark) => (
        <li key={mark} data-testid="policy-mark" className="py-2 wrap-anywhere">
          {t(`mark.${mark}`, { count: taint[mark].length })}{' '}
          <span className="mono">
            <MarkedText text={taint[mark].join(', ')} />
          </span>
        </li>
      ))}
    </Listed>
  );
}
