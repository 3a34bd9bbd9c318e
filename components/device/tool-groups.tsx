import type { ReactNode } from 'react';
import type { ToolSpec } from '#lib/protocol/tool-spec';
import { useDevicePage } from './device-context.tsx';
import type { DeviceStore, OwnTool } from './device-store.ts';
import { RuleChoice } from './rule-choice.tsx';

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
