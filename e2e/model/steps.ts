import { createClients } from './client-steps.ts';
import type { Design } from './design.ts';
import { createServer } from './server-steps.ts';
import {
  type Bounds,
  durableOf,
  INSTANCES,
  type Instance,
  newRec,
  type Rec,
  type World,
} from './world.ts';

export interface Step {
  readonly label: string;
  /** Changes the world that it is given. */
  take(w: World): void;
}

/** All that can happen next. */
export function createSteps(design: Design, bounds: Bounds): (w: World) => Step[] {
  const server = createServer(design, bounds);
  const clients = createClients(design, bounds);
  const instances = bounds.isServer ? [] : INSTANCES.slice(0, bounds.instances);
  const fault = (label: string, take: Step['take']): Step => ({
    label,
    take(w) {
      w.faults -= 1;
      take(w);
    },
  });

  function deliver(w: World, message: string): Step[] {
    const [to = '', i = '', conn = '', type = '', attempt = '', text = ''] = message.split(' ');
    const instance = i as Instance;
    const label = `${to === 's' ? 'the server hears' : `${i} hears`} ${type}(${[to === 's' && i, attempt !== '0' && attempt, text !== '-' && text].filter(Boolean).join(', ')})`;
    const take = (w: World) => {
      if (to === 's') hear(w, instance, Number(conn), type, Number(attempt), text);
      else told(w, instance, type, Number(attempt), text);
    };
    const once = (w: World) => {
      w.net = w.net.filter((one) => one !== message);
      take(w);
    };
    const isHeard =
      to === 's'
        ? w.isUp &&
          (type === 'hello' ? Number(conn) > w.newest[instance] : w.live[instance] === Number(conn))
        : w.clients[instance].welcomed || type === 'welcome';
    if (!isHeard) return [];
    // Without claims there is no journal to know a repeated offer by: such a line must not repeat.
    const mayRepeat = w.faults > 0 && bounds.claims && type !== 'hello' && type !== 'welcome';
    return [{ label, take: once }, ...(mayRepeat ? [fault(`${label}, and will again`, take)] : [])];
  }

  function hear(w: World, i: Instance, conn: number, type: string, attempt: number, text: string) {
    if (type === 'hello') server.hello(w, i, conn, attempt, text);
    else if (type === 'claim') server.claimed(w, i, attempt);
    else if (type === 'answer') server.answered(w, i, attempt, text);
    else if (type === 'register') {
      w.serves[i] = true;
      const owed = w.owed[i];
      if (owed && server.offer(w, i, owed)) w.owed[i] = null;
    }
  }

  function told(w: World, i: Instance, type: string, attempt: number, text: string) {
    if (type === 'request') clients.requested(w, i, attempt);
    else if (type === 'granted') clients.granted(w, i, attempt);
    else if (type === 'refused') clients.refused(w, i, attempt);
    else if (type === 'cancel') clients.cancel(w, i);
    else if (type === 'welcome') clients.welcomed(w, i, text);
    else clients.replied(w, i, text);
  }

  /** The call is offered at once to the one who serves its tool at that moment; else it waits. */
  const ofTheMoment = (w: World): Step[] => [
    { label: 'it is made', take: (w) => server.create(w, null) },
    ...(bounds.isAsked
      ? [
          {
            label: 'it is made, and waits for its turn',
            take: (w: World) => server.create(w, null, true),
          },
        ]
      : []),
    ...(bounds.isAsked ? [] : server.canBeOffered(w)).map((i) => ({
      label: `it is made and offered to ${i}`,
      take: (w: World) => server.create(w, i),
    })),
  ];

  function ofThePerson(w: World): Step[] {
    if (w.isForgotten) return [];
    if (w.rec.phase === 'held')
      return [{ label: 'its turn comes', take: (w) => server.apply(w, { type: 'turn_came' }) }];
    if (w.rec.phase !== 'approval') return [];
    return [
      { label: 'a person allows it', take: (w) => server.apply(w, { type: 'approved' }) },
      {
        label: 'a person denies it',
        take: (w) => server.apply(w, { type: 'denied', message: '' }),
      },
    ];
  }

  /** The server's own tool. */
  function ofTheTool({ own, effects }: World): Step[] {
    const finish = (result?: string) => (w: World) => {
      w.own = 'none';
      const error = { code: 'cancelled', message: '', executed: 'unknown' } as const;
      const end = result ? { error: null, fields: { result } } : { error };
      server.apply(w, { type: 'finished_here', ...end });
    };
    switch (own) {
      case 'none':
        return [];
      case 'started':
        return [{ label: 'the tool runs', take: runHere }];
      case 'ran':
        return [{ label: 'the tool answers', take: finish(`ok:${effects.at(-1)}`) }];
      case 'stopped':
        return [{ label: 'the tool stops', take: finish() }];
    }
  }

  function runHere(w: World): void {
    w.effects.push(`s${w.effects.length + 1}`);
    w.own = 'ran';
  }

  function ofTheServer(w: World): Step[] {
    if (!w.isUp) return [{ label: 'the server starts', take: recover }];
    const steps: Step[] = [];
    if (w.isFailed) steps.push({ label: 'the server ends', take: (w) => crash(w, 0) });
    const [next] = w.pending;
    if (
      next &&
      design.tells === 'when written, not flushed' &&
      w.pending.some(({ isTold }) => !isTold)
    ) {
      steps.push({ label: 'the server tells what it has written', take: tellEarly });
    } else if (next) {
      steps.push({
        label: `on disk: ${next.rec.status} ${next.rec.phase ?? next.rec.result}`,
        take: flush,
      });
    }
    for (const clock of server.clocks(w)) {
      steps.push({
        label: `the clock ${clock} runs out`,
        take: (w) => server.apply(w, { type: 'clock', clock }),
      });
    }
    const { phase, granted, provider } = w.rec;
    // Whose client has left is tried with another; the rules tell what may be.
    const isLeft = provider !== undefined && w.live[provider.instanceId as Instance] === 0;
    const isWaiting =
      phase === 'queued' ||
      (phase === 'offered' && !granted) ||
      (phase === 'granted' && isLeft && !w.rec.rerunnable);
    if (isWaiting && !w.isForgotten) {
      for (const i of server.canBeOffered(w)) {
        steps.push({ label: `it is offered to ${i}`, take: (w) => server.offer(w, i, null) });
      }
    }
    return [...steps, ...ofThePerson(w), ...ofTheTool(w)];
  }

  function flush(w: World): void {
    const next = w.pending.shift();
    if (!next) return;
    w.disk = next.logged;
    server.tell(w, next);
  }

  function tellEarly(w: World): void {
    for (const one of w.pending) server.tell(w, one);
  }

  function recover(w: World): void {
    const from = w.isFailed ? w.rec : w.disk;
    Object.assign(w, { isUp: true, isFailed: false });
    w.rec = from ?? newRec(bounds);
    w.isForgotten = from === null || design.recovery === 'forgets them';
    if (!w.isForgotten) server.recover(w);
  }

  /** Nothing is written any more, and nobody told; the next start reads what is there. */
  function fail(w: World, written: number): void {
    if (design.unknown !== 'for nothing' || design.failed === 'hears its clients') {
      return server.goOn(w, written);
    }
    crash(w, written);
    w.isFailed = design.startsFrom === 'what was in memory' && w.disk !== null;
  }

  /** So much of what was written had reached the disk; nobody was told of it. */
  function crash(w: World, written: number): void {
    w.disk = w.pending[written - 1]?.logged ?? w.disk;
    Object.assign(w, { pending: [], isUp: false, isFailed: false, owed: { a: null, b: null } });
    Object.assign(w, { waiting: [], grant: null, offerVersion: 0, recovery: null, own: 'none' });
    Object.assign(w, { live: { a: 0, b: 0 }, serves: { a: false, b: false } });
  }

  function ofAnInstance(w: World, i: Instance): Step[] {
    const client = w.clients[i];
    const steps: Step[] = [];
    if (client.conn === 0 && w.isUp) {
      steps.push({
        label: `${i} connects`,
        take: (w) => clients.connect(w, i, nextConnection(w, i)),
      });
    }
    if (w.live[i] > 0 && w.live[i] !== client.conn) {
      steps.push({ label: `the server finds ${i} gone`, take: (w) => server.gone(w, i) });
    }
    if (client.run === 'started')
      steps.push({ label: `the tool runs at ${i}`, take: (w) => clients.run(w, i) });
    if (client.run === 'ran') {
      steps.push({
        label: `${i} answers`,
        take: (w) => clients.answer(w, i, `ok:${w.effects.findLast((one) => one.startsWith(i))}`),
      });
    }
    if (client.conn > 0 && w.live[i] !== client.conn && w.newest[i] >= client.conn) {
      steps.push({
        label: `${i} finds its connection gone`,
        take: (w) => clients.disconnected(w, i),
      });
    }
    return [...steps, ...faultsOf(w, i)];
  }

  function faultsOf(w: World, i: Instance): Step[] {
    if (w.faults === 0) return [];
    const isLinked = w.live[i] > 0 && w.live[i] === w.clients[i].conn;
    return [
      ...(isLinked ? [fault(`the server loses its line to ${i}`, (w) => server.gone(w, i))] : []),
      ...(isLinked ? [fault(`${i} loses its line`, (w) => clients.disconnected(w, i))] : []),
      fault(`${i} is killed and starts again`, (w) => clients.restart(w, i, false)),
      ...(bounds.claims
        ? [fault(`${i} is killed and loses its journal`, (w) => clients.restart(w, i, true))]
        : []),
    ];
  }

  /** Only the disk can know of a new call. */
  function lostAnswers({ pending, disk }: World): Step[] {
    const goesOn = design.unknown === 'for not stored' || design.failed === 'hears its clients';
    if (pending.length === 0 || (disk === null && goesOn)) return [];
    return Array.from({ length: pending.length + 1 }, (_, written) =>
      fault(
        `the answer of a commit is lost, ${written} of ${pending.length} records on disk`,
        (w) => fail(w, written),
      ),
    );
  }

  const all = (w: World): Step[] => [
    ...w.net.flatMap((message) => deliver(w, message)),
    ...ofTheServer(w),
    ...instances.flatMap((i) => ofAnInstance(w, i)),
    ...(w.faults > 0 && w.isUp
      ? [
          ...Array.from({ length: w.pending.length + 1 }, (_, written) =>
            fault(`the server is killed, ${written} of ${w.pending.length} records on disk`, (w) =>
              crash(w, written),
            ),
          ),
          ...lostAnswers(w),
          ...(w.pending.length > 0 && w.disk !== null
            ? [fault('another writer is first', (w) => server.overtaken(w))]
            : []),
          ...(!w.isForgotten && w.rec.phase !== null && w.rec.phase !== 'cancelling'
            ? [fault('an operator cancels', (w) => server.cancel(w))]
            : []),
        ]
      : []),
  ];
  return (w) => (w.isNew ? ofTheMoment(w) : all(w));
}

