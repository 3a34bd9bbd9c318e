import { formatDuration } from '#lib/format/amounts';
import { personName } from '#lib/format/person-name';
import type { CallError, CallErrorReason } from '#lib/protocol/call-status';
import type { Card } from '#lib/protocol/card';
import type { CardTranslator } from './card-translator.ts';
import type { CardView } from './card-view.ts';
/** A sentence on a card. `own` marks the tool's own words, which are not in our language. */
export interface CardSentence {
  readonly text: string;
  readonly own: boolean;
}

/** The sentence for people under a card's first row; null when there is none. */
export function cardSentence(card: Card, view: CardView, t: CardTranslator): CardSentence | null {
  const client = formatClient(card, t);
  const own = card.tip ? { text: card.tip, own: true } : null;
  switch (view.kind) {
    case 'streaming':
      return own ?? ours(t('tip.streaming'));
    case 'held':
      return ours(t('tip.held'));
    case 'queued':
      return ours(t('tip.queued', { client: formatClient(card, t, 'anyClient') }));
    case 'approval':
      return approvalSentence(card, t) ?? own ?? ours(t('tip.approval'));
    case 'question':
      // Who may answer has the whole of it below.
      return card.approval_reason && !view.actions.answer
        ? { text: card.approval_reason, own: true }
        : ours(t('question.tip'));
    case 'offered':
    case 'device':
    case 'away':
    case 'cancelling':
      return ours(t(`tip.${view.kind}`, { client }));
    default:
      return view.isLive || view.kind === 'done' ? own : null;
  }
}

/** Of a call that is asked about for several reasons each of them (CD34); else none. */
export function approvalReasons(card: Card, view: CardView, t: CardTranslator): CardSentence[] {
  const { approval_reasons: reasons = [], tool_name: tool = '' } = card;
  if (view.kind !== 'approval' || reasons.length < 2) return [];
  return reasons.map(({ code, text, read }) => {
    if (code === 'rule' || code === 'hook') return { text, own: true };
    if (code !== 'taint') return ours(t(`tip.${code}`, { tool }));
    return read
      ? ours(t('tip.taint', { secret: read.private, others: read.untrusted, tool }))
      : { text, own: true };
  });
}

/** Why a person is asked, by its code where it has one (CD34). */
function approvalSentence(card: Card, t: CardTranslator): CardSentence | null {
  const { approval_reason: reason, approval_reason_code: code } = card;
  const { approval_reason_params: read, tool_name: tool } = card;
  if (code === 'changed') return ours(t('tip.changed', { client: formatClient(card, t) }));
  if (!code || !tool) return reason ? { text: reason, own: true } : null;
  const taint = read && t('tip.taint', { secret: read.private, others: read.untrusted, tool });
  if (code === 'taint') return taint ? ours(taint) : null;
  const first = t(`tip.${code}`, { tool });
  return ours(taint ? t('tip.both', { first, second: taint }) : first);
}

const ours = (text: string): CardSentence => ({ text, own: false });

/** Who runs it in words: a client by its name, its id, or as such, another provider by its kind. */
export function formatClient(
  { source = 'client', client_name, client_id }: Card,
  t: CardTranslator,
  unnamed: 'client' | 'anyClient' = 'client',
): string {
  if (source === 'server' || source === 'pool') return t(`source.${source}`);
  return source === 'client' ? (client_name ?? client_id ?? t(`source.${unnamed}`)) : source;
}

