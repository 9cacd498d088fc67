import { linkAddresses, linkText } from '../../../desired/addresses.ts';
import { diagnose } from '../../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';
import { escapeText } from '../../../diagnostics/escape.ts';
import {
  type ClassifiedLine,
  type FailingRank,
  type RankSaid,
  rankWords,
  tellingLines,
} from '../../../drivers/classify-log.ts';
import type { DesiredFleet, DesiredPlacement } from '../../../model/desired.ts';
import { exitCause } from '../../../model/facts/daemons.ts';
import type { NodeName } from '../../../model/node.ts';
import { placementSubject } from '../../../model/subject.ts';
import { meshwright } from '../../../model/text/command.ts';
import { named, prose, upperFirst } from '../../../model/text/prose.ts';

const shownLines = 6;
const shownCharacters = 200;

/**
 * Reports which rank failed first, what it logged and what that means, or that no rank gives a reason. Text from nodes
 * is escaped and truncated.
 * @param all the log and exit of every rank
 * @param desired maps the address of a cable end to its Mac
 */
export function failingRankFinding(
  { name }: Pick<DesiredPlacement, 'name'>,
  failing: FailingRank | undefined,
  all: readonly RankSaid[],
  desired: DesiredFleet,
): Diagnostic {
  const subject = placementSubject(name);
  if (failing === undefined) {
    const peer = namedPeer(desired, all);
    if (peer !== undefined) return peerFinding(name, peer);
    const silent = all.filter(({ lines }) => lines.length === 0).map(({ node }) => node);
    const words = silent.length === 0 ? '' : ` Empty logs: ${silent.join(', ')}.`;
    const last = all.find(({ lines }) => lines.length > 0);
    const telling =
      last === undefined ? '' : ` The most telling lines of ${rankWords(last)}:${quoted(tellingLines(last.lines))}`;
    const detail = `No rank exited or logged a known error.${words}${telling}`;
    return diagnose('mesh/no-failing-rank', {
      subject,
      detail,
      hint: prose`Read the logs: ${meshwright('logs', name)}`,
    });
  }
  const { said, failure } = failing;
  const lines = failure === undefined ? tellingLines(said.lines) : around(said.lines, failure);
  const logged = lines.length === 0 ? ' It logged nothing.' : ` It logged:${quoted(lines)}`;
  const meaning = failure === undefined ? '' : ` ${failure.signature.meaning}`;
  const hint =
    failure?.signature.cure ?? exitCause(said.exit)?.cure ?? prose`Read more of its log: ${meshwright('logs', name)}`;
  return diagnose('mesh/first-failing-rank', {
    subject,
    detail: `${upper(rankWords(said))}.${meaning}${logged}`,
    hint,
  });
}

const quoted = (lines: readonly string[]): string =>
  lines.map((line) => `\n${escapeText(line.slice(0, shownCharacters))}`).join('');

function peerFinding(name: string, { said, line, address, node, link }: NamedPeer): Diagnostic {
  return diagnose('mesh/peer-named', {
    subject: placementSubject(name),
    detail: prose`${upper(rankWords(said))} mentions ${address}, the address of ${named(node)} on cable ${link}. It logged:${quoted([line])}`,
  });
}

const around = (lines: readonly string[], { index, line }: ClassifiedLine): readonly string[] =>
  lines.with(index, line).slice(Math.max(0, index - shownLines / 2), index + shownLines / 2);

const upper = (text: string): string => escapeText(upperFirst(text));

interface NamedPeer {
  readonly said: RankSaid;
  readonly line: string;
  readonly address: string;
  readonly node: NodeName;
  /** `studio-1:2 <-> studio-2:2`. */
  readonly link: string;
}

/** Words in any program's errors: a line without them may report a successful connection. */
const complaint = /\bno (?:way|route)\b|fail|error|errno|refused|unreachable|timed? ?out|cannot|can't|not answer/i;

/** An IPv4 address that is not part of a longer number sequence. */
const addresses = /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.]*\d)/g;

/** The last error of the lowest rank that mentions another Mac by its cable address, if there is one. */
function namedPeer({ thunderbolt }: DesiredFleet, ranks: readonly RankSaid[]): NamedPeer | undefined {
  const ends = linkAddresses(thunderbolt);
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
