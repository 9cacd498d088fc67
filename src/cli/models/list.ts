import { suggesterAmong } from '../../desired/did-you-mean.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { unreachedOf } from '../../engine/plan/view.ts';
import type { NodeName } from '../../model/node.ts';
import { modelSubject } from '../../model/subject.ts';
import { modelCopies, undeclaredCopies } from '../../rack/artifacts/models/model-copies.ts';
import { soughtOn } from '../../rack/artifacts/models/model-resource.ts';
import { gatherAlike } from '../../report/findings.ts';
import { type ModelsInput, modelsJson, modelsText } from '../../report/models.ts';
import { type OpenedCluster, openCluster, refuseAny, targetedNodes } from '../cluster/open-cluster.ts';
import { lockedFleet } from '../cluster/settle-cluster.ts';
import { openTargets } from '../cluster/ssh-targets.ts';
import { codeForNodes, verdictOf } from '../exit-codes.ts';
import { observeNodes, shownOnly } from '../look/observe-fleet.ts';
import { diagnosticsJson, logFindings, pageFor } from '../terminal/console.ts';
import type { Run, VerbBody } from '../verb.ts';

export const modelsList: VerbBody = async (run) => {
  const { nodes, observation, input, failures } = await seeModels(run);
  const exit = codeForNodes(nodes.map((name) => verdictOf(observation.failures[name] ?? [])));
  return { exit, ...modelsResult(run, input, failures) };
};

/** Observes the nodes, and selects the named models. @throws FleetError `select/unknown-model` */
export async function seeModels(run: Run, cluster: OpenedCluster = openCluster(run)) {
  const asked = targetedNodes(run, cluster.fleet, []);
  const nodes = asked.map(({ name }) => name);
  const fleet = lockedFleet(run, cluster);
  const modelsOn = (node: NodeName) => soughtOn(fleet, node);
  const extent = { ...shownOnly(run), modelsOn };
  const observation = await observeNodes(run, asked, openTargets(run, cluster), extent);
  const lost = nodes.filter((name) => (observation.failures[name]?.length ?? 0) > 0);
  const failures = nodes.flatMap((name) => observation.failures[name] ?? []);
  const all: ModelsInput = {
    cluster: fleet.name,
    models: modelCopies(fleet, observation, nodes).map((one) => {
      // The lock's entry has an absolute path instead of the folder in the file.
      const source = cluster.fleet.models.find(({ name }) => name === one.model.name)?.source ?? one.model.source;
      return { ...one, model: { ...one.model, source } };
    }),
    undeclared: undeclaredCopies(fleet, observation, nodes),
    asked: nodes.length,
    unreached: unreachedOf(lost, observation),
  };
  logFindings(run, failures);
  return { nodes, observation, failures, input: namedModels(run, all) };
}

export const modelsResult = ({ console }: Run, input: ModelsInput, failures: readonly Diagnostic[]) => ({
  document: { ...modelsJson(input, console), diagnostics: diagnosticsJson(console, failures) },
  text: modelsText(input, pageFor(console)),
  findings: gatherAlike(failures),
});

/** The named models, whether they are in the file or only on a node. @throws FleetError `select/unknown-model` */
export function namedModels({ words }: Pick<Run, 'words'>, all: ModelsInput): ModelsInput {
  if (words.length === 0) return all;
  const names = [...all.models.map(({ model }) => model.name), ...all.undeclared.map(({ name }) => name)];
  refuseAny(words.filter((word) => !names.includes(word)).map((word) => unknownModel(word, names, all)));
  return {
    ...all,
    models: all.models.filter(({ model }) => words.includes(model.name)),
    undeclared: all.undeclared.filter(({ name }) => words.includes(name)),
  };
}

function unknownModel(word: string, names: readonly string[], { unreached }: ModelsInput): Diagnostic {
  const isAll = Object.keys(unreached).length === 0;
  const near = suggesterAmong(names)(word);
  const list = names.length === 0 ? 'The file has no models.' : `Name one of these: ${[...new Set(names)].join(', ')}.`;
  return diagnose('select/unknown-model', {
    detail: `\`${word}\` is not in the file, and no node${isAll ? '' : ' that was reached'} has it.`,
    hint: near === undefined ? list : `Did you mean \`${near}\`?`,
    subject: modelSubject(word),
  });
}
