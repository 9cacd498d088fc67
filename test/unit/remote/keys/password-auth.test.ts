import type { AnyAuthMethod } from 'ssh2';
import { describe, expect, it } from 'vitest';
import { concealed } from '../../../../src/model/secret.ts';
import { passwordOnly } from '../../../../src/remote/keys/password-login.ts';

type Left = readonly string[] | null;
type Prompt = (...given: readonly unknown[]) => void;

/** What a login asks of ssh2 for each answer of a node, and what is told meanwhile. */
function login(answers: readonly (readonly [Left, (boolean | null)?])[], maySend = true) {
  const told: unknown[] = [];
  const watch = {
    refused: (methods: readonly string[], isPartial: boolean) => told.push(['refused', methods, isPartial]),
    maySend: () => {
      told.push('may it be sent?');
      return maySend;
    },
    sent: () => told.push('sent'),
    strange: () => told.push('strange'),
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
  return { tried, told };
}

const password = { type: 'password', username: 'mesh', password: 'secret' };
const none = { type: 'none', username: 'mesh' };
const asksFor = (...methods: readonly string[]) => ['refused', methods, false];

describe('a login by password', () => {
  it('asks for the methods, then sends the password once', () => {
    const { tried, told } = login([[null, null], [['password', 'keyboard-interactive']], [['password']]]);
    expect(tried).toEqual([none, password, false]);
    expect(told).toEqual([asksFor('password', 'keyboard-interactive'), 'may it be sent?', 'sent', asksFor('password')]);
  });

  it('sends nothing where it may not, where no method is right, and after a part of a login', () => {
    expect(login([[['password']]], false)).toEqual({
      tried: [false],
      told: [asksFor('password'), 'may it be sent?'],
    });
    expect(login([[['publickey']], [['password']]])).toEqual({
      tried: [false, false],
      told: [asksFor('publickey'), 'may it be sent?', asksFor('password')],
    });
    expect(login([[['password'], true]])).toEqual({ tried: [false], told: [['refused', ['password'], true]] });
  });

  it('answers one hidden prompt, once, and nothing else', () => {
    const begin = () => {
      const { tried, told } = login([[['publickey', 'keyboard-interactive']]]);
      const [method] = tried;
      if (method === undefined || method === false) throw new Error('nothing was tried');
      expect(method).toEqual({ type: 'keyboard-interactive', username: 'mesh', prompt: expect.any(Function) });
      told.splice(0);
      const ask = (...prompts: readonly unknown[]): void =>
        method.prompt?.('', '', '', prompts, (answers: unknown) => told.push(answers));
      return { ask, told };
    };
    const honest = begin();
    honest.ask({ prompt: 'Password:', echo: false });
    honest.ask({ prompt: 'Password:', echo: false });
    expect(honest.told).toEqual(['sent', ['secret'], 'strange']);
    for (const prompts of [[], [{ echo: true }], [{ echo: false }, { echo: false }]]) {
      const odd = begin();
      odd.ask(...prompts);
      expect(odd.told).toEqual(['strange']);
    }
    const bare = begin();
    bare.ask({ prompt: 'Password:' });
    expect(bare.told).toEqual(['sent', ['secret']]);
  });
});
