import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { HostKey } from '../../model/cluster-lock.ts';
import { meshwright } from '../../model/text/command.ts';
import { joinProse, named, type Prose, prose } from '../../model/text/prose.ts';
import type { Target } from '../remote.ts';
import { fingerprint } from './host-key.ts';
import type { HostKeyVerdict, KnownKey } from './host-key-trust.ts';

const keyFile = (key: HostKey): string => {
  const kind = key.type.replace(/^(?:sk-)?(?:ssh-)?/u, '').split(/[-@]/u)[0] ?? '';
  return `ssh_host_${kind}_key.pub`;
};

const shown = (key: HostKey): string => `${fingerprint(key)} (${key.type})`;

/** Lines that begin with two blanks are for copying and stay whole. */
const compareThen = (target: Target, seen: HostKey, ...more: readonly string[]): Prose =>
  prose`Compare on the Mac itself:\n  ssh-keygen -lf /etc/ssh/${keyFile(seen)}\nIf they agree:\n  ${meshwright('enroll', target.label, ...more)}`;

const place = (known: KnownKey): string => `${known.file}:${known.line}`;

/** An address that is in no file can only be unlocked by hand. */
function unlockHint({ label, host, port, user }: Target): Prose {
  const words: readonly Prose[] =
    label === host
      ? [
          'Unlock it at the Mac, or here with the password of a local account:',
          `  ssh ${port === 22 ? '' : `-p ${port} `}${user}@${host}`,
          'then run this again.',
        ]
      : [
          'Unlock it with the password of its account; it is asked for unless cluster.yaml names its source:',
          prose`  ${meshwright('unlock', label)}`,
          'or type it at the Mac. Then run this again.',
        ];
  return joinProse(words, '\n');
}

/** A Mac that is up and waits for its password. */
export function lockedAtFileVault(target: Target, why: string): Diagnostic {
  return diagnose('ssh/locked-at-filevault', {
    detail: prose`${named(target.host)} is up, but its disk is still locked; no password was sent.${why === '' ? '' : ` ${why}`}`,
    hint: unlockHint(target),
  });
}

function changed(target: Target, seen: HostKey, known: KnownKey): Diagnostic {
  // Two keys of one type are told apart by their fingerprints; the line then fits on every page.
  const told = (key: HostKey): string => (seen.type === known.type ? fingerprint(key) : shown(key));
  return diagnose('ssh/host-key-changed', {
    detail: prose`The host key of ${named(target.host)} is not the one in ${place(known)}.\n${[
      `  known  ${told(known)}`,
      `  seen   ${told(seen)}`,
      'Either the Mac was reinstalled, or it waits at FileVault for its password, or something stands between.',
    ].join('\n')}`,
    // Only a node of the file has a place that another Mac can take.
    hint:
      target.label === target.host
        ? compareThen(target, seen, '--replace')
        : prose`${compareThen(target, seen, '--replace')}\nIf another Mac stands there now:\n  ${meshwright('replace', target.label)}`,
  });
}

/** Says what is wrong with the host key of a node: both fingerprints, the line that knows the old one, what to type. */
export function diagnoseHostKey(target: Target, verdict: Exclude<HostKeyVerdict, { kind: 'accepted' }>): Diagnostic {
  switch (verdict.kind) {
    case 'unreadable':
      return diagnose('ssh/host-key-unknown', {
        detail: prose`${named(target.host)} showed a host key that cannot be read.`,
        hint: prose`Look at the key on the Mac itself, then: ${meshwright('enroll', target.label)}`,
      });
    case 'unknown':
      return diagnose('ssh/host-key-unknown', {
        detail: prose`${named(target.host)} shows ${shown(verdict.seen)}; neither cluster.lock nor known_hosts has a key for it.`,
        hint: compareThen(target, verdict.seen),
      });
    case 'preboot':
      return lockedAtFileVault(target, '');
    case 'changed':
      return changed(target, verdict.seen, verdict.known);
    case 'revoked':
      return diagnose('ssh/host-key-revoked', {
        detail: prose`${named(target.host)} shows ${shown(verdict.seen)}, which ${place(verdict.known)} revokes.`,
      });
    case 'certificate-authority':
      return diagnose('ssh/certificate-authority', {
        detail: prose`${place(verdict.known)} trusts ${named(target.host)} through a certificate authority; the key it shows, ${shown(verdict.seen)}, is not known by itself.`,
        hint: prose`Only the system's ssh reads host certificates. Pin the plain key instead: ${meshwright('enroll', target.label)}`,
      });
  }
}
