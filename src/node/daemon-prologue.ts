import type { NodePath } from '../model/probe.ts';

/**
 * The first lines of a daemon of ours that launchd starts by its path: `R` follows from where the program lies, so that
 * its text is the same on every node; the tools are macOS's own, and a lost terminal or reader does not end it.
 */
export const daemonPrologue = (program: NodePath): string => `R=\${0%${'/*'.repeat(program.path.split('/').length - 1)}}
export R LC_ALL=C
PATH=$R/usr/bin:$R/bin:$R/usr/sbin:$R/sbin
export PATH
umask 022
trap '' HUP PIPE`;
