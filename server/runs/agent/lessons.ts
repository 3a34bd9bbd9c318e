/** How requests to a model differ from what is usual, since its provider refused such ones (AL220). */
export interface Lesson {
  /** Fields of the request's JSON that are not sent. */
  readonly without: ReadonlySet<string>;
  /** Fields that no message lacks that is sent. */
  readonly filled: ReadonlySet<string>;
  /** Ids of calls have nine letters or digits. */
  readonly hasStrictIds: boolean;
  /** It takes no pictures. */
  readonly isBlind: boolean;
  /** Names, as the model reads them, of tools that are not offered. */
  readonly tools: ReadonlySet<string>;
  /** Of a request and its answer; null where nothing was refused for its length. */
  readonly contextTokens: number | null;
  /** Pictures of this run that are not sent, by blob id. */
  readonly images: ReadonlySet<string>;
  /** So many messages at the beginning of this run are not sent. */
  readonly older: number;
}

export const NO_LESSON: Lesson = {
  without: new Set(),
  filled: new Set(),
  hasStrictIds: false,
  isBlind: false,
  tools: new Set(),
  contextTokens: null,
  images: new Set(),
  older: 0,
};

/** Kept until the server stops: what is forgotten costs one refused request. */
const MOST_KEPT = 1_000;

/** What providers refused: of pictures and older messages in each run, of all else for each model. */
export class Lessons {
  readonly #models = new Map<string, Lesson>();
  readonly #runs = new Map<string, Pick<Lesson, 'images' | 'older'>>();

  of(model: string, runId: string): Lesson {
    const { images, older } = this.#runs.get(runId) ?? NO_LESSON;
    return { ...(this.#models.get(model) ?? NO_LESSON), images, older };
  }

  /** After a request that was answered. */
  keep(model: string, runId: string, lesson: Lesson): void {
    keepNewest(this.#models, model, lesson);
    if (lesson.images.size > 0 || lesson.older > 0) keepNewest(this.#runs, runId, lesson);
  }
}

function keepNewest<Value>(kept: Map<string, Value>, key: string, value: Value): void {
  kept.delete(key);
  kept.set(key, value);
  const [oldest] = kept.keys();
  if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
}
