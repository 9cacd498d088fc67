import type { FactsAutomaticLogin } from '../../model/documents.generated.ts';
import { andThen, type Known, known } from '../../model/known.ts';
import { named, prose } from '../../model/text/prose.ts';
import { garbled } from '../../node/answers/read-answer.ts';
import { preference } from '../../node/answers/setting-answer.ts';
import { nodeSettings } from '../../node/probes/node-settings.ts';
import { isAccountName } from '../accounts/fact.ts';
import { defineNodeRule } from '../define-rule.ts';
import { defineFact, read, readValue } from '../fact.ts';
import { filevaultFact } from '../filevault/fact.ts';
import { verifyOnly } from '../resource.ts';

declare module '../resource-kind.ts' {
  interface ResourceKinds {
    readonly 'login-window': true;
  }
}

const fact = defineFact({
  name: 'automatic-login',
  from: [nodeSettings],
  parse: ([answer]): Known<FactsAutomaticLogin> =>
    andThen(preference(answer, 'login', 'autoLoginUser'), (user) => {
      if (user === undefined) return known({});
      return isAccountName(user) ? known({ user }) : garbled(answer, 'printed no account name');
    }),
  source: 'defaults read /Library/Preferences/com.apple.loginwindow autoLoginUser',
  text: ({ user }) => user ?? 'off',
});

const place = 'in System Settings > Users & Groups, set "Automatically log in as" to';

/** Automatic login, if the file sets it. Only a person can change it, because macOS asks for the account's password. */
export const loginWindow = {
  fact,
  resource: verifyOnly({
    kind: 'login-window',
    after: ['identity'],
    unobservedText: ({ facts }, { system }) =>
      system.automaticLogin !== undefined && read(facts, fact).kind === 'unknown'
        ? 'whether an account is logged in automatically'
        : undefined,
  }),
  ...defineNodeRule(
    {
      'login/differs': {
        traits: ['hands'],
        summary: 'Automatic login does not match the file.',
        cause:
          "Without a login, there is no user session after a start, and programs that need one do not run. macOS asks for the account's password, so only a person at the Mac can change the setting.",
        hint: 'Change "Automatically log in as" in System Settings > Users & Groups.',
        role: { blocks: 'login-window' },
        facts: [fact],
      },
      'login/needs-filevault-off': {
        summary: 'Automatic login is impossible while FileVault is on.',
        cause: 'The disk is locked until a person enters a password, so macOS switches automatic login off.',
        hint: 'Switch FileVault off in Terminal on this Mac (`sudo fdesetup disable`), or set system.automaticLogin: any.',
        role: { blocks: 'login-window' },
        facts: [filevaultFact],
      },
    },
    ({ name, facts }, { desired: { system } }) => {
      const { automaticLogin: wanted } = system;
      const seen = readValue(facts, fact);
      if (wanted === undefined) return [];
      if (wanted === 'required' && readValue(facts, filevaultFact) === 'on') {
        return { code: 'login/needs-filevault-off', detail: 'FileVault is on, but the file wants automatic login.' };
      }
      if (seen === undefined || (seen.user === undefined) === (wanted === 'disabled')) return [];
      const [detail, choice] =
        wanted === 'required'
          ? ['This Mac does not log an account in automatically, but the file requires it.', 'the account to log in']
          : [`This Mac logs ${seen.user} in automatically, but the file wants that off.`, 'Off'];
      return { code: 'login/differs', detail, hint: prose`On ${named(name)}, ${place} ${choice}.` };
    },
  ),
};
