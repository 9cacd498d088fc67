import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { errorAnswer, type PlainAnswer, refusalAnswer, refusals, sendAnswer } from '../../../src/gateway/answers.ts';
import { onOnePage, sayValue } from '../one-page.ts';

/** The parts of an answer that a client sees. */
function sent(answer: PlainAnswer, headersSent = false): readonly unknown[] {
  const seen: unknown[] = [];
  const response = {
    headersSent,
    destroy: () => seen.push('destroyed'),
    writeHead: (...head: readonly unknown[]) => seen.push(...head),
    end: (text: string) => seen.push(text),
  };
  sendAnswer(response as unknown as ServerResponse, answer);
  return seen;
}

it('refusalAnswer formats every refusal like the OpenAI API', () => {
  const all = [
    refusals.noKey(),
    refusals.unknownModel(`a"${'x'.repeat(300)}`, ['tiny', 'large']),
    refusals.unknownModel('x', []),
    refusals.noModel(['tiny', 'large']),
    refusals.refusedField('adapters', 'tiny'),
    refusals.wrongValue('top_k', 'a whole number from 0 to 255'),
    refusals.badUrl(),
    refusals.noSuchPath('/x'),
    refusals.wrongMethod('PUT'),
    refusals.notJson(),
    refusals.badBody(),
    refusals.tooLarge(1_000),
    refusals.tooMany('tiny'),
    refusals.noRoom(),
    refusals.closed('tiny', 'it is stopped.'),
    refusals.down('tiny', 'it gave no answer.'),
    refusals.leaving(),
  ];
  for (const one of all) expect(sayValue(sent(refusalAnswer(one)))).toHaveLength(3);
});

it('sendAnswer sets the length in bytes, and destroys a started response', () => {
  expect(sent({ status: 200, body: 'ä' })).toEqual([
    200,
    { 'content-type': 'application/json', 'content-length': 5, 'cache-control': 'no-store' },
    '"ä"\n',
  ]);
  expect(sent({ status: 200, body: 'x' }, true)).toEqual(['destroyed']);
});

onOnePage('answers');

it('an error that means a lost placement is a reason to try another replica', () => {
  const message = 'No instance found for model acme/tiny';
  const api = { paths: ['/v1/chat/completions'], deadError: 'No instance found for model' };
  const text = JSON.stringify({ error: { message, type: 'Not Found', code: 404 } });
  expect(errorAnswer(404, text, api)).toBe(message);
  expect(errorAnswer(404, text, { paths: api.paths })).toMatchObject({ status: 400 });
  expect(errorAnswer(404, text, {})).toMatchObject({ status: 404 });
});
