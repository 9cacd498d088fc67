import { diagnose } from '../../diagnostics/diagnose.ts';
import { nodesSubject } from '../../model/subject.ts';
import { defineRule } from '../define-rule.ts';

/** Ranks and gateways that the file lets run as the ssh user, who can become root. */
export const runsAsLogin = defineRule(
  {
    'accounts/login': {
      severity: 'warning',
      summary: 'Ranks or the gateway run as the ssh user.',
      cause:
        'The file sets login in system.accounts. The ssh user becomes root by the sudo rule of enroll, so an attacker who breaks a rank or the gateway is root on that Mac.',
      hint: 'Take login out of system.accounts: apply then makes accounts that cannot become root.',
      role: 'told',
      facts: [],
    },
  },
  ({ desired: { system, placements } }, codes) => {
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
        diagnose(codes['accounts/login'], {
          subject: nodesSubject([...new Set(nodes)].toSorted()),
          detail: `${what} as the ssh user, who can become root (system.accounts.${role}: login).`,
          hint: `Take \`${role}: login\` out of system.accounts: apply then makes an account that cannot become root.`,
        }),
      ];
    });
  },
);
