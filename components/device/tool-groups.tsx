import { type ReactNode, useId } from 'react';
import { useStore } from 'zustand';
import { showControlCharacters } from '#lib/format/show-control-characters';
import type { ToolSpec } from '#lib/protocol/tool-spec';
import { useDevicePage } from './device-context.tsx';
import { type DeviceStore, type OwnTool, RULES, ruleOf } from './device-store.ts';
import { fill } from './texts.ts';
import { toolAbout, toolName, toolQuestion } from './tool-words.ts';

interface ToolGroupsProps {
  tools: readonly OwnTool[];
  store: DeviceStore;
  /** What else there is to say of a tool. */
  children?: (tool: ToolSpec) => ReactNode;
}

/** The tools of this browser with their rules, by what they are about. */
export function ToolGroups({ tools, store, children }: ToolGroupsProps) {
  const { texts } = useDevicePage();
  const groups = Map.groupBy(tools, ({ group }) => group);
  return [...groups].map(([group, members]) => (
    <section key={group} aria-labelledby={`group-${group}`} className="flex flex-col gap-1">
      <h3 id={`group-${group}`} className="font-semibold text-muted">
        {texts.own.groups[group]}
      </h3>
      <ul className="flex flex-col divide-y divide-line rounded-xl border border-line">
        {members.map(({ spec }) => (
          <li key={spec.name} className="flex flex-col gap-2 p-3">
            <RuleChoice tool={spec} store={store} />
            {children?.(spec)}
          </li>
        ))}
      </ul>
    </section>
  ));
}

/** A tool, what it does, and whether it asks. */
function RuleChoice({ tool, store }: { tool: ToolSpec; store: DeviceStore }) {
  const { texts } = useDevicePage();
  const rule = useStore(store, ({ rules }) => ruleOf(rules, tool.name));
  const id = useId();
  const label = toolName(texts, tool.name);
  const about = toolAbout(texts, tool.name);
  const question = toolQuestion(texts, { tool: tool.name });
  return (
    <>
      <div className="flex flex-col">
        <span className="font-semibold">{label}</span>
        <span className="mono text-muted">{tool.name}</span>
        {about === undefined ? (
          <span className="text-sm" lang="en">
            {showControlCharacters(tool.description)}
          </span>
        ) : (
          <span className="text-sm">{about}</span>
        )}
        {question && (
          <span className="text-muted text-sm">{fill(texts.tools.asks, { question })}</span>
        )}
      </div>
      <fieldset className="flex flex-col gap-1">
        <legend className="sr-only">{fill(texts.tools.rule, { tool: label })}</legend>
        <div className="grid grid-cols-3 overflow-hidden rounded-lg border border-linestrong">
          {RULES.map((one) => (
            <label
              key={one}
              className="flex min-h-12 cursor-pointer items-center justify-center px-1 text-center text-sm has-checked:bg-accent has-checked:font-semibold has-checked:text-accentfg has-focus-visible:outline-2 has-focus-visible:outline-ring has-focus-visible:-outline-offset-4"
            >
              <input
                type="radio"
                // Room for what lies over the lower edge: the focus stays in sight.
                className="sr-only scroll-mb-64"
                name={id}
                value={one}
                checked={rule === one}
                onChange={() => store.getState().setRule(tool.name, one)}
              />
              {texts.tools[one]}
            </label>
          ))}
        </div>
        <p className="text-muted text-sm">{texts.tools[`${rule}Hint`]}</p>
      </fieldset>
    </>
  );
}
