import { describe, expect, it } from 'vitest';
import {
  chatRequest as chatRequestItself,
  goldenBody,
  requestAt as requestAtItself,
  withQuestion as withQuestionItself,
} from '../../../../src/drivers/contract/chat-request.ts';
import { onOnePage, onPage } from '../../one-page.ts';

const chatRequest = onPage(chatRequestItself);
const requestAt = onPage(requestAtItself);
const withQuestion = onPage(withQuestionItself);

const asked = (path: string): unknown[] => {
  const request = requestAt(path, 'tiny');
  return [request.pointer, ...[request.body, goldenBody(request)].map((body) => Object.keys(Object(body)).sort())];
};
const common = ['max_tokens', 'model', 'stream', 'temperature'];

describe('the request for one token', () => {
  it('is a chat on most paths, like the golden question', () => {
    const keys = [...common, 'messages'].sort();
    const chat = ['/choices/0/message/content', keys, keys];
    for (const path of ['/v1/chat/completions', '/chat', '/openai/chat/completions?version=1']) {
      expect(asked(path)).toEqual(chat);
    }
  });

  it('is a prompt on the older path, whatever precedes or follows it', () => {
    const keys = [...common, 'prompt'].sort();
    const prompt = ['/choices/0/text', keys, keys];
    for (const path of ['/v1/completions', '/completions/', '/openai/v1/completions?version=1']) {
      expect(asked(path)).toEqual(prompt);
    }
  });

  it('accepts a different question and keeps everything else', () => {
    expect(withQuestion(chatRequest('tiny'), 'Why?')).toEqual({
      model: 'tiny',
      messages: [{ role: 'user', content: 'Why?' }],
      max_tokens: 1,
      temperature: 0,
      stream: false,
    });
    expect(withQuestion(requestAt('/v1/completions', 'tiny'), 'Why?')).toMatchObject({ model: 'tiny', prompt: 'Why?' });
  });
});

onOnePage('chat-request');
