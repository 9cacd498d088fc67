import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { DesiredRuntime } from '../../model/desired.ts';
import { shortDigest } from '../../model/digest.ts';
import { runtimeSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import { isIntact, treeAddress, treeOf, treesOf } from '../records/trees.ts';
import type { Blocker, ObservedTarget, View } from '../resource.ts';
import { placementsOn, unreadBlocker } from './tree-steps.ts';

/** The runtimes that were taken back and that a node uses. */
function backOn({ desired }: View, target: ObservedTarget): readonly DesiredRuntime[] {
  const used = new Set(placementsOn(desired, target).map(({ runtime }) => runtime));
  return desired.runtimes.filter(({ name, takenBackFrom }) => takenBackFrom !== undefined && used.has(name));
}

/** Nodes without the older version of a runtime: nobody has its archive any more, so that apply cannot bring it. */
export const versionGone = (view: View): readonly Blocker[] =>
  view.targets.flatMap((target) =>
    backOn(view, target).flatMap((runtime): readonly Blocker[] => {
      const tree = treeOf('runtime', runtime.name, runtime.digest);
      const versions = treesOf(target, tree);
      if (versions.kind === 'unknown' || isIntact(versions.value, tree)) return [];
      const { name: node } = target.desired;
      return [
        {
          code: 'runtime/version-gone',
          node,
          resource: 'runtime',
          property: treeAddress('runtime', runtime.name),
          action: prose`${node} has no version ${shortDigest(tree.digest)} of ${runtime.name}. Take the newer one again: ${meshwright('rollback', runtime.name, '--undo')}`,
          isHands: false,
          peers: [],
          blocks: [],
        },
      ];
    }),
  );

/** Nodes that use a runtime whose archive could not be read, and whose version nobody knows. */
export const archiveUnread = ({ desired, targets }: View): readonly Blocker[] =>
  targets.flatMap((target) => {
    const used = new Set(placementsOn(desired, target).map(({ runtime }) => runtime));
    return desired.runtimes.flatMap(({ name, digest, unread }): readonly Blocker[] =>
      digest !== undefined || unread === undefined || !used.has(name)
        ? []
        : [
            unreadBlocker(
              { kind: 'runtime', name, node: target.desired.name, code: `runtime/archive-${unread.kind}` },
              unread,
            ),
          ],
    );
  });

/** An older meshwright did not keep them. */
const unknownKeys =
  ' The lock does not have the keys that this version was started with (`program`, `version`, `command` and others): those of the file are used.';

/** Runtimes that are not what their archive says, since somebody has taken them back. */
export const takenBackNotices = ({ desired }: View): readonly Diagnostic[] =>
  desired.runtimes.flatMap(({ name, digest, takenBackFrom, hasFileKeys }) =>
    digest === undefined || takenBackFrom === undefined
      ? []
      : [
          diagnose('runtime/taken-back', {
            subject: runtimeSubject(name),
            detail: prose`${named(name)} was taken back to version ${shortDigest(digest)}; its archive is version ${shortDigest(takenBackFrom)}.${hasFileKeys === true ? unknownKeys : ''}`,
            hint: prose`Take the newer one again: ${meshwright('rollback', name, '--undo')}. Or bring another archive.`,
          }),
        ],
  );
