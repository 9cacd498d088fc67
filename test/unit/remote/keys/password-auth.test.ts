import type { AnyAuthMethod } from 'ssh2';
import { describe, expect, it } from 'vitest';
import { concealed } from '../../../../src/model/secret.ts';
import { passwordOnly } from '../../../../src/remote/keys/password-login.ts';

type Left = readonly string[] | null;
type Prompt = (...given: readonly unknown[]) => void;

/** The method that a login requests from ssh2 for each answer of a node, and the reported events. */
function login(answers: readonly (readonly [Left, (boolean | null)?])[], maySend = true) {
  const events: unknown[] = [];
  const watch = {
    refused: (methods: readonly string[], isPartial: boolean) => events.push(['refused', methods, isPartial]),
    maySend: () => {
      events.push('may it be sent?');
      return maySend;
    },
    sent: () => events.push('sent'),
    strange: () => events.push('strange'),
  };
  const handler = passwordOnly('mesh', concealed('secret'), watch);
  const tried = answers.map(([left, isPartial = false]) => {
    let method: unknown = 'none at all';
    const next = (given: unknown): void => {
      method = given;
    };
    const result: unknown = handler(left as never, isPartial as never, next as never);
    return result === false ? false : (method as AnyAuthMethod & { readonly prompt?: Prompt });
  });
  return { tried, events };
}

const password = { type: 'password', username: 'mesh', password: 'secret' };
const none = { type: 'none', username: 'mesh' };
const asksFor = (...methods: readonly string[]) => ['refused', methods, false];

describe('a login with a password', () => {
  it('requests the methods, then sends the password once', () => {
    const { tried, events } = login([[null, null], [['password', 'keyboard-interactive']], [['password']]]);
    expect(tried).toEqual([none, password, false]);
    expect(events).toEqual([
      asksFor('password', 'keyboard-interactive'),
      'may it be sent?',
      'sent',
      asksFor('password'),
    ]);
  });

  it('sends nothing if not allowed, without a suitable method, or after a partial login', () => {
    expect(login([[['password']]], false)).toEqual({
      tried: [false],
      events: [asksFor('password'), 'may it be sent?'],
    });
    expect(login([[['publickey']], [['password']]])).toEqual({
      tried: [false, false],
      events: [asksFor('publickey'), 'may it be sent?', asksFor('password')],
    });
    expect(login([[['password'], true]])).toEqual({ tried: [false], events: [['refused', ['password'], true]] });
  });

  it('answers only one hidden prompt and only once', () => {
    const begin = () => {
      const { tried, events } = login([[['publickey', 'keyboard-interactive']]]);
      const [method] = tried;
      if (method === undefined || method === false) throw new Error('the login tried no method');
      expect(method).toEqual({ type: 'keyboard-interactive', username: 'mesh', prompt: expect.any(Function) });
      events.splice(0);
      const ask = (...prompts: readonly unknown[]): void =>
        method.prompt?.('', '', '', prompts, (answers: unknown) => events.push(answers));
      return { ask, events };
    };
    const honest = begin();
    honest.ask({ prompt: 'Password:', echo: false });
    honest.ask({ prompt: 'Password:', echo: false });
    expect(honest.events).toEqual(['sent', ['secret'], 'strange']);
    for (const prompts of [[], [{ echo: true }], [{ echo: false }, { echo: false }]]) {
      const odd = begin();
      odd.ask(...prompts);
      expect(odd.events).toEqual(['strange']);
    }
    const bare = begin();
    bare.ask({ prompt: 'Password:' });
    expect(bare.events).toEqual(['sent', ['secret']]);
  });
});
