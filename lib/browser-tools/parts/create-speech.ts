import type { RecognizedText, SpokenText } from '../device-parts.ts';

/** Null in a browser that cannot speak. */
export function createVoice() {
  if (!('speechSynthesis' in window && 'SpeechSynthesisUtterance' in window)) return null;
  const synthesis = window.speechSynthesis;
  return {
    /** Resolves when it has been spoken, with the voice's name where it has one. */
    async speak({ text, language, rate }: SpokenText, signal: AbortSignal) {
      const voices = await voicesOf(synthesis);
      signal.throwIfAborted();
      if (voices.length === 0) throw new SpeechError('no-voice');
      const voice = language === undefined ? undefined : fittingVoice(voices, language);
      if (language !== undefined && !voice) throw new SpeechError('language-unavailable');
      const utterance = new SpeechSynthesisUtterance(text);
      utterance.rate = rate;
      if (voice) utterance.voice = voice;
      if (language !== undefined) utterance.lang = language;
      await new Promise<void>((resolve, reject) => {
        utterance.onend = () => resolve();
        utterance.onerror = ({ error }) => reject(new SpeechError(error));
        signal.addEventListener('abort', () => synthesis.cancel(), { once: true });
        synthesis.speak(utterance);
        // Safari on phones drops what no touch has begun, without an event.
        setTimeout(() => {
          const isTaken = synthesis.speaking || synthesis.pending;
          if (!isTaken) reject(new SpeechError('not-allowed'));
        }, TAKEN_MS);
      });
      return { voice: (voice ?? voices.find((one) => one.default))?.name };
    },
  };
}

/** A browser's own word for what went wrong, e.g. `no-speech`, `not-allowed`. */
export class SpeechError extends Error {
  override readonly name = 'SpeechError';
  readonly reason: string;

  constructor(reason: string) {
    super(reason);
    this.reason = reason;
  }
}

const VOICES_MS = 1_000;
/** By then a text is spoken or in the queue. */
const TAKEN_MS = 1_000;

/** Chromium loads its voices after the first question for them. */
async function voicesOf(synthesis: SpeechSynthesis): Promise<readonly SpeechSynthesisVoice[]> {
  if (synthesis.getVoices().length === 0) {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, VOICES_MS);
      const onVoices = () => {
        clearTimeout(timer);
        resolve();
      };
      synthesis.addEventListener('voiceschanged', onVoices, { once: true });
    });
  }
  return synthesis.getVoices();
}

function fittingVoice(voices: readonly SpeechSynthesisVoice[], language: string) {
  const wanted = normal(language);
  const exact = voices.find(({ lang }) => normal(lang) === wanted);
  const [base = wanted] = wanted.split('-');
  return exact ?? voices.find(({ lang }) => normal(lang).split('-')[0] === base);
}

/** Android writes `en_GB`. */
const normal = (language: string): string => language.toLowerCase().replaceAll('_', '-');

interface Recognition extends EventTarget {
  lang: string;
  interimResults: boolean;
  start(): void;
  abort(): void;
}

interface RecognitionEvent extends Event {
  readonly results: ArrayLike<
    ArrayLike<{ readonly transcript: string; readonly confidence: number }> & {
      readonly isFinal: boolean;
    }
  >;
}

/** Null in a browser that recognizes no speech. */
export function createListening() {
  const Recognizer = (Reflect.get(window, 'SpeechRecognition') ??
    Reflect.get(window, 'webkitSpeechRecognition')) as (new () => Recognition) | undefined;
  if (!Recognizer) return null;
  return {
    /** Resolves with what was recognized until the person stopped speaking. */
    async listen(
      {
        language,
        onPart,
      }: { readonly language: string | undefined; readonly onPart: (text: string) => void },
      signal: AbortSignal,
    ) {
      const recognition = new Recognizer();
      if (language !== undefined) recognition.lang = language;
      recognition.interimResults = true;
      const abort = () => recognition.abort();
      signal.addEventListener('abort', abort, { once: true });
      try {
        return await recognize(recognition, onPart);
      } finally {
        signal.removeEventListener('abort', abort);
        recognition.abort();
      }
    },
  };
}

function recognize(
  recognition: Recognition,
  onPart: (text: string) => void,
): Promise<RecognizedText> {
  return new Promise((resolve, reject) => {
    recognition.addEventListener('result', (event) => {
      const [result] = Array.from((event as RecognitionEvent).results).slice(-1);
      const best = result?.[0];
      if (!result || !best) return;
      const { transcript: text, confidence } = best;
      if (result.isFinal) resolve({ text, confidence });
      else onPart(text);
    });
    recognition.addEventListener('error', (event) =>
      reject(new SpeechError(String(Reflect.get(event, 'error')))),
    );
    // After a result or an error it changes nothing.
    recognition.addEventListener('end', () => reject(new SpeechError('no-speech')));
    recognition.start();
  });
}
