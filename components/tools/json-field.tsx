'use client';

import type { FieldProps } from '@rjsf/utils';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { JsonText } from './json-text.tsx';

/** One property that no plain field can show faithfully, edited as JSON. */
export function JsonField(props: FieldProps) {
  const t = useTranslations('tools.try');
  const { fieldPathId, onChange } = props;
  const [problem, setProblem] = useState<string | null>(null);
  const id = fieldPathId.$id;
  return (
    <>
      <JsonText
        id={id}
        value={props.formData}
        describedBy={`${id}__description ${id}__error`}
        isInvalid={problem !== null || (props.rawErrors?.length ?? 0) > 0}
        rows={3}
        onValue={(value) => {
          setProblem(null);
          reportOf(props)?.(id, false);
          onChange(value, fieldPathId.path, undefined, id);
        }}
        onProblem={(message) => {
          setProblem(message);
          reportOf(props)?.(id, true);
        }}
      />
      {problem !== null && (
        <p role="alert" className="text-[13px] text-error">
          {t('notJson', { problem })}
        </p>
      )}
    </>
  );
}

/** Reports to the form that a field holds text that is not JSON, which must not be sent as what it was before. */
export type ReportProblem = (fieldId: string, isBroken: boolean) => void;

function reportOf(props: FieldProps): ReportProblem | undefined {
  const context: unknown = props.registry.formContext;
  return isFormContext(context) ? context.report : undefined;
}

const isFormContext = (value: unknown): value is { report: ReportProblem } =>
  typeof value === 'object' && value !== null && 'report' in value;
