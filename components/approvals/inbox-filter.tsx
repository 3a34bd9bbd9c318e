'use client';

import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { showControlCharacters } from '#lib/format/show-control-characters';
import type { ApprovalListing } from '#lib/protocol/watch-messages';
import { useTitles } from '../providers/workbench-context.tsx';
import { Select } from '../ui/select.tsx';
import { useConversations } from './use-origin.ts';

const ALL = '';

/** Of what waits, that of one tool and of one conversation, as a person chose (IB8); `bar` is where that is chosen. */
export function useInboxFilter(waiting: readonly ApprovalListing[]) {
  const [tool, setTool] = useState(ALL);
  const [run, setRun] = useState(ALL);
  const conversations = useConversations(waiting);
  const shown = waiting.filter(
    ({ tool_name }, at) =>
      (tool === ALL || tool_name === tool) && (run === ALL || conversations[at] === run),
  );
  const tools = [...new Set(waiting.map(({ tool_name }) => tool_name))];
  const runs = [...new Set(conversations)];
  const isOffered = tools.length > 1 || runs.length > 1 || tool !== ALL || run !== ALL;
  const bar = isOffered && (
    <FilterBar tool={tool} setTool={setTool} tools={tools} run={run} setRun={setRun} runs={runs} />
  );
  return { shown, isFiltered: tool !== ALL || run !== ALL, bar };
}

interface FilterBarProps {
  tool: string;
  setTool: (tool: string) => void;
  tools: readonly string[];
  run: string;
  setRun: (runId: string) => void;
  runs: readonly string[];
}

function FilterBar({ tool, setTool, tools, run, setRun, runs }: FilterBarProps) {
  const t = useTranslations('approvals.filter');
  const titleOf = useTitles();
  // What was chosen stays there, though nothing of it waits any more.
  const withChosen = (all: readonly string[], chosen: string) =>
    chosen === ALL || all.includes(chosen) ? all : [...all, chosen];
  const options = (all: readonly string[], words: (one: string) => string) =>
    all.map((value) => ({ value, label: showControlCharacters(words(value)) }));
  return (
    <div className="mb-3 flex flex-wrap gap-2" data-testid="inbox-filter">
      <Select
        label={t('tool')}
        className="max-w-full"
        value={tool}
        onValueChange={setTool}
        options={[
          { value: ALL, label: t('allTools') },
          ...options(withChosen(tools, tool), (one) => one),
        ]}
      />
      <Select
        label={t('run')}
        className="max-w-full"
        value={run}
        onValueChange={setRun}
        options={[{ value: ALL, label: t('allRuns') }, ...options(withChosen(runs, run), titleOf)]}
      />
    </div>
  );
}
