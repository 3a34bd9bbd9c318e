'use client';

import { useTranslations } from 'next-intl';
import { type ReactNode, useId } from 'react';
import { MarkedText } from '#components/ui/marked-text';
import { type Answer, QUESTION_LIMITS, type Question } from '#lib/protocol/question';

export interface QuestionFieldsProps {
  question: Question;
  /** As far as it is given. */
  answer: Answer | null;
  onChange: (answer: Answer) => void;
  /** The id of the question's text. */
  labelledBy: string;
}

/** How a person answers: a text, one of several, any of several, yes or no. */
export function QuestionFields({ question, answer, onChange, labelledBy }: QuestionFieldsProps) {
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
