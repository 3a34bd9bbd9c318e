import { showControlCharacters as shown } from '#lib/format/show-control-characters';
import type { CallNoticeData, Notice } from '#lib/protocol/notice';

/** Of importance as ntfy counts it: 3 is ordinary, 4 is high. */
export interface NoticeText {
  readonly title: string;
  readonly text: string;
  readonly priority: 3 | 4;
  /** A name of an emoji, as ntfy and Slack have it. */
  readonly tag: string;
}

/** A notice as a person reads it, in English. No text of others makes a line of its own. */
export function describeNotice({ type, data }: Notice): NoticeText {
  switch (type) {
    case 'approval.requested':
      return {
        title: `Approval needed: ${toolOf(data)}`,
        text: [askedBy(data), data.reason && shown(data.reason)].filter(Boolean).join('\n'),
        ...{ priority: 4, tag: 'raised_hand' },
      };
    case 'approval.decided':
      return {
        title: `${DECISIONS[data.decision]}: ${toolOf(data)}`,
        text: data.decided_by === null ? askedBy(data) : `By ${shown(data.decided_by)}`,
        ...{ priority: 3, tag: 'ballot_box_with_check' },
      };
    case 'call.finished': {
      const isGood = data.outcome === 'ok';
      return {
        title: isGood ? `Done: ${toolOf(data)}` : `Failed: ${toolOf(data)}`,
        text: isGood ? askedBy(data) : `${data.outcome}\n${askedBy(data)}`,
        ...{ priority: 3, tag: isGood ? 'white_check_mark' : 'x' },
      };
    }
    case 'client.offline':
      return {
        title: `Offline: ${shown(data.name)}`,
        text: `The ${data.kind} has no connection any more.`,
        ...{ priority: 3, tag: 'electric_plug' },
      };
    case 'run.finished':
      return {
        title: data.error === null ? 'A turn has ended' : 'A turn has failed',
        text: data.error === null ? shown(data.title) : `${shown(data.title)}\n${data.error}`,
        ...{ priority: 3, tag: data.error === null ? 'white_check_mark' : 'x' },
      };
  }
}

const DECISIONS = {
  yes: 'Approved',
  no: 'Denied',
  always: 'Approved for good',
  answer: 'Answered',
  expired: 'Not decided in time',
  ended: 'No decision needed any more',
};

const toolOf = ({ display_name, tool_name, client }: CallNoticeData): string => {
  const name = display_name === null ? tool_name : `${display_name} (${tool_name})`;
  return shown(client === null ? name : `${name} on ${client.name ?? client.client_id}`);
};

const askedBy = ({ requested_by }: CallNoticeData): string => `Asked by ${shown(requested_by)}`;
