import { diagnose } from '../../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';
import { escapeText } from '../../../diagnostics/escape.ts';
import { type FailingRank, type RankSaid, rankWords } from '../../../drivers/classify-log.ts';
import type { DesiredFleet, DesiredPlacement } from '../../../model/desired.ts';
import { placementSubject } from '../../../model/subject.ts';
import { meshwright } from '../../../model/text/command.ts';
import { named, prose } from '../../../model/text/prose.ts';
import { type NamedPeer, namedPeer } from './named-peer.ts';

/** How much of a log is told. */
const toldLines = 6;
const toldCharacters = 200;

/**
 * Which rank of a placement failed first, what it said and what that means; or that none says why. Text of nodes in it is
 * escaped and bounded.
 *
 * @param all what is known of every rank
 * @param desired gives the Mac behind an address of a cable
 */
export function failingRankFinding(
  { name, nodes }: Pick<DesiredPlacement, 'name' | 'nodes'>,
  failing: FailingRank | undefined,
  all: readonly RankSaid[],
  desired: DesiredFleet,
): Diagnostic {
  const subject = placementSubject(name);
  if (failing === undefined) {
    const peer = namedPeer(desired, all);
    if (peer !== undefined) return peerFinding(name, peer);
    const silent = all.filter(({ lines }) => lines.length === 0).map(({ node }) => node);
    const words = silent.length === 0 ? '' : ` Nothing was said on ${silent.join(', ')}.`;
    const detail = `No rank of ${nodes.length} has ended or said what is wrong.${words}`;
    return diagnose('mesh/no-failing-rank', {
      subject,
      detail,
      hint: prose`See what they said: ${meshwright('logs', name)}`,
    });
  }
  const { said, failure } = failing;
  const lines = failure === undefined ? said.lines.slice(-toldLines) : around(said.lines, failure.index);
  const shown = lines.map((line) => escapeText(line.slice(0, toldCharacters)));
  const quoted = shown.length === 0 ? ' It said nothing.' : ` It said:\n${shown.join('\n')}`;
  const meaning = failure === undefined ? '' : ` ${failure.signature.meaning}`;
  const hint = failure?.signature.cure ?? prose`See all that it said: ${meshwright('logs', name)}`;
  return diagnose('mesh/first-failing-rank', {
    subject,
    detail: `${upper(rankWords(said))}.${meaning}${quoted}`,
    hint,
  });
}

function peerFinding(name: string, { said, line, address, node, link }: NamedPeer): Diagnostic {
  const quoted = escapeText(line.slice(0, toldCharacters));
  return diagnose('mesh/peer-named', {
    subject: placementSubject(name),
    detail: prose`${upper(rankWords(said))} names ${address}, which is ${named(node)} on the cable ${link}. It said:\n${quoted}`,
  });
}

/** The line that tells why, with what stands before and behind it. */
const around = (lines: readonly string[], index: number): readonly string[] =>
  lines.slice(Math.max(0, index - toldLines / 2), index + toldLines / 2);

const upper = (text: string): string => escapeText(`${text.slice(0, 1).toUpperCase()}${text.slice(1)}`);
