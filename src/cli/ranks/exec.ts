import { type CommandOutcome, runCommand } from '../../apply/reach/session.ts';
import { selectNodes } from '../../desired/select.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeLines, jsonText } from '../../diagnostics/escape.ts';
import { documentHead } from '../../diagnostics/json.ts';
import type { Reader } from '../../diagnostics/prose-text.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { ExecDocument } from '../../model/documents.generated.ts';
import { exitText, isSuccess } from '../../model/probe.ts';
import { meshwright, withTail } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { quote } from '../../node/quote.ts';
import { gatherAlike } from '../../report/findings.ts';
import { openCluster } from '../cluster/open-cluster.ts';
import { openTargets } from '../cluster/ssh-targets.ts';
import { namedNodes } from '../cluster/targets.ts';
import { codeForNodes, type NodeVerdict, verdictOf } from '../exit-codes.ts';
import { outcomeDiagnostics } from '../look/observe-fleet.ts';
import {
  type Console,
  diagnosticsJson,
  outputWritten,
  showDiagnostics,
  showJsonText,
  withProgress,
} from '../terminal/console.ts';
import { useLimits } from '../use-limits.ts';
import { type Run, shownWord, usageError, type VerbBody } from '../verb.ts';

/** `exec NODE… -- COMMAND…`: runs one command on nodes. Arguments are unchanged; output starts with the node's name. */
export const exec: VerbBody = async (run) => {
  const cluster = openCluster(run);
  const command = wantedCommand(run, cluster.fleet);
  const nodes = namedNodes(run, cluster.fleet);
  const ways = openTargets(run, cluster);
  const requests = await ways.toAll(nodes);
  const maxBytes = maxBytesPerNode(nodes.length);
  const options = { ...useLimits(run), parallel: run.options.parallel, maxBytes };
  const outcomes = await withProgress(run.console, ['running', nodes], (done) =>
    runCommand(requests, command, { ...options, onOutcome: ({ node }) => done(node) }),
  );
  const show = run.options.json ? showOutcomesJson : showOutcomes;
  await show(run.console, outcomes, maxBytes);
  return codeForNodes(outcomes.map(commandVerdict));
};

/** The arguments after `--` as one command line. @throws FleetError `cli/usage` with the corrected command line */
function wantedCommand(run: Run, fleet: DesiredFleet): string {
  if (run.tail !== undefined && run.tail.length > 0) return run.tail.map(quote).join(' ');
  const isNode = (word: string): boolean => selectNodes(fleet, { names: [word], labels: [] }).nodes.length > 0;
  const first = run.words.findIndex((word) => !isNode(word));
  const targets = run.words.slice(0, Math.max(first, 0)).join(' ') || '--all';
  const command = first < 0 ? 'sw_vers' : run.words.slice(first).map(shownWord).join(' ');
  throw usageError(
    'The command is missing.',
    prose`Enter it after two hyphens:\n  ${withTail(meshwright('exec', targets), command)}`,
  );
}

function commandVerdict(outcome: CommandOutcome): NodeVerdict {
  if (outcome.kind === 'unreached') return verdictOf(outcome.diagnostics);
  return isSuccess(outcome.result.exit) && !outcome.result.isTruncated ? 'fine' : 'wrong';
}

const mebibyte = 1024 * 1024;

/** The output limit of one node: 16 MiB, or less if all nodes together would exceed 128 MiB. */
export const maxBytesPerNode = (nodes: number): number =>
  Math.max(mebibyte, Math.min(16 * mebibyte, Math.floor((128 * mebibyte) / Math.max(1, nodes))));

/** The maximum number of lines. Each also prints its node's name, so short lines grow up to twentyfold. */
const maxLines = 100_000;
/** Output is written in chunks of this size, so that the reader can catch up between them. */
const chunkChars = 64 * 1024;

const decoder = new TextDecoder();

/** Shows every node's output line by line after the node's name, as fast as the reader accepts it. */
export async function showOutcomes(
  console: Console,
  outcomes: readonly CommandOutcome[],
  maxBytes: number,
): Promise<void> {
  const width = Math.max(0, ...outcomes.map(({ node }) => node.length));
  for (const outcome of outcomes) {
    if (outcome.kind === 'unreached') continue;
    const { result, node } = outcome;
    const name = `${console.isSimulated ? 'simulated ' : ''}${node.padEnd(width)}`;
    const cut = [
      ...(await writeLines((text) => console.out(text), `${name} | `, result.stdout)),
      ...(await writeLines((text) => console.err(text), `${name} ! `, result.stderr)),
    ];
    const notes = [
      ...cut,
      ...(result.isTruncated ? [`output cut after ${maxBytes / mebibyte} MiB; command stopped`] : []),
      ...(isSuccess(result.exit) ? [] : [exitText(result.exit)]),
    ];
    console.err(notes.map((note) => `${name} ! ${note}\n`).join(''));
  }
  showDiagnostics(console, gatherAlike(outcomes.flatMap(diagnosticsOf)));
}

/** Why a node was not reached, or why its exit status is unknown. Excess output is reported separately. */
function diagnosticsOf(outcome: CommandOutcome): readonly Diagnostic[] {
  return outcome.kind === 'ended' && outcome.result.isTruncated ? [] : outcomeDiagnostics(outcome);
}

/** Writes at most {@link maxLines} lines; returns a note about the remaining ones. */
async function writeLines(
  write: (text: string) => void,
  prefix: string,
  bytes: Uint8Array,
): Promise<readonly string[]> {
  const text = decoder.decode(bytes);
  let chunk = '';
  let at = 0;
  for (let lines = 0; at < text.length && lines < maxLines; lines += 1) {
    const end = text.indexOf('\n', at);
    const line = text.slice(at, end < 0 ? text.length : end);
    at = end < 0 ? text.length : end + 1;
    // Tabs are kept as layout; all other control characters are escaped.
    chunk += `${prefix}${escapeLines(line)}\n`;
    if (chunk.length < chunkChars) continue;
    write(chunk);
    chunk = '';
    await outputWritten();
  }
  if (chunk !== '') write(chunk);
  const left = text.length - at;
  return left > 0 ? [`${left} more characters not shown after ${maxLines} lines; use --json for all`] : [];
}

/** Prints one JSON document node by node, so that only one node's text is in memory. */
export async function showOutcomesJson(console: Console, outcomes: readonly CommandOutcome[]): Promise<void> {
  showJsonText(console, `${jsonText(documentHead(console)).replace(/\n}$/, '')},\n  "nodes": {`);
  for (const [at, outcome] of outcomes.entries()) {
    const value = jsonText(outcomeJson(outcome, console)).replaceAll('\n', '\n    ');
    showJsonText(console, `${at === 0 ? '' : ','}\n    ${jsonText(outcome.node)}: ${value}`);
    await outputWritten();
  }
  showJsonText(console, `${outcomes.length === 0 ? '' : '\n  '}}\n}\n`);
}

function outcomeJson(outcome: CommandOutcome, reader: Reader): ExecDocument['nodes'][string] {
  const diagnostics = diagnosticsOf(outcome);
  if (outcome.kind === 'unreached') return { diagnostics: diagnosticsJson(reader, diagnostics) };
  const { exit, stdout, stderr, isTruncated } = outcome.result;
  return {
    exit,
    stdout: decoder.decode(stdout),
    stderr: decoder.decode(stderr),
    truncated: isTruncated,
    ...(diagnostics.length === 0 ? {} : { diagnostics: diagnosticsJson(reader, diagnostics) }),
  };
}