/** Why a call failed, in our words; the server's own are beside it. */
export function formatCause(card: Card, t: CardTranslator, locale: string): string {
  const { error } = card;
  if (!error) return t('error.noReason');
  if (isCancelledBy(card)) {
    return t('error.cancelledBy', { name: personName(card.cancelled_by) });
  }
  if (card.question && error.code === 'approval_expired') return t('question.expired');
  if (card.question && card.approval_decision?.decision === 'no') return t('question.declined');
  if (error.code === 'approval_expired' && error.params?.seconds) {
    return t('error.expiredAfter', { limit: formatLimit(Number(error.params.seconds), locale) });
  }
  const client = formatClient(card, t);
  if (error.code === 'timeout') {
    const limit = formatDuration(card.timeout_ms ?? 0, locale, { whole: true });
    return t(`error.timeout.${error.clock ?? 'other'}`, { client, limit });
  }
  if (isPermissionDenied(card)) return t('error.permission');
  if (error.reason === 'server_left') {
    return t('error.reason.server_left', { name: error.params?.name ?? '' });
  }
  if (error.code === 'outcome_unknown' || error.reason === 'client_revoked') {
    return t(`error.outcome_unknown.${whoLost(error)}`, { client });
  }
  if (isContentChanged(error)) {
    return t('error.reason.content_changed', { name: error.params?.name ?? card.tool_name ?? '' });
  }
  const reason = OF_MODELS.find((one) => one === error.reason);
  if (reason !== undefined) return t(`error.reason.${reason}`);
  return t(`error.${error.code}`, { client });
}

/** In minutes where they are whole. */
function formatLimit(seconds: number, locale: string): string {
  const isWhole = seconds % 60 === 0;
  const unit = isWhole ? 'minute' : 'second';
  const format = new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'short' });
  return format.format(isWhole ? seconds / 60 : seconds);
}

const isCancelledBy = (card: Card): card is Card & { cancelled_by: string } =>
  card.error?.code === 'cancelled' && card.cancelled_by !== undefined;

/** What the server or the tool wrote of a failure, beside our words; null where it only repeats them in English. */
export function ownMessage(card: Card): string | null {
  const { error, approval_decision: decision } = card;
  // The cause names the clock that ran out, and who cancelled.
  if (
    !error ||
    error.code === 'timeout' ||
    error.code === 'approval_expired' ||
    isCancelledBy(card)
  )
    return null;
  if (error.reason === 'repeated_call' || isContentChanged(error)) return null;
  // Who denied it stands below; why is that person's own words.
  if (error.code === 'denied' && decision?.decision === 'no') return decision.note ?? null;
  return error.message;
}

const isContentChanged = ({ reason }: CallError): boolean =>
  reason === ('content_changed' satisfies CallErrorReason);

/** Why what a model wrote was no call that could run. */
const OF_MODELS = [
  'not_offered',
  'no_name',
  'too_many_calls',
  'too_many_approvals',
  'approval_rate',
  'not_alone',
  'repeated_call',
  'rate_limited',
  'arguments_unreadable',
  'arguments_cut',
  'arguments_incomplete',
] as const satisfies readonly CallErrorReason[];

/** Records from before there were reasons have it in the words of the server alone (CD19). */
function whoLost({ reason, message }: CallError): 'left' | 'revoked' | 'back' | 'other' {
  if (reason === 'client_revoked') return 'revoked';
  if (reason === 'client_back' || message.startsWith('The client came back')) return 'back';
  return reason === 'client_left' || message.startsWith('The client left') ? 'left' : 'other';
}

/** What the person can do about it; null when the cause is enough. */
export function formatNextStep(card: Card, t: CardTranslator): string | null {
  const { error } = card;
  if (!error) return null;
  if (isPermissionDenied(card)) return t('next.permission');
  if (error.code === 'timeout') return error.clock === 'queue' ? t('next.timeout_queue') : null;
  // Opening a client does not help a model that named another tool.
  if (error.code === 'no_provider' && error.reason !== undefined) return null;
  // It does not come back.
  if (error.reason === 'client_revoked') return null;
  switch (error.code) {
    case 'invalid_args':
    case 'no_provider':
    case 'client_disconnected':
    case 'result_too_large':
      return t(`next.${error.code}`);
    default:
      return null;
  }
}

const isPermissionDenied = (card: Card): boolean =>
  card.error?.code === 'tool_error' && card.error.client_code === 'permission_denied';
