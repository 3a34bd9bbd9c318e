import { showControlCharacters } from '#lib/format/show-control-characters';
import { useDevicePage } from './device-context.tsx';
import type { PairingProblem } from './pairing-api.ts';
import { fill } from './texts.ts';

/** What is wrong, and what would be right. */
export function ProblemNote({ problem, id }: { problem: PairingProblem | undefined; id?: string }) {
  const { texts } = useDevicePage();
  const { code, message } = problem ?? { code: '', message: '' };
  const known: Readonly<Record<string, string>> = texts.problem;
  const text =
    (Object.hasOwn(known, code) && known[code]) ||
    fill(texts.problem.other, { message: showControlCharacters(message || code) });
  return (
    <p id={id} role="alert" className="text-error empty:hidden">
      {problem ? text : ''}
    </p>
  );
}
