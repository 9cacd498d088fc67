import { diagnose } from '../../diagnostics/diagnose.ts';
import { isOutsideAccept, macosOf, versionText } from '../macos.ts';
import type { Rule } from '../rule.ts';
import { nodeSubject } from '../subject.ts';

/** macOS versions outside `macos.accept`. */
export const macosAccept: Rule = (examination) => {
  const { accept, version: wish } = examination.desired.macos;
  return examination.nodes.flatMap((node) => {
    const macos = macosOf(node);
    if (macos === undefined || !isOutsideAccept(examination, node)) {
      return [];
    }
    const target = wish === undefined ? 'a version in that range' : wish;
    return [
      diagnose('macos/outside-accept', {
        subject: nodeSubject(node.name),
        detail: `macOS ${versionText(macos)} is outside of what the file accepts (${accept ?? ''}).`,
        hint: `Bring macOS on ${node.name} to ${target} (System Settings > General > Software Update), or widen macos.accept.`,
      }),
    ];
  });
};
