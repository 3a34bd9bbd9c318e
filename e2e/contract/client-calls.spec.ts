import { get, post, recordOf } from './kit/ask.ts';
import { finalCall, invoke, readCall } from './kit/calls.ts';
import { expect, overEachTransport, sharedCallboard, test } from './kit/contract-test.ts';
import { spec } from './kit/tool-client.ts';

overEachTransport(() => {
  const board = sharedCallboard();
  const CLAIMS = { caps: ['claim', 'cancel'] };

  test('§5 a request carries the run, the attempt, the time that the call has, and who calls', async ({
    connect,
  }) => {
    const client = await connect.client(board(), { tools: [spec('asked', { timeout_ms: 1_234 })] });
    const id = await invoke(board(), 'asked', { n: 1 }, { run_id: 'run_asked' });
    expect(await client.request()).toEqual({
      type: 'tool_call_request',
      id,
      name: 'asked',
      args: { n: 1 },
      run_id: 'run_asked',
      attempt: 1,
      timeout_ms: 1_234,
      requested_by: 'operator',
    });
  });

  test('§5 a client that claims may not answer before it is granted', async ({ connect }) => {
    const client = await connect.client(board(), { hello: CLAIMS, tools: ['guarded'] });
    const id = await invoke(board(), 'guarded');
    const request = await client.request();
    expect((await readCall(board(), id)).phase).toBe('offered');
    client.succeed(id, 'too soon', { attempt: request.attempt });
    expect(await client.next('result_rejected')).toMatchObject({ id, code: 'not_granted' });
    const granted = await client.claim(request);
    expect(granted).toMatchObject({ id, attempt: 1 });
    expect(granted.remaining_ms).toBeLessThanOrEqual(30_000);
    await expect.poll(async () => (await readCall(board(), id)).phase).toBe('granted');
    client.succeed(id, 'in time', { attempt: 1 });
    await client.next('result_acknowledged');
    expect((await readCall(board(), id)).result).toBe('in time');
  });

  test('§5 a claim of a wrong attempt and of no call are refused with a reason, and one that comes twice gets its grant again', async ({
    connect,
  }) => {
    const client = await connect.client(board(), { hello: CLAIMS, tools: ['claimed'] });
    const id = await invoke(board(), 'claimed');
    const { attempt } = await client.request();
    for (const claim of [
      { id, attempt: attempt + 1 },
      { id: 'tc_nowhere', attempt: 1 },
    ]) {
      client.send({ type: 'tool_call_claim', ...claim });
      const refused = await client.next('tool_call_refused');
      expect(refused).toMatchObject(claim);
      expect(refused.reason).not.toBe('');
    }
    for (const _ of ['at first', 'as after a message that came twice']) {
      expect(await client.claim({ id, attempt })).toMatchObject({ id, attempt });
    }
    client.succeed(id, 'once', { attempt });
    await client.next('result_acknowledged');
  });

  test('§5 a status is for people: it changes neither result nor status, and nothing after the end', async ({
    connect,
  }) => {
    const client = await connect.client(board(), { tools: ['steps'] });
    const id = await invoke(board(), 'steps', { a: 1 });
    await client.request();
    client.send({ type: 'tool_status', id, tip: 'one', params: { b: 2 } });
    client.send({ type: 'tool_status', id, progress: { done: 3, total: 4 }, preview: { p: [1] } });
    client.send({ type: 'tool_status', id, progress: { done: 1 }, status: 'SUCCESS', result: 'x' });
    client.succeed(id, { secret: 'for the model' }, { display: 'for people' });
    await client.next('result_acknowledged');
    client.send({ type: 'tool_status', id, tip: 'after the end' });
    await client.settled();
    const call = await readCall(board(), id);
    expect(call.args).toEqual({ a: 1 });
    expect(call.result).toEqual({ secret: 'for the model' });
    expect(call.card).toMatchObject({
      status: 'SUCCESS',
      tip: 'one',
      params: { a: 1, b: 2 },
      progress: { done: 3, total: 4 },
      preview: { p: [1] },
      result: 'for people',
    });
    expect(JSON.stringify(call.card)).not.toContain('for the model');
  });

  test('§5 what is cancelled before a grant ends at once, and was not run', async ({ connect }) => {
    const client = await connect.client(board(), { hello: CLAIMS, tools: ['unwanted'] });
    const id = await invoke(board(), 'unwanted');
    const request = await client.request();
    const cancelled = recordOf(await post(board(), `/v1/tool_calls/${id}/cancel`));
    expect(cancelled.status).toBe('FAILED');
    expect(cancelled.error).toMatchObject({ code: 'cancelled', executed: 'no' });
    expect(await client.next('tool_call_cancel')).toMatchObject({ id });
    client.send({ type: 'tool_call_claim', id, attempt: request.attempt });
    expect(await client.next('tool_call_refused')).toMatchObject({ id });
  });

  test('§5 what runs is asked to stop, and an answer that wins stands', async ({ connect }) => {
    const client = await connect.client(board(), { tools: ['racing'] });
    const id = await invoke(board(), 'racing');
    await client.request();
    const asked = recordOf(await post(board(), `/v1/tool_calls/${id}/cancel`));
    expect([asked.status, asked.phase]).toEqual(['RUNNING', 'cancelling']);
    expect((await client.next('tool_call_cancel')).reason).not.toBe('');
    const twice = await post(board(), `/v1/tool_calls/${id}/cancel`);
    expect(twice.status).toBe(200);
    client.succeed(id, 'it was done already');
    expect(await client.next('result_acknowledged')).toMatchObject({ disposition: 'accepted' });
    expect((await readCall(board(), id)).result).toBe('it was done already');
  });

  test('§6 a late result is kept beside the call, once, and shown there', async ({ connect }) => {
    const client = await connect.client(board(), { tools: [spec('late', { timeout_ms: 100 })] });
    const id = await invoke(board(), 'late');
    await client.request();
    await finalCall(board(), id);
    client.succeed(id, { too: 'late' });
    expect(await client.next('result_acknowledged')).toMatchObject({ disposition: 'late' });
    client.succeed(id, { too: 'late' });
    expect(await client.next('result_acknowledged')).toMatchObject({ disposition: 'late' });
    client.succeed(id, { even: 'later' });
    expect(await client.next('result_rejected')).toMatchObject({ code: 'conflict', final: true });
    const call = await readCall(board(), id);
    expect(call).toMatchObject({ status: 'TIMEOUT', result: null, late_result: { too: 'late' } });
    expect(call.card).toMatchObject({ status: 'ERROR', late_result: true });
  });

  test('§5 when its socket closes a claiming client that was only offered the call loses nothing', async ({
    connect,
  }) => {
    const hello = { client_id: 'roamer', journal_epoch: 'j1', ...CLAIMS };
    const client = await connect.client(board(), { hello, tools: ['roaming'] });
    const id = await invoke(board(), 'roaming');
    await client.request();
    await client.vanish();
    await expect
      .poll(async () => (await get(board(), '/v1/tools')).text.includes('"roaming"'))
      .toBe(false);
    expect((await readCall(board(), id)).completed_at).toBeNull();
    const back = await connect.client(board(), {
      hello: { ...hello, resume_token: client.welcome.resume_token, known: [] },
      tools: ['roaming'],
    });
    const again = await back.request();
    expect([again.id, again.attempt]).toEqual([id, 2]);
    await back.claim(again);
    back.succeed(id, 'home', { attempt: 2 });
    await back.next('result_acknowledged');
    expect((await readCall(board(), id)).result).toBe('home');
  });

  test('§5 a client that returns gets what ended: to forget, or to stop', async ({ connect }) => {
    const hello = { client_id: 'sleeper', journal_epoch: 'j1', ...CLAIMS };
    const tools = [spec('nap', { timeout_ms: 250 })];
    const client = await connect.client(board(), { hello, tools });
    const ids: string[] = [];
    for (let n = 0; n < 2; n += 1) {
      ids.push(await invoke(board(), 'nap'));
      await client.claim(await client.request());
    }
    await client.vanish();
    for (const id of ids) expect((await finalCall(board(), id)).status).toBe('TIMEOUT');
    const [started = '', running = ''] = ids;
    const back = await connect.client(board(), {
      hello: {
        ...hello,
        resume_token: client.welcome.resume_token,
        known: [
          { id: started, attempt: 1, phase: 'started' },
          { id: running, attempt: 1, phase: 'running' },
        ],
      },
    });
    expect(back.welcome).toMatchObject({ resumed: true, forget: [started], cancel: [running] });
  });
});
