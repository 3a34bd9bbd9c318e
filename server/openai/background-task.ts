import type { Conversation } from './read-messages.ts';

/** The beginning of what Open WebUI and those that follow it ask beside a chat. */
const TASK = /^\s*#{1,4}\s*Task:?\s*\n/i;
const TASK_PARTS =
  /<\/?chat_history>|^#{1,4}\s*(?:Output|Chat History|Guidelines|Instructions|Examples|Context)\b/im;

/** What other front ends ask for, of the chat itself: a name, a subject, what may be asked next. */
const WANTED =
  /\b(?:generate|write|create|provide|give|suggest|return|summari[sz]e|name|propose)\b[^.!?\n]{0,120}\b(?:title|topic|subject|tags?|name|emoji|follow-?ups?|next questions?|queries)\b/i;
const OF_CHAT =
  /\b(?:conversation|chat(?: history)?|dialogue|discussion|first message|messages above)\b/i;
const WANTED_CHINESE =
  /(?:生成|总结|概括|返回|起|取|提炼|建议)[^。！？\n]{0,40}(?:标题|主题|标签|话题|追问|后续问题)/;
const OF_CHAT_CHINESE = /对话|会话|聊天|这句话/;

const LONGEST_ASK = 4_000;

/**
 * Whether a front end asks for itself, beside the chat of its person (OA21): for a title, tags or
 * follow-up questions. A person may ask for the like: what is not in the form of a task is one only
 * where it is not streamed, which answers for people are.
 */
export function isBackgroundTask(
  { instructions, newest }: Pick<Conversation, 'instructions' | 'newest'>,
  isStreamed: boolean,
): boolean {
  if (TASK.test(newest) && TASK_PARTS.test(newest)) return true;
  if (isStreamed) return false;
  return [newest, instructions].some((text) => {
    const ask = text.slice(0, LONGEST_ASK);
    return (
      (WANTED.test(ask) && OF_CHAT.test(ask)) ||
      (WANTED_CHINESE.test(ask) && OF_CHAT_CHINESE.test(ask))
    );
  });
}
