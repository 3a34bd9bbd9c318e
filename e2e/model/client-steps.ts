import type { Design } from './design.ts';
import {
  type Bounds,
  type Instance,
  isRerunnableAt,
  newClient,
  post,
  type World,
} from './world.ts';

/** The client library does this (lib/client, rules CL6 to CL11, CL18), step by step. */
export function createClients(design: Design, bounds: Bounds) {
  const { claims } = bounds;
  const say = (w: World, i: Instance, type: string, attempt: number, text = '-') => {
    const { conn } = w.clients[i];
    if (conn > 0) post(w, `s ${i} ${conn} ${type} ${attempt} ${text}`);
  };

  function start(w: World, i: Instance, attempt: number): void {
    const client = w.clients[i];
    Object.assign(client, { claimed: 0, run: 'started', attempt });
    if (claims && design.journal === 'before the run') remember(w, i, 'started');
  }

  function remember(w: World, i: Instance, phase: 'started' | 'done'): void {
    const { journal, attempt } = w.clients[i];
    w.clients[i].journal = { ...journal, phase, attempt };
  }

  /** On disk before it is sent. */
  function answer(w: World, i: Instance, text: string): void {
    Object.assign(w.clients[i], { run: 'none', answer: text });
    if (claims) remember(w, i, 'done');
    say(w, i, 'answer', w.clients[i].attempt, text);
  }

  function requested(w: World, i: Instance, attempt: number): void {
    const client = w.clients[i];
    const knows = client.run !== 'none' || client.answer !== null;
    if (!claims) return knows ? undefined : start(w, i, attempt);
    if (knows && design.repeats === 'answers from the journal') {
      if (attempt > client.attempt) {
        client.reclaimed = attempt;
        say(w, i, 'claim', attempt);
      } else if (client.answer !== null) say(w, i, 'answer', client.attempt, client.answer);
      return;
    }
    if (client.over >= attempt || client.claimed >= attempt || client.run !== 'none') return;
    if (design.runs === 'when offered') return start(w, i, attempt);
    Object.assign(client, { claimed: attempt, cancelled: false, answer: null });
    say(w, i, 'claim', attempt);
  }

  function granted(w: World, i: Instance, attempt: number): void {
    const client = w.clients[i];
    if (client.reclaimed === attempt) {
      Object.assign(client, { reclaimed: 0, attempt });
      if (client.answer !== null) answer(w, i, client.answer);
    } else if (client.claimed === attempt) {
      start(w, i, attempt);
      if (client.cancelled) answer(w, i, 'cancelled');
    }
  }

  function forget(w: World, i: Instance): void {
    const client = w.clients[i];
    if (client.answer === null) return;
    Object.assign(client, { answer: null, over: client.attempt, attempt: 0, reclaimed: 0 });
    client.journal = { ...client.journal, phase: 'nothing', attempt: 0 };
  }

  function cancel(w: World, i: Instance): void {
    const client = w.clients[i];
    if (client.claimed > 0) client.cancelled = true;
    // A tool that heeds its signal before its effect has none.
    if (client.run === 'started') answer(w, i, 'cancelled');
  }

  return {
    requested,
    granted,
    cancel,
    answer,
    refused(w: World, i: Instance, attempt: number) {
      const client = w.clients[i];
      if (client.reclaimed === attempt) client.reclaimed = 0;
      if (client.claimed === attempt) client.claimed = 0;
    },
    replied(w: World, i: Instance, text: string) {
      if (text === w.clients[i].answer) w.acked = text;
      forget(w, i);
    },
    connect(w: World, i: Instance, conn: number) {
      const client = w.clients[i];
      client.conn = conn;
      const done = client.answer === 'outcome_unknown' ? 'started' : 'done';
      const known = client.answer !== null ? done : client.run === 'none' ? 'nothing' : 'running';
      // It names the attempt that it knows.
      say(w, i, 'hello', client.journal.epoch, claims ? `${known}:${client.attempt}` : 'nothing:0');
    },
    welcomed(w: World, i: Instance, action: string) {
      const client = w.clients[i];
      client.welcomed = true;
      if (action === 'forget') forget(w, i);
      if (action === 'cancel' || action === 'forget') cancel(w, i);
      if (client.answer !== null) say(w, i, 'answer', client.attempt, client.answer);
      say(w, i, 'register', 0);
    },
    disconnected(w: World, i: Instance) {
      Object.assign(w.clients[i], { conn: 0, welcomed: false, claimed: 0, reclaimed: 0 });
    },
    /** The tool's effect. */
    run(w: World, i: Instance) {
      const client = w.clients[i];
      w.effects.push(`${i}${client.attempt}`);
      client.run = 'ran';
    },
    /** The program ends and is started again, with what its journal holds, or a new one. */
    restart(w: World, i: Instance, isJournalLost: boolean) {
      const { journal, answer } = w.clients[i];
      const isRenewed = isJournalLost && design.lostJournal === 'has a new epoch';
      const kept = newClient(journal.epoch + (isRenewed ? 1 : 0));
      w.clients[i] = kept;
      if (!claims || isJournalLost || journal.phase === 'nothing') return;
      if (journal.phase === 'started' && isRerunnableAt(bounds, i)) return;
      kept.journal = journal;
      kept.attempt = journal.attempt;
      kept.answer = journal.phase === 'done' ? answer : 'outcome_unknown';
    },
  };
}
