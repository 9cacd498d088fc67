import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { HostKey } from '../model/cluster-lock.ts';
import type { NodeName } from '../model/node.ts';
import { fetchHostKey } from '../remote/connect.ts';
import type { HostKeyVerdict } from '../remote/host-key-trust.ts';
import { diagnoseSudo } from '../remote/sudo-answer.ts';
import { rootLine, scriptCommand, shellCommand, tool } from '../script/node-paths.ts';
import { type UseLimits, type Way, withRemote } from './with-remote.ts';

/** The key that a node shows now, and what is to be thought of it. */
export interface ShownKey {
  readonly key: HostKey;
  /** `SHA256:…`. */
  readonly fingerprint: string;
  readonly verdict: HostKeyVerdict;
}

/** Asks a node for its host key; offers nothing to it. @throws FleetError with one `ssh/…` code. */
export async function lookAtHostKey(way: Extract<Way, { kind: 'way' }>, limits: UseLimits): Promise<ShownKey> {
  const { fingerprint, ...key } = await fetchHostKey(way.target, { deadlineMs: limits.deadlineMs });
  return { key, fingerprint, verdict: way.trust.judge(Buffer.from(key.base64, 'base64')) };
}

/** Whether the controller may log in and become root; what is missing, with the line to add, when it may not. */
export interface AccessCheck {
  readonly login: 'accepted' | 'refused';
  readonly sudo: 'allowed' | 'refused' | 'unknown';
  readonly diagnostics: readonly Diagnostic[];
}

/** Logs in once and asks sudo in the one form in which meshwright will use it: `sudo -n /bin/sh -s`, with no script. */
export async function checkAccess(
  node: NodeName,
  way: Extract<Way, { kind: 'way' }>,
  limits: UseLimits,
): Promise<AccessCheck> {
  const { target } = way;
  const ask = `${scriptCommand([tool.sudo, '-n', tool.sh, '-s'])} </dev/null`;
  const reached = await withRemote({ node, way }, limits, (remote) =>
    remote.exec(shellCommand(`${rootLine(remote.rootPrefix)}\n${ask}`), {
      deadlineMs: limits.deadlineMs,
      maxBytes: 65_536,
    }),
  );
  if (reached.kind === 'unreached') return { login: 'refused', sudo: 'unknown', diagnostics: reached.diagnostics };
  const { exit, stderr } = reached.value;
  const problem = diagnoseSudo(target.label, target.user, exit, new TextDecoder().decode(stderr));
  if (problem) return { login: 'accepted', sudo: 'refused', diagnostics: [problem] };
  const isAllowed = exit.kind === 'exited' && exit.code === 0;
  return { login: 'accepted', sudo: isAllowed ? 'allowed' : 'unknown', diagnostics: [] };
}
