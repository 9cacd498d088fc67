import type { ExchangeAccess, PeerLogin } from '../../engine/scripts/job.ts';
import type { NodeName } from '../../model/node.ts';
import type { PeerPlan } from '../../model/node-script.ts';
import { isSuccess } from '../../model/probe.ts';
import { servesOverSsh } from '../../rack/artifacts/peers/peer-scripts.ts';
import { isHost, isTcpPort, isUser, printedText } from '../../remote/remote.ts';
import type { StepContext } from './context.ts';

/** How the Macs of an exchange reach each other over SSH; undefined if they use no SSH. */
export async function exchangeAccess(
  plan: PeerPlan | undefined,
  context: StepContext,
): Promise<ExchangeAccess | undefined> {
  const over = (plan?.sources ?? []).filter(({ isOverSsh }) => isOverSsh === true);
  if (plan === undefined || (over.length === 0 && !servesOverSsh(plan))) return undefined;
  const logins = await Promise.all(over.map(({ node }) => loginTo(node, context)));
  return { ...context.exchangeKeys(), logins: logins.flatMap((login) => login ?? []) };
}

/**
 * The address of a Mac's sshd as the Mac itself sees this computer's connection, so that a port forwarding on the way
 * does not matter. Undefined if the Mac does not answer: then no other Mac uses SSH to it.
 *
 * @see sshd(8), ENVIRONMENT: SSH_CONNECTION has the client's address and port, then the server's
 */
async function loginTo(node: NodeName, context: StepContext): Promise<PeerLogin | undefined> {
  const session = context.session(node);
  const limits = { name: 'ssh-connection', deadlineMs: context.observeMs, maxBytes: 1_024 };
  const answer = await session.ask(() => ({ ...limits, command: 'printf "%s\\n" "$SSH_CONNECTION"' }));
  if (answer.kind === 'unreached' || answer.hostKey === undefined || !isSuccess(answer.result.exit)) return undefined;
  // What a login shell prints comes before.
  const line = printedText(answer.result).stdout.trimEnd().split('\n').at(-1) ?? '';
  const [, , seen = '', port = ''] = line.split(' ');
  const way = context.way(node);
  // A link-local IPv6 address is useless without this Mac's own zone; its host name may have another one.
  const address = /^fe80:/i.test(seen) && way.kind === 'way' ? way.target.host : seen;
  const { type, base64 } = answer.hostKey;
  const isUsable = isHost(address) && isTcpPort(Number(port)) && isUser(session.user);
  return isUsable ? { node, user: session.user, address, port: Number(port), hostKey: `${type} ${base64}` } : undefined;
}
