import { didYouMean } from '../../desired/did-you-mean.ts';
import { askedPort } from '../../desired/endpoints.ts';
import { nameInFile } from '../../desired/replicas.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeLines } from '../../diagnostics/escape.ts';
import { documentHead } from '../../diagnostics/json.ts';
import { withQuestion } from '../../drivers/contract/chat-request.ts';
import type { TokenRequest } from '../../drivers/contract/driver.ts';
import { driverOf } from '../../drivers/registry.ts';
import type { DesiredFleet, DesiredNode, DesiredPlacement, DesiredRuntime } from '../../model/desired.ts';
import { placementSubject } from '../../model/subject.ts';
import { aside, meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import { askCommand, parseAskAnswer } from '../../node/endpoint/ask-endpoint.ts';
import { type AnswerParts, answerParts, judgeToken } from '../../node/endpoint/judge-answer.ts';
import { openCluster } from '../cluster/open-cluster.ts';
import { openTargets, type SshTargets } from '../cluster/ssh-targets.ts';
import { partsOf, placementsNamed, tokenRequestOf } from '../cluster/targets.ts';
import { exitCode } from '../exit-codes.ts';
import { answerText, askNodes, isAnswered, outcomeDiagnostics } from '../look/observe-fleet.ts';
import { fleetAsItRuns } from '../ranks/where-they-run.ts';
import { diagnosticsJson, logFindings, paintFor, showDiagnostics, showJson } from '../terminal/console.ts';
import { type Run, readCountOption, usageError, type VerbBody } from '../verb.ts';

const usualTokens = 256;

/** `ask PLACEMENT TEXT…`: sends a question to the placement's endpoint on its leader, and prints the answer. */
export const ask: VerbBody = async (run) => {
  const tokens = readCountOption(run, 'maxTokens') ?? usualTokens;
  const cluster = openCluster(run);
  readQuestion(run, cluster.fleet);
  const ways = openTargets(run, cluster);
  const replicas = readQuestion(run, await fleetAsItRuns(run, cluster, ways));
  for (const [at, question] of replicas.entries()) {
    const answered = await askLeader(run, { ...question, tokens }, ways);
    const isAnswered = answered.diagnostics.length === 0;
    const next = replicas[at + 1];
    if (!isAnswered && next !== undefined && !run.signal.aborted) {
      run.console.err(`${question.placement.name} gave no answer; asking ${next.placement.name}\n`);
      continue;
    }
    show(run, question, answered);
    return isAnswered ? exitCode.done : exitCode.failed;
  }
  throw new Error('a placement has no replica');
};

interface Question {
  readonly placement: DesiredPlacement;
  readonly runtime: DesiredRuntime;
  readonly leader: DesiredNode;
  readonly request: TokenRequest;
  readonly text: string;
}

/** The question, for the placement or for each of its replicas: the first one that answers is enough. */
function readQuestion(run: Run, fleet: DesiredFleet): readonly Question[] {
  const [word, ...words] = namedFirst(run.words, fleet);
  const names = [...new Set(fleet.placements.map(nameInFile))].join(', ');
  if (word === undefined) throw usageError('Placement missing.', `Placements: ${names || 'none in the file'}`);
  const placements = placementsNamed({ fleet }, word);
  const text = words.join(' ');
  if (text.trim() === '')
    throw usageError('Question missing.', prose`Add the question in quotes: ${meshwright('ask', word, '"Hello"')}`);
  return placements.map((placement) => {
    const { runtime, leader } = partsOf(fleet, placement);
    return { placement, runtime, leader, request: tokenRequestOf(fleet, placement), text };
  });
}

/** The arguments with a placement first, which may be omitted if it is the only one. A misspelled name is an error. */
function namedFirst(words: readonly string[], { placements }: DesiredFleet): readonly string[] {
  const [only, ...others] = new Set(placements.map(nameInFile));
  const [first] = words;
  const isNamed = placements.some(({ name }) => name === first);
  if (only === undefined || others.length > 0 || first === undefined || first === only || isNamed) return words;
  return words.length > 1 && didYouMean(first, [only]) !== undefined ? words : [only, ...words];
}

/** The answer, or the reason why there is none: a model can spend all its tokens thinking. */
interface Answered extends AnswerParts {
  readonly diagnostics: readonly Diagnostic[];
}

async function askLeader(
  run: Run,
  { placement, runtime, leader, request, text, tokens }: Question & { readonly tokens: number },
  ways: SshTargets,
): Promise<Answered> {
  const { path, pointer, countPointer } = request;
  const body = JSON.stringify({ ...withQuestion(request, text), max_tokens: tokens });
  const isOne = driverOf(runtime).takesOneRequest?.(placement) === true;
  const endpoint = { placement: placement.name, port: askedPort(placement), path, isOne };
  const deadlineSeconds = run.options.deadline / 1_000;
  // The endpoint's own deadline ends the request, so that its reason is shown and not that of the connection.
  const patient = { ...run, options: { ...run.options, deadline: run.options.deadline + 3_000 } };
  const [outcome] = await askNodes(patient, { nodes: [leader], ways }, (_node, rootPrefix) => ({
    name: 'ask',
    command: askCommand({ ...endpoint, deadlineSeconds, rootPrefix }),
    stdin: Buffer.from(body),
  }));
  if (outcome === undefined) throw new Error('the leader has no outcome');
  const broken = outcomeDiagnostics(outcome);
  const none = (reason: string): Answered => unanswered([noAnswer(placement, leader, reason)]);
  if (broken.length > 0) return unanswered(broken);
  if (outcome.kind === 'unreached') return none('its node was unreachable');
  const answer = parseAskAnswer(new TextDecoder().decode(outcome.result.stdout));
  if (answer === undefined)
    return none(isAnswered(outcome) ? `it returned ${answerText(outcome)}` : 'curl failed on the node');
  const judged = judgeToken(answer, pointer, countPointer);
  if (judged.kind === 'none') return none(judged.reason);
  const parts = answerParts(judged);
  if (parts.answer.trim() !== '') return { ...parts, diagnostics: [] };
  if (parts.thought.trim() === '' && judged.text !== '') return none('the answer is blank');
  return { ...parts, diagnostics: [onlyThought({ placement: placement.name, node: leader.name, tokens })] };
}

const unanswered = (diagnostics: readonly Diagnostic[]): Answered => ({ answer: '', thought: '', diagnostics });

const noAnswer = (placement: DesiredPlacement, leader: DesiredNode, reason: string): Diagnostic =>
  diagnose('ask/no-answer', {
    subject: placementSubject(placement.name),
    detail: `${placement.name} on ${leader.name}, port ${askedPort(placement)}: ${reason}.`,
    hint: prose`Check the placement: ${meshwright('status')}, ${aside(meshwright('logs', placement.name))}`,
  });

function show(run: Run, { placement, leader }: Question, { answer, thought, diagnostics }: Answered): void {
  logFindings(run, diagnostics);
  if (run.options.json) {
    showJson(run.console, {
      ...documentHead(run.console),
      placement: placement.name,
      node: leader.name,
      ...(answer === '' ? {} : { answer }),
      ...(thought === '' ? {} : { thought }),
      diagnostics: diagnosticsJson(run.console, diagnostics),
    });
    return;
  }
  // Scripts need only the answer, and without color the two are indistinguishable.
  if (thought !== '' && run.console.hasColor) {
    run.console.out(`${paintFor(true)('dim', escapeLines(thought))}\n${answer === '' ? '' : '\n'}`);
  }
  if (answer !== '') {
    run.console.out(`${escapeLines(answer)}\n`);
    if (run.console.isSimulated) run.console.err(`(simulated: ${placement.name} on ${leader.name})\n`);
  }
  showDiagnostics(run.console, diagnostics);
}

/** The upper limit for `--max-tokens`. */
const mostTokens = 9_999;

/** Reports that a model spent all tokens of an answer thinking. */
export function onlyThought({
  placement,
  node,
  tokens,
}: Readonly<Record<'placement' | 'node', string>> & { readonly tokens: number }): Diagnostic {
  const more = Math.min(4 * tokens, mostTokens);
  return diagnose('ask/no-answer', {
    subject: placementSubject(placement),
    detail: prose`${placement} on ${named(node)} used its ${tokens} tokens for thinking and gave no answer.`,
    hint: more > tokens ? `Allow more tokens: --max-tokens ${more}` : 'This is the maximum: ask for something shorter.',
  });
}
