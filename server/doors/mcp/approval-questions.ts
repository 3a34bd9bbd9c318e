import type { ServerContext } from '@modelcontextprotocol/server';
import type { Call } from '#lib/call/call';
import { pathOfCall } from '#lib/call/call-address';
import { isRecord } from '#lib/json/is-record';
import { newSecret } from '../../auth/room.ts';
import type { CallService } from '../../calls/room.ts';
import { capabilitiesOf } from './agent-session.ts';

/** A task that needs input asks these, by keys that are never used twice. */
export type InputRequests = Readonly<Record<string, InputRequest>>;

interface InputRequest {
  readonly method: 'elicitation/create';
  readonly params: { readonly mode: 'url'; readonly message: string; readonly url: string };
}

type Request = Pick<ServerContext, 'mcpReq'>;

/** One for as long as the call waits for the same decision. */
interface Question {
  readonly key: string;
  isAnswered: boolean;
}

/** An older one is asked again, under a key of its own. */
const MOST = 10_000;

export type ApprovalQuestions = ReturnType<typeof createApprovalQuestions>;

/**
 * Shows the person at a client where the approval is decided that a task waits for. What the
 * client answers decides nothing: it ends the question alone (rules MP50 to MP52).
 */
export function createApprovalQuestions(
  calls: Pick<CallService, 'follow'>,
  { isOn, publicUrl }: { readonly isOn: boolean; readonly publicUrl: string | undefined },
) {
  const open = new Map<string, Question & { leave(): void }>();

  function end(callId: string): void {
    open.get(callId)?.leave();
    open.delete(callId);
  }

  function begin(callId: string): Question {
    const [oldest] = open.keys();
    if (open.size >= MOST && oldest !== undefined) end(oldest);
    const leave = calls.follow({ callId }, ({ call: { phase } }) => {
      if (phase !== 'approval') end(callId);
    });
    const question = { key: `approval_${newSecret()}`, isAnswered: false, leave };
    open.set(callId, question);
    return question;
  }

  return {
    /** Gives what the task asks now. Undefined: it has been answered, or this client is asked nothing. */
    of(call: Call, request: Request): InputRequests | undefined {
      if (!isOn || publicUrl === undefined || call.phase !== 'approval') return undefined;
      if (!takesUrls(request)) return undefined;
      const { key, isAnswered } = open.get(call.id) ?? begin(call.id);
      if (isAnswered) return undefined;
      const url = new URL(pathOfCall(call.id), publicUrl).href;
      const message = `${call.toolName} waits for approval on the board. To open the page approves nothing: an operator decides there.`;
      return { [key]: { method: 'elicitation/create', params: { mode: 'url', message, url } } };
    },
    /** The client answered; keys of other questions count for nothing. */
    answered(callId: string, { mcpReq: { inputResponses } }: Request): void {
      const question = open.get(callId);
      if (question && isRecord(inputResponses) && Object.hasOwn(inputResponses, question.key)) {
        question.isAnswered = true;
      }
    },
  };
}

/** The client of this request opens addresses for its person. */
function takesUrls(request: Request): boolean {
  const { elicitation } = capabilitiesOf(request);
  return isRecord(elicitation) && isRecord(elicitation.url);
}
