import type { ApiGroup } from './api-document.ts';
import { OperationView } from './operation-view.tsx';

export const groupAnchor = (name: string): string => name.replaceAll(' ', '-');

/** Operations of one kind. */
export function GroupSection({ group }: { group: ApiGroup }) {
  const id = groupAnchor(group.name);
  return (
    <section aria-labelledby={id} className="mt-8">
      <h2 id={id} className="scroll-mt-4 font-semibold text-xl capitalize">
        {group.name}
      </h2>
      {group.operations.map((operation) => (
        <OperationView key={operation.id} operation={operation} />
      ))}
    </section>
  );
}
