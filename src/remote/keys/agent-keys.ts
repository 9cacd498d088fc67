import type { BaseAgent, ParsedKey } from 'ssh2';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { loadSsh2 } from '../load-ssh2.ts';

/** A key that an agent holds, with the agent that signs for it. */
export interface AgentKey {
  readonly key: ParsedKey;
  readonly signer: BaseAgent;
}

/** What an agent holds, or why nobody knows. */
export type AgentAnswer =
  | { readonly keys: readonly AgentKey[] }
  | { readonly keys: readonly AgentKey[]; readonly problem: Diagnostic };

const deadlineMs = 5_000;

function unreachable(socket: string, why: string): AgentAnswer {
  const problem = diagnose('ssh/agent-unreachable', {
    detail: `The ssh agent at ${socket} gave no list of keys: ${why}.`,
  });
  return { keys: [], problem };
}

/** Asks an ssh agent for its keys; types that ssh2 cannot use (sk-, certificates, DSA) are left out. Never rejects. */
export async function listAgentKeys(socket: string): Promise<AgentAnswer> {
  const { OpenSSHAgent } = await loadSsh2();
  const signer = new OpenSSHAgent(socket);
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(unreachable(socket, `no answer in ${deadlineMs / 1000} s`)), deadlineMs);
    signer.getIdentities((error, keys) => {
      clearTimeout(timer);
      if (error || keys === undefined) return resolve(unreachable(socket, error?.message ?? 'an empty answer'));
      return resolve({
        keys: keys.flatMap((key) => ('type' in key && key.type !== 'ssh-dss' ? [{ key, signer }] : [])),
      });
    });
  });
}
