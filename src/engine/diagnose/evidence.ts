import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { type LinkEnd, linkEndText, type NodeName } from '../../model/node.ts';
import type { Word } from '../../model/probe.ts';
import { subjectEnds, subjectNodes } from '../../model/subject.ts';
import { aside, meshwright } from '../../model/text/command.ts';
import type { Prose } from '../../model/text/prose.ts';
import { thunderboltFact } from '../../rack/cables/fact.ts';
import type { Examination, ExaminedNode } from '../../rack/examination.ts';
import { factNamed, readValue } from '../../rack/fact.ts';
import { farEndOf, lostPorts, type ReceptacleRdma, receptacleRdma } from '../../rack/rdma/rdma-receptacle.ts';
import { type FactName, isFactName, registry } from '../observe/facts.ts';
import { isOptionalFact } from './optional-facts.ts';
import { ruleCode } from './rules.ts';

/** One fact of one node that made the doctor say what it says. */
export interface Evidence {
  readonly node: NodeName;
  readonly fact: FactName;
  /** The command line on the node that said so: `rdma_ctl status`. */
  readonly source: Prose;
  /** The receptacles that it is about; empty where the fact is one of the whole node. */
  readonly receptacles: readonly number[];
}

/** The facts behind codes that no rule finds: those of placements and endpoints. */
const factsByArea: Readonly<Record<string, readonly FactName[]>> = {
  endpoint: ['files', 'services', 'doormen'],
  mesh: ['placements', 'services'],
};

/** Where such a code rests on other facts than its area. */
const factsByCode: Readonly<Record<string, readonly FactName[]>> = {
  'rdma/suspected-idle-dead': ['rdma-state', 'thunderbolt', 'interfaces', 'rdma-ports', 'rdma-starts'],
  'address/suspected-no-answer': ['thunderbolt', 'interfaces'],
  'mesh/needs-reboot': ['reboot-mark'],
  'mesh/suspected-local-network': ['thunderbolt', 'interfaces', 'rdma-ports', 'rdma-starts'],
  'rdma/suspected-exhausted': ['rdma-state', 'rdma-ports', 'rdma-starts', 'rdma-objects'],
};

const factsOf = (code: string): readonly FactName[] =>
  ruleCode(code)
    ?.facts.map(({ name }) => name)
    .filter(isFactName) ??
  factsByCode[code] ??
  factsByArea[code.slice(0, code.indexOf('/'))] ??
  [];

const wordText = (word: Word): string =>
  typeof word === 'string' ? word : word.path.slice(word.path.lastIndexOf('/') + 1);

/** The command line that a fact is read from; of a script of ours the verb that shows what it said. */
function sourceOf(fact: FactName): Prose {
  const { from, source } = registry[fact];
  if (source !== undefined) return source;
  const [probe] = from;
  const [program = '', ...words] = (probe?.ask ?? []).map(wordText);
  return program === 'sh' || program === ''
    ? [aside(meshwright('facts', '--fact', fact))]
    : [program, ...words].join(' ');
}

/** The ends at this node that the subject of a finding names, as far as the node has them. */
function namedEnds({ subject }: Diagnostic, node: ExaminedNode): readonly LinkEnd[] {
  const named = subjectEnds(subject).map(linkEndText);
  const receptacles = readValue(node.facts, thunderboltFact) ?? [];
  return receptacles
    .map(({ receptacle }): LinkEnd => ({ node: node.name, receptacle }))
    .filter((end) => named.includes(linkEndText(end)));
}

/** The ends of a node that a finding is about: those that it names, or those that stand on its rung of the ladder. */
function endsOf(examination: Examination, finding: Diagnostic, node: ExaminedNode): readonly LinkEnd[] {
  const named = namedEnds(finding, node);
  if (named.length > 0) return named;
  const isOnRung = ({ kind }: ReceptacleRdma): boolean => finding.code === `rdma/${kind}`;
  const onRung = node.ends.filter((end) => isOnRung(receptacleRdma(examination, node, end)));
  return onRung.length > 0 ? onRung : node.ends;
}

const ofPlaces: readonly FactName[] = ['thunderbolt', 'interfaces', 'rdma-ports', 'rdma-devices'];

const evidence = (node: NodeName, fact: FactName, ends: readonly LinkEnd[]): Evidence => ({
  node,
  fact,
  source: sourceOf(fact),
  receptacles: ofPlaces.includes(fact) ? ends.map(({ receptacle }) => receptacle) : [],
});

/** The neighbours that see for themselves that RDMA is off here: an enabled Mac advertises it over the cable. */
function seenNextDoor(examination: Examination, node: ExaminedNode): readonly Evidence[] {
  return node.ends.flatMap((end) => {
    const far = farEndOf(examination, end);
    const next = examination.nodes.find(({ name }) => name === far?.node);
    if (far === undefined) return [];
    const receptacle = readValue(next?.facts, thunderboltFact)?.find((one) => one.receptacle === far.receptacle);
    const isSilent = receptacle?.peers.some(({ advertisesRdma }) => advertisesRdma === false) === true;
    return isSilent ? [evidence(far.node, 'thunderbolt', [far])] : [];
  });
}

function unknownFacts(node: ExaminedNode): readonly Evidence[] {
  const names = Object.keys(node.facts).filter((key): key is FactName => key in node.facts);
  return names
    .toSorted()
    .filter((name) => factNamed(node.facts, name).kind === 'unknown' && !isOptionalFact(name, node.facts))
    .map((name) => evidence(node.name, name, []));
}

/** Which facts of which nodes say so, in the order of the nodes; none for a node that nobody could observe. */
export function evidenceFor(examination: Examination, finding: Diagnostic): readonly Evidence[] {
  const names = subjectNodes(finding.subject);
  const nodes = examination.nodes.filter(({ name }) => names.includes(name));
  if (finding.code === 'fact/unknown') return nodes.flatMap(unknownFacts);
  const own = nodes.flatMap((node) => {
    const ends = endsOf(examination, finding, node);
    return factsOf(finding.code).map((fact) => evidence(node.name, fact, ends));
  });
  if (finding.code === 'rdma/disabled') return [...own, ...nodes.flatMap((node) => seenNextDoor(examination, node))];
  if (finding.code !== 'rdma/port-down') return own;
  const far = nodes
    .flatMap((node) => lostPorts(examination, node))
    .map((lost) => evidence(lost.far.node, 'rdma-state', []));
  // Of two cables between the same Macs one counts, so no Mac comes twice.
  return [...own, ...far];
}
