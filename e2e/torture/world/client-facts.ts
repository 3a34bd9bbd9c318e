import { existsSync, readFileSync } from 'node:fs';
import type { ClientConfig } from '../client-program.ts';

export interface Acknowledgement {
  readonly id: string;
  readonly disposition: string;
  /** The hash of the answer that was sent last. */
  readonly hash: string;
}

/** The facts that a client saw, over all lives of its process. */
export interface ClientFacts {
  readonly name: string;
  /** It may have become another one, when its directory was lost. */
  readonly clientIds: ReadonlySet<string>;
  readonly acknowledged: readonly Acknowledgement[];
  readonly rejected: number;
  readonly problems: readonly string[];
}

const linesOf = (file: string): string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];

export function readClientFacts({ name, logFile }: ClientConfig): ClientFacts {
  const words = linesOf(logFile).map((line) => line.split(' '));
  const of = (kind: string) => words.filter(([first]) => first === kind);
  return {
    name,
    clientIds: new Set(of('welcome').map(([, id = '']) => id)),
    acknowledged: of('ack').map(([, id = '', disposition = '', hash = '']) => ({
      id,
      disposition,
      hash,
    })),
    rejected: of('rejected').length,
    problems: of('problem').map((line) => line.slice(1).join(' ')),
  };
}

/** True once it has sent its answer to this call. */
export const hasAnswered = ({ logFile }: ClientConfig, id: string): boolean =>
  linesOf(logFile).includes(`sent ${id}`);

/** By call, how often its effect was done. */
export function readEffects(file: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of linesOf(file)) {
    const [id = ''] = line.split(' ');
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
}
