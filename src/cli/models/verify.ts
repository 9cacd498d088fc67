import { proseText } from '../../diagnostics/prose-text.ts';
import type { NodeName } from '../../model/node.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { type ModelsInput, wrongCopyLines } from '../../report/models.ts';
import { actOn, type CommandSpec } from '../apply/act-on.ts';
import type { EndedRun } from '../apply/run-outcome.ts';
import { openCluster } from '../cluster/open-cluster.ts';
import { lockedFleet, settleFromLock } from '../cluster/settle-cluster.ts';
import { codeForNodes, type ExitCode, exitCode, firstOf, type NodeVerdict, verdictOf } from '../exit-codes.ts';
import { createConsent } from '../plan/consent.ts';
import { pageFor, showEnded } from '../terminal/console.ts';
import type { Run, VerbBody } from '../verb.ts';
import { modelsResult, seeModels } from './list.ts';

export const modelsVerify: VerbBody = async (run) => {
  const isFull = run.own['full'] === true;
  const opened = openCluster(run);
  const { nodes, observation, input, failures } = await seeModels(run, opened);
  const verdicts = nodes.map((node): NodeVerdict => {
    const reached = verdictOf(observation.failures[node] ?? []);
    return reached === 'fine' ? verdictOn(node, input) : reached;
  });
  const code = codeForNodes(verdicts);
  const result = { exit: code, ...modelsResult(run, input, failures) };
  if (!isFull) return result;
  // With --json, there is one document: that of the run which hashes the files.
  if (!run.options.json) showEnded(run, result);
  const hasCopies = input.models.some(({ copies }) => copies.some(({ state }) => state === 'complete'));
  if (!hasCopies && !run.options.json) {
    run.console.out('\nNothing to hash: no node that was reached has a complete copy.\n');
    return code;
  }
  if (!run.options.json) run.console.out('\n');
  const hashed = await hashFiles(run, opened, nodes, input);
  const exit = firstOf([code, hashed.exit]);
  return { ...hashed, exit, text: `${hashed.text}${endText(run, input, exit)}` };
};

/** The copies that were wrong before, which were not hashed; the files that were hashed are in the run's own result. */
function endText(run: Run, input: ModelsInput, code: ExitCode): string {
  if (code === exitCode.done) return 'Every file that was hashed matches its SHA-256.\n';
  const lines = wrongCopyLines(input, pageFor(run.console));
  if (lines.length === 0) return '';
  const next = proseText(prose`apply replaces them: ${meshwright('apply')}`, run.console);
  return `\n${[...lines, next].join('\n')}\n`;
}

function verdictOn(node: NodeName, { models }: ModelsInput): NodeVerdict {
  const states = models.flatMap(({ copies }) => copies.filter((one) => one.node === node).map(({ state }) => state));
  if (states.every((state) => state === 'complete')) return 'fine';
  return states.every((state) => state === 'complete' || state === 'unknown') ? 'unjudged' : 'wrong';
}

function hashFiles(
  run: Run,
  opened: ReturnType<typeof openCluster>,
  targets: readonly NodeName[],
  { models }: ModelsInput,
): Promise<EndedRun> {
  const cluster = settleFromLock(run, opened);
  const fleet = { ...cluster.fleet, models: lockedFleet(run, opened).models };
  const command: CommandSpec = {
    verb: 'models verify',
    goal: { kind: 'verify-models', names: models.map(({ model }) => model.name) },
    scope: { desired: fleet, targets },
    // Hashing disturbs nothing, so that no question is asked.
    consent: createConsent(run, { isAgreed: true }),
  };
  return actOn(run, command, cluster);
}
