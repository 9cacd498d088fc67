import { diagnose } from '../../diagnostics/diagnose.ts';
import { nodesSubject } from '../../model/subject.ts';
import type { Rule } from '../rule.ts';

/** Ranks and gateways that the file lets run as the ssh user, who can become root. */
export const runsAsLogin: Rule = ({ desired: { system, placements } }) => {
  const running = placements.filter(({ state }) => state === 'serving');
  const asLogin = (['ranks', 'gateway'] as const).filter((role) => system.accounts[role] === undefined);
  return asLogin.flatMap((role) => {
    const own = role === 'ranks' ? running : running.filter(({ publication }) => publication !== undefined);
    if (own.length === 0) return [];
    const names = own.map(({ name }) => name).join(', ');
    const gateways = own.length > 1 ? `The gateways of ${names} run` : `The gateway of ${names} runs`;
    const what = role === 'ranks' ? `The ranks of ${names} run` : gateways;
    const nodes = own.flatMap((one) => (role === 'ranks' ? one.nodes : one.nodes.slice(0, 1)));
    return [
      diagnose('accounts/login', {
        subject: nodesSubject([...new Set(nodes)].toSorted()),
        detail: `${what} as the ssh user, who can become root (system.accounts.${role}: login).`,
        hint: `Take \`${role}: login\` out of system.accounts: apply then makes an account that cannot become root.`,
      }),
    ];
  });
};
