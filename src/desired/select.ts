import { diagnose } from '../diagnostics/diagnose.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { DesiredFleet, DesiredNode } from '../model/desired.ts';
import { listText } from '../model/lists.ts';
import { nodeSubject } from '../model/subject.ts';
import { named, prose } from '../model/text/prose.ts';
import { didYouMean } from './did-you-mean.ts';

/** Selects nodes. Without names and labels, every node is selected; with both, the named nodes that match. */
export interface NodeSelector {
  readonly names: readonly string[];
  /** Each is `key=value` or `key!=value`, or several of these separated by commas. A node must match all of them. */
  readonly labels: readonly string[];
}

/**
 * Selects nodes by name and label. An unknown name, an invalid selector or an empty selection is an error.
 * @returns the selected nodes in fleet order, or the reasons why none can be selected
 */
export function selectNodes(fleet: Pick<DesiredFleet, 'nodes'>, selector: NodeSelector) {
  const terms = selector.labels.flatMap((text) => text.split(',')).map(parseTerm);
  const problems = [...unknownNames(fleet.nodes, selector.names), ...terms.flatMap((term) => term.problem ?? [])];
  if (problems.length > 0) return { nodes: [], diagnostics: problems };
  const names = new Set(selector.names);
  const nodes = fleet.nodes.filter(
    (node) => (names.size === 0 || names.has(node.name)) && terms.every((term) => holds(node, term)),
  );
  return { nodes, diagnostics: nodes.length > 0 ? [] : [nothingSelected(fleet.nodes, selector)] };
}

interface Term {
  readonly key: string;
  readonly value: string;
  readonly isWanted: boolean;
  readonly problem?: Diagnostic;
}

function parseTerm(text: string): Term {
  const match = /^([a-z0-9-]+)(!?=)([A-Za-z0-9_.-]+)$/.exec(text.trim());
  if (match !== null) return { key: match[1] ?? '', value: match[3] ?? '', isWanted: match[2] === '=' };
  const detail = `\`${text}\` is neither key=value nor key!=value.`;
  return { key: '', value: '', isWanted: true, problem: diagnose('select/bad-label', { detail }) };
}

function holds(node: DesiredNode, term: Term): boolean {
  const value = Object.hasOwn(node.labels, term.key) ? node.labels[term.key] : undefined;
  return (value === term.value) === term.isWanted;
}

function unknownNames(nodes: readonly DesiredNode[], names: readonly string[]): readonly Diagnostic[] {
  const known = nodes.map((node) => node.name as string);
  return [...new Set(names)].flatMap((name) => {
    if (known.includes(name)) return [];
    const near = didYouMean(name, known);
    const hint = near === undefined ? `The nodes are ${listText(known)}.` : `Did you mean \`${near}\`?`;
    return [
      diagnose('select/unknown-node', {
        detail: prose`The file has no node \`${named(name)}\`.`,
        hint,
        subject: nodeSubject(name),
      }),
    ];
  });
}

function nothingSelected(nodes: readonly DesiredNode[], selector: NodeSelector): Diagnostic {
  const all = new Set(nodes.flatMap((node) => Object.entries(node.labels).map(([key, value]) => `${key}=${value}`)));
  const known = [...all].sort();
  const asked = selector.labels.join(',');
  const near = didYouMean(asked, known);
  const among = selector.names.length === 0 ? '' : ` among ${listText(selector.names)}`;
  const list = known.length === 0 ? 'No node in the file has a label.' : `The labels are ${listText(known)}.`;
  return diagnose('select/nothing', {
    detail: `No node${among} matches ${asked}.`,
    hint: near === undefined || near === asked ? list : `Did you mean ${near}? ${list}`,
  });
}
