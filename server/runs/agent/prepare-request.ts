import { abortable } from '#lib/util/abortable';
import type { ResolvedModel } from './agent.ts';
import type { Lesson } from './lessons.ts';
import { describeRequest } from './model-request.ts';
import { contentRefused, imagesRefused, type Notice } from './notices.ts';
import { preparePrompt, refusableOf, type StepPlan, type StepPrompt } from './prepare-prompt.ts';
import { lessonOf } from './read-refusal.ts';
import type { Turn } from './turn.ts';
import { withSettings } from './with-settings.ts';

/** A request that is about to be made. */
export interface PreparedRequest {
  readonly prompt: StepPrompt;
  readonly described: ReturnType<typeof describeRequest>;
  readonly lesson: Lesson;
  /** Asked in the way that its provider takes. */
  readonly model: ResolvedModel;
}

export async function prepareRequest(
  turn: Turn,
  plan: StepPlan,
  lesson = turn.deps.lessons.of(turn.model.ref, turn.runId),
): Promise<PreparedRequest> {
  const prompt = await abortable(turn.signal, preparePrompt(turn, plan, lesson));
  const described = describeRequest({
    ...{ ...prompt, tools: prompt.tools?.definitions ?? [], resultBytes: turn.deps.resultBytes },
  });
  const settings = { ...turn.deps.settings, ...turn.model.settings, ...turn.settings };
  const languageModel = withSettings(turn.model.taught(lesson), settings);
  const model = { ...turn.model, languageModel };
  return { prompt, described, lesson, model };
}

/** The request once more without what was refused (AL220); undefined where that is no use. */
export async function withoutRefused(
  turn: Turn,
  plan: StepPlan,
  { prompt, described, lesson: before }: PreparedRequest,
  refusal: unknown,
): Promise<PreparedRequest | undefined> {
  const lesson = lessonOf(refusal, refusableOf(prompt), before);
  if (!lesson) return undefined;
  const request = await prepareRequest(turn, plan, lesson);
  const isShorter = request.described.promptSha256 !== described.promptSha256;
  return isShorter || lesson.contextTokens === before.contextTokens ? request : undefined;
}

/** What people read once a request was answered that another lesson was drawn for. */
export function refusedNotices(model: string, before: Lesson, after: Lesson): Notice[] {
  const isNew = (kind: 'without' | 'tools') =>
    [...after[kind]].filter((name) => !before[kind].has(name));
  const names = [...isNew('without'), ...isNew('tools')];
  const hasLostImages = after.images.size > before.images.size || after.isBlind !== before.isBlind;
  return [
    ...(hasLostImages ? [imagesRefused(model)] : []),
    ...(names.length > 0 ? [contentRefused(model, names)] : []),
  ];
}
