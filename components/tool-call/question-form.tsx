'use client';

// The policy of the pages forbids `eval`, which zod would try for each schema that it makes.
import './without-eval.ts';
import { useTranslations } from 'next-intl';
import { type FormEvent, type ReactNode, useId, useRef, useState } from 'react';
import { Button } from '#components/ui/button';
import { MarkedText } from '#components/ui/marked-text';
import type { Card } from '#lib/protocol/card';
import {
  type Answer,
  checkAnswer,
  QUESTION_LIMITS,
  type Question,
  questionSchema,
} from '#lib/protocol/question';
import type { CardActions } from './card-actions.ts';
import { DenyForm } from './deny-form.tsx';
import { FetchedRecord } from './fetched-record.tsx';
import { type Unsent, unsentOf } from './kept-texts.ts';
import { useFirstFocus } from './use-first-focus.ts';
import { useKeepText } from './use-kept-text.ts';

export interface QuestionFormProps {
  callId: string;
  card: Card;
  actions: Pick<CardActions, 'answer' | 'decide'>;
}

/** A question of a model, which a person answers or declines. Of one that the card has in part, the record is fetched. */
export function QuestionForm(props: QuestionFormProps) {
  const { callId, card } = props;
  return typeof card.params_bytes === 'number' ? (
    <FetchedRecord callId={callId}>{({ args }) => <Asked {...props} args={args} />}</FetchedRecord>
  ) : (
    <Asked {...props} args={card.params} />
  );
}

type AskedProps = QuestionFormProps & { args: Readonly<Record<string, unknown>> };

/** When it comes it takes no focus: what is typed elsewhere must not become an answer. */
function Asked({ callId, actions, args }: AskedProps) {
  const t = useTranslations('card.question');
  const [isSending, setSending] = useState(false);
  const [isDeclining, setDeclining] = useState(() => unsentOf(callId, 'reason') && true);
  const [answer, setAnswer] = useState<Answer | null>(() => {
    const kept = unsentOf(callId, 'answer');
    return kept && (kept.chosen ?? kept.text);
  });
  const place = useRef<HTMLDivElement>(null);
  useFirstFocus(place, '[data-approval="no"]', isDeclining === false);
  const question = questionSchema.safeParse(args).data;
  const send = async (request: Promise<boolean>) => {
    setSending(true);
    // Taken: the card changes by the watch feed, and a second click must not come between.
    if (!(await request)) setSending(false);
  };
  if (isDeclining) {
    return (
      <DenyForm
        callId={callId}
        action={t('decline')}
        isSending={isSending}
        onDeny={(note) =>
          void send(actions.decide(callId, { decision: 'no', ...(note && { note }) }))
        }
        onBack={() => setDeclining(false)}
      />
    );
  }
  const onDecline = () => setDeclining(true);
  return (
    <div ref={place} className="mt-2">
      {question ? (
        <AnswerForm
          callId={callId}
          question={question}
          answer={answer}
          isSending={isSending}
          onDecline={onDecline}
          onChange={setAnswer}
          onAnswer={(given) => void send(actions.answer(callId, given))}
        />
      ) : (
        <>
          <p>{t('unreadable')}</p>
          <Decline isSending={isSending} onDecline={onDecline} />
        </>
      )}
    </div>
  );
}

interface DeclineProps {
  isSending: boolean;
  onDecline: () => void;
}

interface AnswerFormProps extends DeclineProps {
  callId: string;
  question: Question;
  answer: Answer | null;
  onChange: (answer: Answer) => void;
  onAnswer: (answer: Answer) => void;
}

function AnswerForm({ callId, question, answer, isSending, onChange, ...props }: AnswerFormProps) {
  const t = useTranslations('card.question');
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  useKeepText(callId, form, useUnsent(question, answer));
  const checked = checkAnswer(question, answer);
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (checked.ok && !isSending) props.onAnswer(checked.answer);
  };
  return (
    <form ref={form} onSubmit={onSubmit}>
      <fieldset className="min-w-0 border-0" disabled={isSending} aria-labelledby={id}>
        {/* The model's words lie in a box of their own, so that they pass for none of ours. */}
        <p
          id={id}
          lang=""
          className="rounded-md bg-surface2 px-2 py-1.5 font-medium whitespace-pre-wrap wrap-anywhere"
        >
          <MarkedText text={question.question} keepLayout />
        </p>
        <QuestionFields question={question} answer={answer} onChange={onChange} labelledBy={id} />
      </fieldset>
      <div className="mt-2 flex flex-wrap gap-2">
        <Button type="submit" variant="primary" disabled={isSending || !checked.ok} data-decides="">
          {t('answer')}
        </Button>
        <Decline isSending={isSending} onDecline={props.onDecline} />
      </div>
    </form>
  );
}

