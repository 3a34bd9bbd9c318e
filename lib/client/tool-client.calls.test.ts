import { describe, expect, test } from 'vitest';
import { journalEntry } from './journal.contract.ts';
import { createMemoryJournal } from './journal.ts';
import { setupCalls, types } from './testing/setup-calls.ts';
import {
  callTool,
  createHeldTool,
  granted,
  request,
  TRANSPORTS,
  until,
} from './testing/setup-client.ts';

describe.each(TRANSPORTS)('over a %s', (way) => {
  const setup: typeof setupCalls = (tool, options) => setupCalls(tool, options, way);

  test('[CL7] an offered call is claimed, and runs only after the grant', async () => {
    const { link, tool } = await setup();
    link.send(request('tc_1'));
    expect(await link.next('tool_call_claim')).toEqual({
      type: 'tool_call_claim',
      id: 'tc_1',
      attempt: 1,
    });
    await link.settled();
    expect(tool.started).toEqual([]);
    link.send(granted('tc_1'));
    tool.end('tc_1', { open: true });
    expect(await link.next('tool_result')).toEqual({
      type: 'tool_result',
      id: 'tc_1',
      attempt: 1,
      success: true,
      output: { open: true },
    });
  });

  test('[CL7] a refused call does not run', async () => {
    const { link, tool } = await setup();
    link.send(request('tc_1'));
    await link.next('tool_call_claim');
    link.send({ type: 'tool_call_refused', id: 'tc_1', attempt: 1, reason: 'final' });
    link.send(granted('tc_1'));
    link.send(granted('tc_2'));
    await link.settled();
    await link.settled();
    expect(tool.started).toEqual([]);
  });

  test('[CL7] started is in the journal before the tool runs, done before the answer is sent', async () => {
    const order: string[] = [];
    const held = createHeldTool({
      run: () => {
        order.push('run');
        return { output: 'open' };
      },
    });
    const { link } = await setup(held, {
      async openJournal() {
        const journal = createMemoryJournal({ epoch: 'e' });
        return {
          ...journal,
          async put(entry) {
            await journal.put(entry);
            await Promise.resolve();
            order.push(entry.answer ? 'done' : 'started');
          },
        };
      },
    });
    await callTool(link, 'tc_1');
    await link.next('tool_result');
    expect(order).toEqual(['started', 'run', 'done']);
  });

  test.each([
    ['acknowledged', { type: 'result_acknowledged', id: 'tc_1', disposition: 'accepted' }],
    [
      'rejected',
      { type: 'result_rejected', id: 'tc_1', code: 'conflict', message: 'x', final: true },
    ],
  ])('[CL7] once %s, the answer is forgotten', async (_, message) => {
    const { link, tool, journals } = await setup();
    tool.end('tc_1', 'open');
    await callTool(link, 'tc_1');
    await link.next('tool_result');
    expect(await journals[0]?.entries()).toHaveLength(1);
    link.send(message);
    await link.settled();
    expect(await journals[0]?.entries()).toEqual([]);
  });

  test('[CL7] without a journal a tool with effects does not run, one without them does', async () => {
    const read = createHeldTool({ name: 'door.look', annotations: { readOnlyHint: true } });
    const { link, tool } = await setup(createHeldTool(), {
      tools: [createHeldTool().definition, read.definition],
      openJournal: async () => ({
        ...createMemoryJournal({ epoch: 'e' }),
        put: async () => {
          throw new Error('disk full');
        },
      }),
    });
    for (const [id, name] of [
      ['tc_1', 'door.open'],
      ['tc_2', 'door.look'],
    ] as const) {
      await callTool(link, id, { name });
      read.end(id, 'closed');
    }
    const sent = await Promise.all([link.next('tool_error')]);
    expect(sent[0]).toMatchObject({ id: 'tc_1', code: 'unavailable' });
    expect(await link.next('tool_result')).toMatchObject({ id: 'tc_2', output: 'closed' });
    expect(tool.started).toEqual([]);
  });

  test('[CL6] offered again while it runs, it is claimed anew and does not run twice', async () => {
    const { link, tool } = await setup();
    await callTool(link, 'tc_1');
    link.send(granted('tc_1'));
    link.send(request('tc_1'));
    link.send(request('tc_1', { attempt: 2 }));
    expect(await link.next('tool_call_claim')).toMatchObject({ attempt: 2 });
    link.send(granted('tc_1', { attempt: 2 }));
    await link.settled();
    tool.end('tc_1', 'open');
    expect(await link.next('tool_result')).toMatchObject({ attempt: 2, output: 'open' });
    expect(tool.started).toEqual(['tc_1']);
  });

  test('[CL6] offered again when it is done, it is answered from the journal', async () => {
    const { link, tool, journals } = await setup();
    tool.end('tc_1', 'open');
    await callTool(link, 'tc_1');
    const first = await link.next('tool_result');
    link.send(request('tc_1'));
    expect(await link.next('tool_result')).toEqual(first);
    await callTool(link, 'tc_1', { attempt: 2 }, { attempt: 2 });
    expect(await link.next('tool_result')).toEqual({ ...first, attempt: 2 });
    expect(await journals[0]?.entries()).toEqual([expect.objectContaining({ attempt: 2 })]);
    expect(tool.started).toEqual(['tc_1']);
  });

  test('[CL6] a claim that was only made to answer ends when the answer is settled', async () => {
    const { link, tool } = await setup();
    tool.end('tc_1', 'open');
    await callTool(link, 'tc_1');
    await link.next('tool_result');
    link.send(request('tc_1', { attempt: 2 }));
    await link.next('tool_call_claim');
    link.send({ type: 'result_acknowledged', id: 'tc_1', disposition: 'accepted' });
    await callTool(link, 'tc_1', { attempt: 2 }, { attempt: 2 });
    expect(await link.next('tool_result')).toMatchObject({ attempt: 2 });
    expect(tool.started).toEqual(['tc_1', 'tc_1']);
  });

  test('[CL11] answers given while the line was down are sent in order, before the tools', async () => {
    const rig = await setup(createHeldTool({ concurrency: 3 }));
    const { link, tool, client, clock, server } = rig;
    for (const id of ['tc_1', 'tc_2', 'tc_3']) {
      await callTool(link, id);
    }
    tool.end('tc_3', 3);
    await link.next('tool_result');
    link.cut();
    await until(client.status, ({ state }) => state === 'reconnecting');
    tool.end('tc_1', 1);
    await tool.signals.get('tc_1');
    clock.advance(500);
    const back = await server.accept();
    const hello = await back.welcome();
    expect(hello.known).toEqual([
      { id: 'tc_2', attempt: 1, phase: 'running' },
      { id: 'tc_3', attempt: 1, phase: 'done' },
      { id: 'tc_1', attempt: 1, phase: 'done' },
    ]);
    const sent = await back.settled();
    expect(types(sent)).toEqual(['hello', 'tool_result', 'tool_result', 'register_tools']);
    expect(sent.slice(1, 3)).toMatchObject([{ id: 'tc_3' }, { id: 'tc_1' }]);
    tool.end('tc_2', 2);
    expect(await back.next('tool_result')).toMatchObject({ id: 'tc_2', output: 2 });
  });

  test('[CL11] what the welcome forgets is not sent, what it cancels is aborted', async () => {
    const rig = await setup(createHeldTool({ concurrency: 3 }));
    const { link, tool, journals } = rig;
    for (const id of ['tc_1', 'tc_2', 'tc_3']) {
      await callTool(link, id);
    }
    tool.end('tc_1', 1);
    await link.next('tool_result');
    const { back } = await rig.reconnect(link, { forget: ['tc_1', 'tc_3'], cancel: ['tc_2'] });
    expect(await back.next('tool_error')).toMatchObject({ code: 'cancelled' });
    expect(await back.next('tool_error')).toMatchObject({ code: 'cancelled' });
    expect(types(back.all)).not.toContain('tool_result');
    expect((await journals[0]?.entries())?.map(({ id }) => id)).not.toContain('tc_1');
  });

  test('[CL6] an offer that was not granted when the line dropped is claimed anew', async () => {
    const rig = await setup();
    const { link, tool } = rig;
    link.send(request('tc_1'));
    await link.next('tool_call_claim');
    const { back, hello } = await rig.reconnect(link);
    expect(hello.known).toEqual([]);
    back.send(granted('tc_1'));
    back.send(request('tc_1', { attempt: 2 }));
    expect(await back.next('tool_call_claim')).toMatchObject({ attempt: 2 });
    expect(tool.started).toEqual([]);
  });

  test('[CL18] a call that died with its program is told, one that may be repeated is forgotten', async () => {
    const journal = createMemoryJournal({ epoch: 'e' });
    await journal.put(journalEntry('effect', { attempt: 3 }));
    await journal.put(journalEntry('read', { repeatable: true }));
    await journal.put(journalEntry('done', { output: 'open' }));
    const { hello, link, tool } = await setup(createHeldTool(), {
      openJournal: async () => journal,
    });
    expect(hello.known).toEqual([
      { id: 'effect', attempt: 3, phase: 'started' },
      { id: 'done', attempt: 1, phase: 'done' },
    ]);
    expect(await link.next('tool_error')).toMatchObject({
      id: 'effect',
      attempt: 3,
      code: 'outcome_unknown',
    });
    expect(await link.next('tool_result')).toMatchObject({ id: 'done' });
    expect((await journal.entries()).map(({ id }) => id)).toEqual(['effect', 'done']);
    await callTool(link, 'effect', { attempt: 4 }, { attempt: 4 });
    expect(await link.next('tool_error')).toMatchObject({ attempt: 4, code: 'outcome_unknown' });
    expect(tool.started).toEqual([]);
  });

  test('[CL30] an offer and a grant that come twice run nothing after the call is over', async () => {
    const { link, tool } = await setup();
    await callTool(link, 'tc_1');
    tool.end('tc_1', 'open');
    await link.answer();
    link.send({ type: 'result_acknowledged', id: 'tc_1', disposition: 'accepted' });
    link.send(request('tc_1'));
    link.send(granted('tc_1'));
    await link.settled();
    expect(tool.started).toEqual(['tc_1']);
  });

  test('[CL32] an answer that the server cannot read becomes a failure, and then is forgotten', async () => {
    const { link, tool, journals } = await setup();
    await callTool(link, 'tc_1');
    tool.end('tc_1', 'open');
    await link.next('tool_result');
    const misread = { type: 'error', code: 'bad_message', message: 'output: too odd', id: 'tc_1' };
    link.send(misread);
    expect(await link.next('tool_error')).toMatchObject({
      id: 'tc_1',
      error: expect.stringContaining('output: too odd'),
    });
    link.send(misread);
    await link.settled();
    expect(await journals[0]?.entries()).toEqual([]);
  });
});
