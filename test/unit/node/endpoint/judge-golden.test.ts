import { describe, expect, it } from 'vitest';
import { askCommand, parseTimedAnswer } from '../../../../src/node/endpoint/ask-endpoint.ts';
import { goldenSpeed, judgeGolden } from '../../../../src/node/endpoint/judge-answer.ts';

const pointer = '/choices/0/message/content';
const answer = (content: unknown, usage?: unknown) => ({
  status: 200,
  body: JSON.stringify({ choices: [{ message: { content } }], usage }),
});

describe('a golden answer', () => {
  it("has the text and the endpoint's token count", () => {
    const golden = { kind: 'golden', text: 'one, two', tokens: 3 };
    expect(judgeGolden(answer('one, two', { completion_tokens: 3 }), pointer, 'equal')).toEqual(golden);
  });

  const counts = ['3', 0, 1.5].map((count) => ({ completion_tokens: count }));
  it.each([undefined, null, {}, ...counts])('has no token count if usage is %j', (usage) => {
    expect(judgeGolden(answer('one two', usage), pointer, 'equal')).toEqual({ kind: 'golden', text: 'one two' });
  });

  it.each([
    ['\u0000\u0001', 'the text is not printable'],
    ['caf\ufffd', 'the text is not printable'],
    [' \n ', 'the text is blank'],
    ['', `the text at ${pointer} is empty`],
    [7, `the answer has no text at ${pointer}`],
  ])('is rejected if the text is %j', (content, reason) => {
    expect(judgeGolden(answer(content), pointer, 'printable')).toMatchObject({ kind: 'none', reason });
  });

  it.each([
    ['一二\ufffd\ufffd', 'length', 'golden'],
    ['一二\ufffd', 'stop', 'none'],
    ['一\ufffd二', 'length', 'none'],
    ['一二\ufffd\n', 'length', 'golden'],
    [' \ufffd\ufffd\ufffd', 'length', 'none'],
  ])('may end inside a character only at the token limit: %j, %s', (content, finish_reason, kind) => {
    const body = JSON.stringify({ choices: [{ message: { content }, finish_reason }] });
    expect(judgeGolden({ status: 200, body }, pointer, 'printable')).toMatchObject({ kind, text: content });
  });

  it('contains both the thought and the answer of a reasoning model', () => {
    const message = { reasoning_content: 'Count. ', content: 'one, two' };
    const both = { status: 200, body: JSON.stringify({ choices: [{ message }] }) };
    expect(judgeGolden(both, pointer, 'equal')).toEqual({ kind: 'golden', text: 'Count. one, two' });
    const thought = { status: 200, body: JSON.stringify({ choices: [{ message: { reasoning: 'Hm\ufffd' } }] }) };
    expect(judgeGolden(thought, pointer, 'equal')).toMatchObject({ kind: 'none', reason: 'the text is not printable' });
  });

  it('may be any token if no text is expected', () => {
    expect(judgeGolden(answer('\u0001'), pointer, 'none')).toEqual({ kind: 'golden', text: '\u0001' });
    expect(judgeGolden({ status: 503, body: '' }, pointer, 'none')).toMatchObject({ kind: 'none' });
  });
});

describe('the generation speed', () => {
  it('counts only the tokens after the first one', () => {
    const measured = { kind: 'measured', perSecond: 20, isSteady: true };
    expect(goldenSpeed({ firstMs: 100, wholeMs: 1_650 }, 32)).toEqual(measured);
  });

  it('is steady with enough tokens and time after the first token', () => {
    const isSteady = (wholeMs: number, tokens: number) => {
      const speed = goldenSpeed({ firstMs: 100, wholeMs }, tokens);
      return speed.kind === 'measured' && speed.isSteady;
    };
    expect([isSteady(300, 8), isSteady(300, 7), isSteady(299, 8)]).toEqual([true, false, false]);
  });

  it('is a lower bound if the whole answer took no longer than the first token', () => {
    const bound = { kind: 'at-least', perSecond: 160 };
    expect(goldenSpeed({ firstMs: 200, wholeMs: 200 }, 32)).toEqual(bound);
    expect(goldenSpeed({ firstMs: 300, wholeMs: 200 }, 32)).toEqual(bound);
    expect(goldenSpeed({ firstMs: 1, wholeMs: 0 }, 2)).toEqual({ kind: 'at-least', perSecond: 2_000 });
  });

  it('is unknown for one token or without a token count', () => {
    expect(goldenSpeed({ firstMs: 100, wholeMs: 200 }, 1)).toEqual({ kind: 'unknown', why: 'one-token' });
    expect(goldenSpeed({ firstMs: 100, wholeMs: 200 }, undefined)).toEqual({ kind: 'unknown', why: 'not-counted' });
  });

  it('is timed by curl on the node', () => {
    const endpoint = { placement: 'kimi', isOne: false, port: 8080, path: '/x' };
    const command = askCommand({ ...endpoint, deadlineSeconds: 1, rootPrefix: '', isTimed: true });
    expect(command).toContain('%{time_total} %{http_code}');
    expect(parseTimedAnswer('{"a":1}\n0.120034 200')).toEqual({ status: 200, body: '{"a":1}', seconds: 0.120034 });
    expect(parseTimedAnswer('\n0,5 000')).toEqual({ status: 0, body: '', seconds: 0.5 });
    expect([parseTimedAnswer('0.1 200'), parseTimedAnswer('x\n200')]).toEqual([undefined, undefined]);
  });
});
