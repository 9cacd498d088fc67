import type { BaseAgent, ParsedKey } from 'ssh2';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { Target } from '../remote.ts';
import { listAgentKeys } from './agent-keys.ts';
import { fingerprint } from './host-key.ts';
import { type KeyFile, readKeyFile } from './key-file.ts';

/** One key that is offered to a node: signed for by a file that was read, or by the agent. */
export interface Offer {
  /** Shown when the node accepts none: path or agent comment, type and fingerprint. */
  readonly label: string;
  readonly key: ParsedKey;
  readonly signer: { readonly kind: 'file' } | { readonly kind: 'agent'; readonly agent: BaseAgent };
}

/** Everything that can be offered, and what stood in the way of the rest. */
export interface Identities {
  readonly offers: readonly Offer[];
  /** How many keys are left out because a node would end the connection after too many. */
  readonly leftOut: number;
  readonly problems: readonly Diagnostic[];
}

/** sshd ends a connection at the sixth failed request (MaxAuthTries). */
const maxOffers = 5;
/** After the keys of an agent one more request asks for the methods that are left; see `publickeyOnly`. */
const maxOffersWithAgent = 4;

const blobOf = (key: ParsedKey): string => key.getPublicSSH().toString('base64');

function label(source: string, key: ParsedKey): string {
  return `${source} (${key.type} ${fingerprint({ type: key.type, base64: blobOf(key) })})`;
}

function encrypted(file: string): Diagnostic {
  return diagnose('ssh/key-encrypted', {
    detail: `${file} is encrypted, and the ssh agent does not hold its key.`,
    hint: `Load it once: ssh-add ${file}`,
  });
}

function offerOfFile(file: KeyFile, agentOffers: readonly Offer[]): Offer | Diagnostic {
  switch (file.kind) {
    case 'private':
      return { label: label(file.path, file.key), key: file.key, signer: { kind: 'file' } };
    case 'unusable':
      return diagnose('ssh/key-unusable', { detail: `${file.path}: ${file.reason}.` });
    case 'public':
    case 'encrypted': {
      const held = agentOffers.find((offer) => blobOf(offer.key) === file.publicBase64);
      if (held !== undefined) return { ...held, label: label(file.path, held.key) };
      return file.kind === 'encrypted'
        ? encrypted(file.path)
        : diagnose('ssh/key-unusable', {
            detail: `${file.path} is a public key, and the ssh agent does not hold its private half.`,
          });
    }
  }
}

/** Each key where it stands first. */
function distinct(offers: readonly Offer[]): readonly Offer[] {
  return offers.filter(({ key }, at) => offers.findIndex((other) => blobOf(other.key) === blobOf(key)) === at);
}

/** Collects the keys to offer to a node: files in their order, then the agent's, each once, at most five (four with an agent). */
export async function collectIdentities(target: Target): Promise<Identities> {
  const [files, agent] = await Promise.all([
    Promise.all(target.identityFiles.map(readKeyFile)),
    target.agentSocket === undefined ? { keys: [] } : listAgentKeys(target.agentSocket),
  ]);
  const agentOffers = agent.keys.map(
    ({ key, signer }): Offer => ({
      label: label(`agent: ${key.comment}`, key),
      key,
      signer: { kind: 'agent', agent: signer },
    }),
  );
  const fromFiles = files.map((file) => offerOfFile(file, agentOffers));
  const problems = [...fromFiles.filter((one) => 'code' in one), ...('problem' in agent ? [agent.problem] : [])];
  const own = fromFiles.filter((one) => 'key' in one);
  const all = distinct(target.isIdentitiesOnly === true ? own : [...own, ...agentOffers]);
  const hasAgent = all.slice(0, maxOffers).some((offer) => offer.signer.kind === 'agent');
  const offers = all.slice(0, hasAgent ? maxOffersWithAgent : maxOffers);
  return { offers, leftOut: all.length - offers.length, problems };
}

/** The key that a node is offered first, as a person knows it and as `authorized_keys` has it. */
export interface FirstKey {
  /** Path or agent comment, type and fingerprint. */
  readonly label: string;
  /** Type and base64. */
  readonly line: string;
}

/** The key that would be offered to a node first; undefined when there is none. */
export async function firstKey(target: Target): Promise<FirstKey | undefined> {
  const [first] = (await collectIdentities(target)).offers;
  return first && { label: first.label, line: `${first.key.type} ${blobOf(first.key)}` };
}

/** The lines for `authorized_keys` of the keys that would be offered to a node, best first. */
export async function authorizedKeysLines(target: Target): Promise<readonly string[]> {
  const { offers } = await collectIdentities(target);
  return offers.map(({ key }) => {
    const comment = /^[\x20-\x7e]+$/u.test(key.comment) ? ` ${key.comment}` : '';
    return `${key.type} ${blobOf(key)}${comment}`;
  });
}
