import { gatewayAccount, ranksAccount } from '../../../model/account.ts';
import type { Draft } from '../../draft/draft.ts';
import type { Finding } from '../../draft/finding.ts';

/** What each of the two keys may not name: it is made for the other one. */
const ofOther = { ranks: gatewayAccount, gateway: ranksAccount } as const;

/** Accounts of ranks and gateway that are one, or that meshwright logs in as. */
export function accounts({ accounts: { ranks, gateway }, users }: Draft): readonly Finding[] {
  const isOne = ranks !== undefined && ranks.text !== 'login' && ranks.text === gateway?.text;
  const shared: readonly Finding[] = isOne
    ? [
        {
          code: 'node/same-account',
          pointer: gateway.pointer,
          at: 'value',
          detail: `Ranks and gateway would both run as ${ranks.text}.`,
          others: [{ pointer: ranks.pointer, at: 'value', detail: 'The account of the ranks.' }],
        },
      ]
    : [];
  return [
    ...shared,
    ...(['ranks', 'gateway'] as const).flatMap((key): readonly Finding[] => {
      const account = { ranks, gateway }[key];
      if (account === undefined || (isOne && key === 'gateway')) return [];
      const { text, pointer } = account;
      const about = { pointer, at: 'value' } as const;
      if (text === ofOther[key]) {
        const other = key === 'ranks' ? 'the gateway' : 'ranks';
        return [{ ...about, code: 'node/same-account', detail: `meshwright makes ${text} for ${other}.` }];
      }
      return text === 'root' || users.includes(text)
        ? [{ ...about, code: 'node/account-logs-in', detail: `${text} is an account that can become root.` }]
        : [];
    }),
  ];
}
