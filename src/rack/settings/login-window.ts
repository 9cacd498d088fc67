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

/** Whom a Mac logs in by itself when it starts; absent when nobody. */
type AutomaticLogin = {
  readonly user?: string;
};

/** Whom the Mac logs in by itself when it starts. */
const fact = defineFact({
  name: 'automatic-login',
  from: [nodeSettings],
  parse: ([answer]): Known<AutomaticLogin> =>
    andThen(preference(answer, 'login', 'autoLoginUser'), (user) => {
      if (user === undefined) return known({});
      return isAccountName(user) ? known({ user }) : garbled(answer, 'printed no name of an account');
    }),
  source: 'defaults read /Library/Preferences/com.apple.loginwindow autoLoginUser',
  text: ({ user }) => user ?? 'nobody',
});

const place = 'System Settings > Users & Groups > Automatically log in as';

/** Automatic login, where the file has a wish: only hands can change it, since macOS asks for the password of the account. */
export const loginWindow = {
  fact,
  resource: verifyOnly({
    kind: 'login-window',
    after: ['identity'],
    gap: ({ facts }, { system }) =>
      system.automaticLogin !== undefined && read(facts, fact).kind === 'unknown'
        ? 'whether somebody is logged in automatically'
        : undefined,
  }),
  ...defineNodeRule(
    {
      'login/differs': {
        severity: 'error',
        summary: 'Automatic login is not as the file says.',
        cause:
          'Without a login there is no session of a user after a start, and programs that need one do not run. macOS asks for the password of the account, so nobody but a person at the Mac can switch it.',
        hint: 'System Settings > Users & Groups > Automatically log in as.',
        hands: true,
        role: { blocks: 'login-window' },
        facts: [fact],
      },
      'login/needs-filevault-off': {
        severity: 'error',
        summary: 'Automatic login is impossible while FileVault is on.',
        cause: 'The disk is locked until somebody gives a password, so macOS switches automatic login off.',
        hint: 'Switch FileVault off at a terminal of this Mac (sudo fdesetup disable), or write system.automaticLogin: any.',
        role: { blocks: 'login-window' },
        facts: [filevaultFact],
      },
    },
    ({ name, facts }, { desired: { system } }) => {
      const { automaticLogin: wanted } = system;
      const seen = readValue(facts, fact);
      if (wanted === undefined) return [];
      if (wanted === 'required' && readValue(facts, filevaultFact) === 'on') {
        return { code: 'login/needs-filevault-off', detail: 'FileVault is on, and the file wants a login.' };
      }
      if (seen === undefined || (seen.user === undefined) === (wanted === 'disabled')) return [];
      const [detail, choice] =
        wanted === 'required'
          ? ['Nobody is logged in when it starts. The file says required.', 'the account that is to be logged in']
          : [`It logs ${seen.user} in when it starts. The file says disabled.`, 'Off'];
      return { code: 'login/differs', detail, hint: prose`On ${named(name)}: ${place}: ${choice}.` };
    },
  ),
};