/** The answer as it would be kept: what is written, or the words of what is chosen. */
function useUnsent({ input, choices }: Question, answer: Answer | null): Unsent {
  const t = useTranslations('card.question');
  if (answer === null) return { of: 'answer', text: '' };
  if (typeof answer === 'boolean') {
    return { of: 'answer', text: t(answer ? 'yes' : 'no'), chosen: answer };
  }
  if (input === 'text') return { of: 'answer', text: String(answer) };
  const labels = choices.filter(({ value }) => [answer].flat().includes(value));
  return { of: 'answer', text: labels.map(({ label }) => label).join('\n'), chosen: answer };
}

function Decline({ isSending, onDecline }: DeclineProps) {
  const t = useTranslations('card.question');
  return (
    <Button data-approval="no" disabled={isSending} onClick={onDecline}>
      {t('declineWith')}
    </Button>
  );
}

interface QuestionFieldsProps {
  question: Question;
  /** As far as it is given. */
  answer: Answer | null;
  onChange: (answer: Answer) => void;
  /** The id of the question's text. */
  labelledBy: string;
}

/** How a person answers: a text, one of several, any of several, yes or no. */
function QuestionFields({ question, answer, onChange, labelledBy }: QuestionFieldsProps) {
  const t = useTranslations('card.question');
  switch (question.input) {
    case 'text':
      return (
        <textarea
          aria-label={t('field')}
          aria-describedby={labelledBy}
          data-approval="yes"
          rows={3}
          maxLength={QUESTION_LIMITS.answer}
          value={typeof answer === 'string' ? answer : ''}
          onChange={(event) => onChange(event.target.value)}
          className="field mt-2 w-full"
        />
      );
    case 'yes_no':
      return (
        <Options
          type="radio"
          options={[
            { key: 'yes', label: t('yes'), isChosen: answer === true },
            { key: 'no', label: t('no'), isChosen: answer === false },
          ]}
          onChoose={(key) => onChange(key === 'yes')}
        />
      );
    case 'choice':
      return (
        <Options
          type="radio"
          options={optionsOf(question, (value) => value === answer)}
          onChoose={onChange}
        />
      );
    case 'multiple': {
      const chosen = Array.isArray(answer) ? answer : [];
      return (
        <>
          <p className="mt-2 text-xs text-muted">{t('several')}</p>
          <Options
            type="checkbox"
            options={optionsOf(question, (value) => chosen.includes(value))}
            onChoose={(value, isOn) =>
              onChange(isOn ? [...chosen, value] : chosen.filter((one) => one !== value))
            }
          />
        </>
      );
    }
  }
}

interface Option {
  readonly key: string;
  readonly label: ReactNode;
  readonly isChosen: boolean;
}

const optionsOf = ({ choices }: Question, isChosen: (value: string) => boolean): Option[] =>
  choices.map(({ value, label }) => ({
    key: value,
    label: (
      <span lang="">
        <MarkedText text={label} />
      </span>
    ),
    isChosen: isChosen(value),
  }));

interface OptionsProps {
  type: 'radio' | 'checkbox';
  options: readonly Option[];
  onChoose: (key: string, isOn: boolean) => void;
}

function Options({ type, options, onChoose }: OptionsProps) {
  const name = useId();
  return (
    <div className="mt-1 grid gap-0.5">
      {options.map(({ key, label, isChosen }, at) => (
        <label
          key={key}
          data-decides=""
          className="flex items-start gap-2 rounded-md px-1 py-0.5 wrap-anywhere hover:bg-surface2 pointer-coarse:min-h-11 pointer-coarse:items-center"
        >
          <input
            type={type}
            name={name}
            checked={isChosen}
            {...(at === 0 ? { 'data-approval': 'yes' } : {})}
            onChange={(event) => onChoose(key, event.target.checked)}
            className="mt-0.5 size-4 shrink-0 accent-accent pointer-coarse:mt-0"
          />
          <span className="min-w-0">{label}</span>
        </label>
      ))}
    </div>
  );
}
