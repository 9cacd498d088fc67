import { diagnose } from '../../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';
import type { MacNames } from '../../../model/facts/mac-settings.ts';
import { nodeSubject } from '../../../model/subject.ts';
import { named, prose } from '../../../model/text/prose.ts';
import type { Rule } from '../../rule.ts';
import { isRenamed } from './renamed.ts';

const nameWords = {
  computerName: 'computer name',
  localHostName: 'Bonjour name',
  hostName: 'host name',
} as const satisfies Record<keyof MacNames, string>;

const shown = (name: string | undefined): string => (name === undefined ? 'not set' : `"${name}"`);

function judge(node: string, names: MacNames): readonly Diagnostic[] {
  const subject = nodeSubject(node);
  const renamed = isRenamed(node, names.localHostName);
  const other = (['computerName', 'localHostName', 'hostName'] as const).filter(
    (key) => names[key] !== node && !(renamed && key === 'localHostName'),
  );
  const differ = other.map((key) => `its ${nameWords[key]} is ${shown(names[key])}`);
  return [
    ...(differ.length === 0
      ? []
      : [diagnose('names/differ', { subject, detail: prose`Not "${named(node)}": ${differ.join('; ')}.` })]),
    ...(renamed
      ? [diagnose('names/renamed', { subject, detail: `Its Bonjour name is ${shown(names.localHostName)}.` })]
      : []),
  ];
}

/** Macs that are not called as their node, where the file wants that. */
export const names: Rule = ({ desired, nodes }) =>
  desired.system.computerName === 'node'
    ? nodes.flatMap(({ name, facts }) => (facts.names.kind === 'known' ? judge(name, facts.names.value) : []))
    : [];
