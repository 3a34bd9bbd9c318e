import Link from 'next/link';
import { pathOfCall } from '#lib/call/call-address';
import { MarkedText } from '../ui/marked-text.tsx';

/** What an act was done to: a call and a conversation can be opened. */
export function AuditTarget({ target }: { target: string }) {
  const name = <MarkedText text={target} />;
  const href = pageOf(target);
  return href === undefined ? (
    name
  ) : (
    <Link href={href} className="underline underline-offset-2">
      {name}
    </Link>
  );
}

function pageOf(target: string): string | undefined {
  if (target.startsWith('tc_')) return pathOfCall(target);
  return target.startsWith('run_') ? `/?run=${encodeURIComponent(target)}` : undefined;
}
