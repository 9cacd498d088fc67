import { linkAddresses } from '../../desired/addresses.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import type { Exchange } from '../../engine/scripts/exchange.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { everyNodeText, type NodeName } from '../../model/node.ts';
import { linkSubject, nodeSubject, nodesSubject, type Subject } from '../../model/subject.ts';
import { named, prose } from '../../model/text/prose.ts';
import { diskText } from '../../model/text/units.ts';

type DeclaredCables = Pick<DesiredFleet['thunderbolt'], 'links' | 'networks'>;
type Cable = Exchange['cables'][number];
type Drop = Exchange['drops'][number];

/** The rate of a cable that was used for less time says little. Requests at the same time count each. */
const leastMs = 10_000;

const rateOf = ({ bytes, ms }: Cable): number => (1_000 * bytes) / ms;

/** The rate that at least half of these cables reached. */
const usualRate = (cables: readonly Cable[]): number | undefined =>
  cables.map(rateOf).toSorted((a, b) => b - a)[Math.floor((cables.length - 1) / 2)];

/** The cable to an address, or both Macs if the file has no such cable any more. */
function cableTo(self: NodeName, far: Pick<Cable, 'node' | 'address'>, cabling: DeclaredCables): Subject {
  const link = linkAddresses(cabling).find(({ address }) => address === far.address)?.link;
  return link === undefined ? nodesSubject([self, far.node]) : linkSubject(link.ends);
}

/** What is worth knowing about a model that a Mac got from other Macs, although the model is complete in the end. */
export function exchangeFindings(self: NodeName, exchange: Exchange, cabling: DeclaredCables): readonly Diagnostic[] {
  const { cables, drops, perl, refusals = [] } = exchange;
  return [
    ...noPerl(self, perl),
    ...noSsh(self, refusals),
    ...repairs(self, exchange),
    ...wrongBytes(self, drops, cabling),
    ...slowCables(self, cables, cabling),
  ];
}

function repairs(self: NodeName, { cables, repairedFiles: files }: Exchange): readonly Diagnostic[] {
  if (files === undefined) return [];
  const bytes = cables.reduce((sum, cable) => sum + cable.bytes, 0);
  const names = [...new Set(cables.map(({ node }) => node))];
  const from = names.length === 0 ? '' : ` from ${everyNodeText(names.toSorted())}`;
  const way = cables.some(({ address }) => address === '-') ? 'over Ethernet' : 'over the cables';
  const detail = prose`${named(self)} repaired ${files === 1 ? '1 file' : `${files} files`} of a model: ${diskText(bytes)} came ${way}${from}.`;
  return [diagnose('step/repaired-model', { subject: nodeSubject(self), detail })];
}

function noPerl(self: NodeName, error: string | undefined): readonly Diagnostic[] {
  if (error === undefined) return [];
  const why = error.trim() === '' ? 'it failed without a message' : escapeText(error.trim());
  const detail = prose`${named(self)} exchanged no model with other Macs, because /usr/bin/perl does not work there: ${why}.`;
  return [diagnose('step/no-perl', { subject: nodesSubject([self]), detail })];
}

/** Two cables to the same Mac are one reason. */
function noSsh(self: NodeName, refusals: NonNullable<Exchange['refusals']>): readonly Diagnostic[] {
  return [...new Map(refusals.map((one) => [one.node, one])).values()].map(({ node, why }) =>
    diagnose('step/no-ssh-to-mac', {
      subject: nodesSubject([self, node]),
      detail: prose`${named(self)} could not get a model from ${named(node)} over SSH: ${escapeText(why.replace(/\.$/u, ''))}.`,
    }),
  );
}

function wrongBytes(self: NodeName, drops: Exchange['drops'], cabling: DeclaredCables): readonly Diagnostic[] {
  const isSame = (one: Drop, other: Drop): boolean => one.address === other.address && one.node === other.node;
  const first = drops.filter((one, at) => drops.findIndex((other) => isSame(one, other)) === at);
  return first.map((far) => {
    const count = drops.filter((one) => isSame(one, far)).length;
    const chunks = count === 1 ? 'one chunk' : `${count} chunks`;
    return diagnose('step/wrong-bytes', {
      subject: cableTo(self, far, cabling),
      detail: prose`${named(self)} got ${chunks} of a model with wrong bytes from ${named(far.node)}, and fetched ${count === 1 ? 'it' : 'them'} again.`,
    });
  });
}

function slowCables(self: NodeName, cables: readonly Cable[], cabling: DeclaredCables): readonly Diagnostic[] {
  const measured = cables.filter(({ ms, address }) => ms >= leastMs && address !== '-');
  return measured.flatMap((cable): readonly Diagnostic[] => {
    const usual = usualRate(measured.filter((other) => other !== cable));
    const rate = rateOf(cable);
    if (usual === undefined || 2 * rate >= usual) return [];
    const percent = Math.floor((100 * rate) / usual);
    const detail = prose`${named(self)} got ${diskText(cable.bytes)} of a model from ${named(cable.node)} at ${percent} % of the rate of its other cables.`;
    return [diagnose('step/slow-cable', { subject: cableTo(self, cable, cabling), detail })];
  });
}
