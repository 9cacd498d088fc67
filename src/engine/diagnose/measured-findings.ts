import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { withCommands } from '../../diagnostics/prose-text.ts';
import { given } from '../../model/given.ts';
import {
  carriedSince,
  commonMacs,
  measuredLinks,
  measurementOf,
  type NewestMeasurement,
  type TransportResult,
} from '../../model/measured-cable.ts';
import type { Link, NodeName } from '../../model/node.ts';
import { linkSubject } from '../../model/subject.ts';
import { aside, meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import { latencyText, rateText } from '../../model/text/units.ts';

/** The problems of declared links in their newest measurements. `bootedAt` is in milliseconds; undefined if unknown. */
export function measuredFindings(
  links: readonly Link[],
  measured: readonly NewestMeasurement[],
  bootedAt: (node: NodeName) => number | undefined = () => undefined,
): readonly Diagnostic[] {
  const carried = measuredLinks(links, measured);
  const carriedNow = ({ index, ends }: Link) =>
    carriedSince(
      carried[index],
      ends.map(({ node }) => bootedAt(node) ?? 0),
    );
  const silent = links.filter((link) => ['tcp', 'nothing'].includes(carriedNow(link) ?? ''));
  return links.flatMap((link) => {
    const found = measurementOf(measured, link.ends);
    if (found === undefined) return [];
    if ((carriedNow(link) ?? 'unknown') !== 'unknown') return findingsOf(link.ends, found, silenceHint(link, silent));
    return findingsOf(link.ends, found).map((one) => ({
      ...one,
      severity: 'notice',
      detail: prose`${one.detail} A Mac at its end has restarted since then.`,
      hint: prose`When nothing runs on these Macs, measure it again: ${aside(measure)}`,
    }));
  });
}

const measure = meshwright('cables', '--measure');

/** If several links of one Mac carry nothing, the Mac is the cause; otherwise a port may be, which a restart revives. */
function silenceHint({ ends }: Link, silent: readonly Link[]): Prose {
  const common = commonMacs(silent);
  const isOne = silent.length > 1 && common.length === 1;
  const nodes = isOne ? common : ends.map(({ node }) => node).toSorted();
  const macs = isOne ? `the Mac at the end of all ${silent.length} such cables` : 'the Macs at both ends';
  const next = withCommands(`Restart ${macs}, then measure again`, [meshwright('reboot', ...nodes), measure]);
  return prose`${next}\nIf it still carries nothing then, stop what uses the cable, and replug or replace it.`;
}

/** The findings of a measurement; `hint` is for a cable that carries no RDMA. */
function findingsOf(ends: Link['ends'], { at, cable }: NewestMeasurement, hint?: Prose): readonly Diagnostic[] {
  const { verdict, rdma, tcp, rdmaFailure = '' } = cable;
  const subject = linkSubject(ends);
  const silent = { subject, ...given({ hint }) };
  const day = `Measured on ${at.slice(0, 10)}.`;
  const why = `RDMA: ${escapeText(rdmaFailure)}.`;
  const wrong = (rdma?.wrong ?? 0) + (tcp?.wrong ?? 0);
  return [
    ...(verdict === 'dead'
      ? [diagnose('cables/measured-dead', { ...silent, detail: `Neither RDMA nor TCP gets through. ${why} ${day}` })]
      : []),
    ...(verdict === 'tcp-only' && tcp !== undefined
      ? [
          diagnose('cables/measured-tcp-only', {
            ...silent,
            detail: `Only TCP gets through, with ${figures(tcp)}. ${why} ${day}`,
          }),
        ]
      : []),
    ...(verdict === 'slow' && rdma !== undefined
      ? [diagnose('cables/measured-slow', { subject, detail: `RDMA is slow, with ${figures(rdma)}. ${day}` })]
      : []),
    ...(wrong > 0
      ? [diagnose('cables/measured-wrong', { subject, detail: `${wrong} messages arrived with wrong bytes. ${day}` })]
      : []),
  ];
}

const figures = ({ medianNs, bytesPerSecond }: TransportResult): string =>
  `${latencyText(medianNs)} and ${rateText(Math.min(...bytesPerSecond))}`;