const nextConnection = (w: World, i: Instance): number =>
  1 +
  Math.max(
    w.newest[i],
    ...w.net.filter((one) => one.startsWith(`s ${i} `)).map((one) => Number(one.split(' ')[2])),
  );

/** A world's identity leaves out what can never arrive, or matter, any more. */
export function settle(w: World): void {
  w.net = w.net.filter((message) => {
    const [to, instance, number, type] = message.split(' ');
    const [i, conn] = [instance as Instance, Number(number)];
    if (to === 'c') return w.clients[i].conn === conn;
    return type === 'hello' ? conn > w.newest[i] : conn === w.live[i];
  });
  const { version = 0 } = durableOf(w) ?? {};
  if (version > 0) countFromDisk(w, version);
}

function countFromDisk(w: World, base: number): void {
  const later = (rec: Rec): Rec => ({ ...rec, version: rec.version - base });
  w.rec = later(w.rec);
  w.disk = w.disk && later(w.disk);
  w.pending = w.pending.map((one) => {
    return { ...one, rec: later(one.rec), logged: later(one.logged) };
  });
  w.waiting = w.waiting.map((one) => ({ ...one, after: one.after - base }));
  w.offerVersion = Math.max(0, w.offerVersion - base);
  const { recovery } = w;
  // On disk, it is nothing that could be void.
  const isVoidable = recovery !== null && recovery.version > base;
  w.recovery = isVoidable ? { ...recovery, version: recovery.version - base } : null;
  if (!w.grant) return;
  const version = Math.max(0, w.grant.version - base);
  w.grant = w.grant.hasLeft && version === 0 ? null : { ...w.grant, version };
}
