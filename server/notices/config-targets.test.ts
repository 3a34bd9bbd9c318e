import { expect, test } from 'vitest';
import { startReceiver, status } from './testing/receiver.ts';
import { asking, finished, ORIGIN, SECRET, setupOutbox, variable } from './testing/setup-outbox.ts';

const bodyOf = (receiver: Awaited<ReturnType<typeof startReceiver>>, at = 0) =>
  JSON.parse(receiver.received[at]?.body ?? '{}');

const HOSTILE = '<!channel> & <https://evil.example|click> https://evil.example *bold* :tada:';

test('[OB19] [OB32] Slack gets what others wrote as plain text, and a link in a block of its own', async () => {
  const receiver = await startReceiver(status(200));
  const url = `${receiver.origin}/services/T0/B0/abcdefgh`;
  const { ask } = await setupOutbox({ notify: { team: { kind: 'slack', url } } });
  await ask({ requestedBy: 'agent:bot', card: { approval_reason: HOSTILE, display_name: 'Pay' } });
  await receiver.got(1);
  const link = `<${ORIGIN}/#call=tc_1|Open Callboard>`;
  const plain = (text: string) => ({ type: 'plain_text', text, emoji: false });
  expect(bodyOf(receiver).blocks).toEqual([
    { type: 'header', text: plain('Approval needed: Pay (echo.text)') },
    { type: 'section', text: plain(`Asked by agent:bot\n${HOSTILE}`) },
    {
      type: 'context',
      elements: [{ type: 'mrkdwn', text: `:raised_hand: ${link}`, verbatim: true }],
    },
  ]);
});

test('[OB19] [OB32] a receiver without blocks gets a text in which nothing of others is markup', async () => {
  const receiver = await startReceiver(status(200));
  const { ask } = await setupOutbox({ notify: { team: { kind: 'slack', url: receiver.origin } } });
  await ask({
    card: { approval_reason: null, display_name: '<!channel> & <https://evil.example|x>' },
  });
  await receiver.got(1);
  const { blocks, ...fallback } = bodyOf(receiver);
  expect(fallback).toEqual({
    text: [
      'Approval needed: &lt;!channel&gt; &amp; &lt;https://evil.example|x&gt; (echo.text)',
      'Asked by operator',
      `<${ORIGIN}/#call=tc_1|Open Callboard>`,
    ].join('\n'),
    ...{ mrkdwn: false, parse: 'none', link_names: false },
    ...{ unfurl_links: false, unfurl_media: false },
  });
});

test('[OB32] Slack gets no block that it would refuse: none without text, and no long title', async () => {
  const receiver = await startReceiver(status(200));
  const { ask, finishRun } = await setupOutbox({
    notify: { team: { kind: 'slack', url: receiver.origin } },
  });
  await finishRun({ title: '' });
  await receiver.got(1);
  await ask({ card: { display_name: 'x'.repeat(400) } });
  await receiver.got(2);
  const types = (at: number) =>
    bodyOf(receiver, at).blocks.map(({ type }: { type: string }) => type);
  expect(types(0)).toEqual(['header', 'context']);
  expect(bodyOf(receiver, 1).blocks[0].text.text.length).toBe(150);
});

test('[OB19] no text of others makes a line, or hides what follows', async () => {
  const receiver = await startReceiver(status(200));
  const { ask } = await setupOutbox({
    notify: { phone: { kind: 'ntfy', url: receiver.origin, topic: 'board' } },
  });
  const display_name = 'Weather\nApproved by operator\u202e';
  await ask({ card: { approval_reason: 'Sun\n\nAsked by operator', display_name } });
  await receiver.got(1);
  expect(bodyOf(receiver)).toMatchObject({
    title: 'Approval needed: Weather␊Approved by operator⟨U+202E⟩ (echo.text)',
    message: 'Asked by operator\nSun␊␊Asked by operator',
  });
});

test('[OB19] ntfy gets a title, a message and a link to click, its token as a header, and no action', async () => {
  const receiver = await startReceiver(status(200));
  const { ask, outbox } = await setupOutbox({
    notify: {
      phone: { kind: 'ntfy', url: receiver.origin, topic: 'board', token: variable('NTFY_TOKEN') },
    },
    env: { NTFY_TOKEN: 'tk_0123456789' },
  });
  await ask({ wantedClientId: 'till' });
  await receiver.got(1);
  expect(bodyOf(receiver)).toEqual({
    ...{ topic: 'board', title: 'Approval needed: Pay (echo.text) on till', priority: 4 },
    ...{ message: 'Asked by operator\nIt pays', tags: ['raised_hand'] },
    click: `${ORIGIN}/#call=tc_1`,
  });
  expect(receiver.received[0]?.headers.authorization).toBe('Bearer tk_0123456789');
  expect(outbox.targets().map(({ id }) => id)).toEqual(['ntfy:phone']);
});

