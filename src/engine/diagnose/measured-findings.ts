import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { type KeptMeasurement, measurementOf, type TransportResult } from '../../model/measured-cable.ts';
import type { Link } from '../../model/node.ts';
import { linkSubject } from '../../model/subject.ts';
import { latencyText, rateText } from '../../model/text/units.ts';

/** The problems of declared links in their newest measurements. */
export const measuredFindings = (
  links: readonly Pick<Link, 'ends'>[],
  kept: readonly KeptMeasurement[],
): readonly Diagnostic[] =>
  links.flatMap(({ ends }) => {
    const found = measurementOf(kept, ends);
    return found === undefined ? [] : findingsOf(ends, found);
  });

function findingsOf(ends: Link['ends'], { at, cable }: KeptMeasurement): readonly Diagnostic[] {
  const { verdict, rdma, tcp, rdmaFailure = '' } = cable;
  const subject = linkSubject(ends);
  const day = `Measured on ${at.slice(0, 10)}.`;
  const why = `RDMA: ${escapeText(rdmaFailure)}.`;
  const wrong = (rdma?.wrong ?? 0) + (tcp?.wrong ?? 0);
  return [
    ...(verdict === 'dead'
      ? [diagnose('cables/measured-dead', { subject, detail: `Neither RDMA nor TCP gets through. ${why} ${day}` })]
      : []),
    ...(verdict === 'tcp-only' && tcp !== undefined
      ? [
          diagnose('cables/measured-tcp-only', {
            subject,
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
