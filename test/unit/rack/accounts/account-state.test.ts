import { describe, expect, it } from 'vitest';
import { type MacAccount, type MacAccounts, ranksAccount } from '../../../../src/model/account.ts';
import { known } from '../../../../src/model/known.ts';
import { accountState } from '../../../../src/rack/accounts/reading.ts';

const ours: MacAccount = {
  name: ranksAccount,
  uid: 460,
  gid: 460,
  generatedUid: 'A',
  home: '/var/empty',
  shell: '/usr/bin/false',
  hasPassword: false,
  groups: [],
};
const made = [{ name: ranksAccount, uid: 460, generatedUid: 'A' }];
const person: MacAccount = { ...ours, name: 'ana', uid: 501, gid: 501, home: '/Users/ana', shell: '/bin/zsh' };
const seen = (account: MacAccount, more: Partial<MacAccounts> = {}) =>
  ({ accounts: [account], made, begun: [], ...more }) as unknown as MacAccounts;

describe("the state of meshwright's own account", () => {
  it.each([
    ['made', {}, {}],
    ['begun', {}, { begun: [ranksAccount] }],
    ['left', {}, { made: [] }],
    ['absent', { name: 'ana' }, {}],
    ['made', { uid: 450, gid: 450 }, { made: [{ ...made[0], uid: 450 }] }],
    ['made', { uid: 499, gid: 499 }, { made: [{ ...made[0], uid: 499 }] }],
    ['other', { uid: 449, gid: 449 }, { made: [{ ...made[0], uid: 449 }] }],
    ['other', { uid: 500, gid: 500 }, { made: [{ ...made[0], uid: 500 }] }],
    ['other', { uid: 461, gid: 461 }, {}],
    ['other', { gid: 461 }, {}],
    ['other', { generatedUid: 'B' }, {}],
    ['other', { home: '/Users/ana' }, {}],
    ['other', { shell: '/bin/zsh' }, {}],
    ['other', { hasPassword: true }, {}],
    ['administrator', { groups: ['staff', 'admin'] }, {}],
    ['administrator', { groups: ['wheel'] }, { made: [] }],
  ] as const)('is %s with %j and the records %j', (state, change, records) => {
    const account = { ...ours, ...change } as MacAccount;
    expect(accountState(ranksAccount, seen(account, records as object))).toBe(state);
  });
});

describe('the state of an account named in the file', () => {
  it.each([
    ['made', {}],
    ['administrator', { uid: 0 }],
    ['administrator', { groups: ['admin'] }],
    ['shared-group', { gid: 20 }],
  ] as const)('is %s with %j', (state, more) => {
    expect(accountState('ana', seen({ ...person, ...more } as MacAccount))).toBe(state);
  });

  it('is "login" if SSH uses the account, and "absent" if the account does not exist', () => {
    expect(accountState('ana', seen(person), known('ana'))).toBe('login');
    expect(accountState('ana', seen(person), known('mesh'))).toBe('made');
    expect(accountState('bob', seen(person))).toBe('absent');
  });
});
