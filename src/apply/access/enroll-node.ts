import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { FleetError } from '../../diagnostics/fleet-error.ts';
import type { HostKey } from '../../model/cluster-lock.ts';
import { exitText, isSuccess } from '../../model/exit.ts';
import type { NodeName } from '../../model/node.ts';
import { nodeSubject } from '../../model/subject.ts';
import { named, prose } from '../../model/text/prose.ts';
import { rootLine, scriptCommand, shellCommand, tool } from '../../node/paths/node-paths.ts';
import { fetchHostKey } from '../../remote/connect.ts';
import type { HostKeyVerdict } from '../../remote/keys/host-key-trust.ts';
import { diagnoseSudo } from '../../remote/keys/sudo-answer.ts';
import { interruption, type UseLimits, type Way, withRemote } from '../reach/with-remote.ts';

/** The key that a node shows now, and what is to be thought of it. */
export interface ShownKey {
  readonly key: HostKey;
  /** `SHA256:…`. */
  readonly fingerprint: string;
  readonly verdict: HostKeyVerdict;
}

/**
 * Asks a node for its host key; offers nothing to it.
 * @throws FleetError with one `ssh/…` code, or `run/interrupted` when the signal ended it
 */
export async function lookAtHostKey(way: Extract<Way, { kind: 'way' }>, limits: UseLimits): Promise<ShownKey> {
  const { deadlineMs, signal, onRemote } = limits;
  const asked = { deadlineMs, ...(signal ? { signal } : {}), ...(onRemote ? { onRemote } : {}) };
  const { fingerprint, ...key } = await fetchHostKey(way.target, asked, way.trust.algorithms).catch(
    (error: unknown) => {
      // An interrupted attempt says nothing about the node.
      throw signal?.aborted === true ? new FleetError([interruption(way.target.label)]) : error;
    },
  );
  const verdict = way.trust.judge(Buffer.from(key.base64, 'base64'));
  onRemote?.({ kind: 'host-key', node: way.target.label, verdict: verdict.kind, fingerprint });
  return { key, fingerprint, verdict };
}

/** Whether the controller may log in and become root; what is missing, with the line to add, when it may not. */
export interface AccessCheck {
  /** `unknown` when nobody could ask: the node was not reached, is locked, or no key could be offered. */
  readonly login: 'accepted' | 'refused' | 'unknown';
  /** Absent when nobody could ask. */
  readonly sudo?: 'allowed' | 'refused' | 'unknown';
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
  const reached = await withRemote({ node, way }, limits, (remote, leftMs) =>
    remote.exec(shellCommand(`${rootLine(remote.rootPrefix)}\nexport LC_ALL=C\n${ask}`), {
      name: 'check-sudo',
      deadlineMs: leftMs,
      maxBytes: 65_536,
    }),
  );
  if (reached.kind === 'unreached') {
    const isRefused = reached.diagnostics.some((one) => one.code === 'ssh/authentication-failed');
    return { login: isRefused ? 'refused' : 'unknown', diagnostics: reached.diagnostics };
  }
  const { exit } = reached.value;
  const stderr = new TextDecoder().decode(reached.value.stderr);
  const problem = diagnoseSudo(target.label, target.user, exit, stderr);
  if (problem) return { login: 'accepted', sudo: 'refused', diagnostics: [problem] };
  if (isSuccess(exit)) return { login: 'accepted', sudo: 'allowed', diagnostics: [] };
  const detail = prose`${named(target.label)} answered ${exitText(exit)}: ${stderr.trim().slice(0, 300) || 'without a word'}`;
  const unheard = diagnose('enroll/sudo-unknown', { detail, subject: nodeSubject(target.label) });
  return { login: 'accepted', sudo: 'unknown', diagnostics: [unheard] };
}
