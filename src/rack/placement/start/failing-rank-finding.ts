import { endAddresses, linkText } from '../../../desired/addresses.ts';
import { diagnose } from '../../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';
import { escapeText } from '../../../diagnostics/escape.ts';
import { type FailingRank, type RankSaid, rankWords } from '../../../drivers/classify-log.ts';
import type { DesiredFleet, DesiredPlacement } from '../../../model/desired.ts';
import type { NodeName } from '../../../model/node.ts';
import { placementSubject } from '../../../model/subject.ts';
import { meshwright } from '../../../model/text/command.ts';
import { named, prose } from '../../../model/text/prose.ts';

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

/** A rank that complains of an address which the file gave to another Mac on one of their cables. */
interface NamedPeer {
  readonly said: RankSaid;
  readonly line: string;
  readonly address: string;
  readonly node: NodeName;
  /** `studio-1:2 <-> studio-2:2`. */
  readonly link: string;
}

/** Words of a complaint in any program; a line without one may as well tell of a connection that was made. */
const complaint = /\bno (?:way|route)\b|fail|error|errno|refused|unreachable|timed? ?out|cannot|can't|not answer/i;

/** An address in a text, and no part of a longer one. */
const addresses = /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.]*\d)/g;

/** The last complaint of the lowest rank that names a Mac by its address on a cable; `undefined` where none does. */
function namedPeer({ thunderbolt }: DesiredFleet, ranks: readonly RankSaid[]): NamedPeer | undefined {
  const ends = thunderbolt.links.flatMap((link) => {
    const network = thunderbolt.networks[link.index];
    return network === undefined ? [] : endAddresses(link.ends, network).map((end) => ({ ...end, link }));
  });
  for (const said of ranks) {
    for (const line of said.lines.toReversed()) {
      const found = complaint.test(line)
        ? ends.find(({ end, address }) => end.node !== said.node && line.match(addresses)?.includes(address) === true)
        : undefined;
      if (found !== undefined) {
        return { said, line, address: found.address, node: found.end.node, link: linkText(found.link.ends) };
      }
    }
  }
  return undefined;
}