test('[OB19] each kind of notice has words', async () => {
  const receiver = await startReceiver(status(200));
  const { clock, decide, finishRun, leave } = await setupOutbox({
    notify: {
      phone: {
        ...{ kind: 'ntfy', url: receiver.origin, topic: 'board' },
        events: ['approval.decided', 'call.finished', 'client.offline', 'run.finished'],
      },
    },
  });
  leave({ clientId: 'c1', name: 'Pixel 8', kind: 'phone' });
  clock.advance(120_000);
  const decided = { by: 'operator:olga', decision: 'no' } as const;
  const error = { code: 'denied', message: 'no', executed: 'no' } as const;
  const denied = finished({ status: 'FAILED', error });
  await decide({ ...denied, card: { ...denied.card, approval_decision: decided } }, asking());
  await decide(finished({ id: 'tc_2' }));
  await finishRun();
  await receiver.got(5);
  const titles = receiver.received.map(
    (_, at) => `${bodyOf(receiver, at).title}: ${bodyOf(receiver, at).message}`,
  );
  expect(titles.sort()).toEqual([
    'A turn has ended: Pay the bill',
    'Denied: echo.text: By operator:olga',
    'Done: echo.text: Asked by operator',
    'Failed: echo.text: denied\nAsked by operator',
    'Offline: Pixel 8: The phone has no connection any more.',
  ]);
});

test('[OB5] a target gets the events, tools and outcomes that it names', async () => {
  const url = 'http://127.0.0.1:1';
  const target = (more: object) => ({ kind: 'webhook', url, secret: SECRET, ...more });
  const { decide, finishRun, listed } = await setupOutbox({
    notify: {
      plain: target({}),
      pay: target({ events: ['approval.requested', 'call.finished'], tools: ['pay.*'] }),
      errors: target({ events: ['call.finished'], outcomes: ['tool_error', 'timeout'] }),
      runs: target({ events: ['run.finished'], tools: ['pay.*'] }),
    },
    isStarted: false,
  });
  await decide(asking({ id: 'tc_echo' }));
  await decide(asking({ id: 'tc_pay', toolName: 'pay.now' }));
  await decide(finished({ id: 'tc_ok' }));
  const error = { code: 'tool_error', message: '', executed: 'yes' } as const;
  await decide(finished({ id: 'tc_bad', status: 'FAILED', error }));
  await finishRun();
  const rows = (await listed()).map(({ target: to, notice: { data } }) => {
    const about = 'tool_call_id' in data ? data.tool_call_id : data.link;
    return `${to} ${about}`;
  });
  expect(rows.sort()).toEqual([
    ...['webhook:errors tc_bad', 'webhook:pay tc_pay'],
    ...['webhook:plain /?run=run_1', 'webhook:plain tc_echo', 'webhook:plain tc_pay'],
    'webhook:runs /?run=run_1',
  ]);
});

test('[OB4] a client is offline when it did not come back within two minutes', async () => {
  const { clock, here, leave, listed, notifications, outbox } = await setupOutbox({
    notify: { ops: { kind: 'slack', url: 'http://127.0.0.1:1', events: ['client.offline'] } },
  });
  const phone = { clientId: 'c1', name: 'Pixel 8', kind: 'phone' } as const;
  const goAway = () => {
    here.delete('c1');
    leave(phone);
  };
  goAway();
  clock.advance(60_000);
  here.add('c1');
  clock.advance(500_000);
  expect(await listed()).toEqual([]);
  goAway();
  clock.advance(119_999);
  goAway();
  clock.advance(119_999);
  expect(await listed()).toEqual([]);
  clock.advance(1);
  await expect.poll(listed).toMatchObject([
    {
      notice: {
        type: 'client.offline',
        data: { client_id: 'c1', name: 'Pixel 8', kind: 'phone', since: 1_679.999 },
      },
    },
  ]);
  goAway();
  notifications.stop();
  clock.advance(500_000);
  expect(outbox.targets().length + (await listed()).length).toBe(2);
});
