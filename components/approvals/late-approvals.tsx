'use client';

import { late } from '../ui/late.tsx';

/** Its cards and actions stay out of what the workbench loads first. */
export const LateApprovals = late<object>(
  () => import('./approvals-page.tsx').then((module) => module.ApprovalsPage),
  { frame: (words) => <div className="mx-auto max-w-3xl p-4">{words}</div> },
);
