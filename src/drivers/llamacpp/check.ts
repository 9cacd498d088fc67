import type { LlamaRuntime } from '../../model/desired.ts';
import { endTowards } from '../contract/link-address.ts';
import type { PlacementCheck, PlacementFinding } from '../contract/placement-check.ts';
import { reservedFindings } from '../contract/reserved-words.ts';
import { modelFile } from './model-file.ts';
import { reserved } from './reserved.ts';

type Check = PlacementCheck<LlamaRuntime>;

const refused = (code: PlacementFinding['code'], detail: string): PlacementFinding => ({
  code,
  severity: 'error',
  detail,
});

/** What speaks against a placement on llama.cpp before anything is started; its memory is judged elsewhere. */
export const check = (one: Check): readonly PlacementFinding[] => [
  ...split(one),
  ...file(one),
  ...cabled(one),
  ...reservedFindings(one.placement, reserved),
];

function split({ placement }: Check): readonly PlacementFinding[] {
  if (placement.sharding !== 'tensor') return [];
  return [refused('llama/not-by-tensor', `${placement.name} says sharding: tensor.`)];
}

/** Nothing where the files are not known yet. */
function file({ model: { name, files } }: Check): readonly PlacementFinding[] {
  if (files.length === 0) return [];
  const found = modelFile(files);
  switch (found.kind) {
    case 'file':
      return [];
    case 'none':
      return [refused('llama/no-gguf', `Among the ${files.length} files of ${name} there is no .gguf.`)];
    case 'several':
      return [refused('llama/several-ggufs', `${name} has ${found.paths.slice(0, 4).join(', ')}.`)];
  }
}

/** The server talks to each worker over a cable of its own: nothing is passed on from Mac to Mac. */
function cabled({ placement, fleet: { thunderbolt } }: Check): readonly PlacementFinding[] {
  const [leader, ...followers] = placement.nodes;
  if (leader === undefined) return [];
  const without = followers.filter((node) => endTowards(thunderbolt, node, leader) === undefined);
  if (without.length === 0) return [];
  return [refused('llama/no-cable', `No link joins the leader ${leader} with ${without.join(' and ')}.`)];
}
