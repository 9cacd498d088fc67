import type { ExoRuntime } from '../../model/desired.ts';
import { endTowards } from '../contract/link-address.ts';
import type { PlacementCheck, PlacementFinding } from '../contract/placement-check.ts';
import { reservedFindings } from '../contract/reserved-words.ts';
import { refusedSplit } from './cards.ts';
import { fastSynch } from './configure.ts';
import { exoShape, undividedByExo } from './divided.ts';
import { openApi } from './open-api.ts';
import { reserved } from './reserved.ts';

type Check = PlacementCheck<ExoRuntime>;

const error = (finding: Pick<PlacementFinding, 'code' | 'detail'>): PlacementFinding => ({
  ...finding,
  severity: 'error',
});

/** What speaks against a placement on exo, as far as exo itself would find it out much later, or never. */
export const check = (one: Check): readonly PlacementFinding[] => [
  ...named(one),
  ...indexed(one),
  ...refused(one),
  ...divided(one),
  ...cabled(one),
  ...synched(one),
  ...left(one),
  ...openApi(one.placement),
  ...reservedFindings(one.placement, reserved),
];

function named({ model }: Check): readonly PlacementFinding[] {
  if (model.repository !== undefined) return [];
  return [error({ code: 'exo/no-repository', detail: `models.${model.name} does not say which repository it is.` })];
}

/** exo takes a model for whole when its index and all that the index names are there. @see exo: download_utils.py */
function indexed({ model: { name, files } }: Check): readonly PlacementFinding[] {
  if (files.length === 0) return [];
  const wanted = ['config.json', 'model.safetensors.index.json'];
  const missing = wanted.filter((path) => !files.some((file) => file.path === path));
  return missing.map((path) =>
    error({ code: 'exo/no-index', detail: `Among the files of ${name} there is no ${path}.` }),
  );
}

/** What exo itself would refuse only after everything else was stopped and its ranks were started. */
function refused({ placement, runtime, model: { repository, shape } }: Check): readonly PlacementFinding[] {
  const { sharding, nodes } = placement;
  if (repository === undefined || sharding === undefined || nodes.length === 1) return [];
  const classes = shape?.classes === undefined ? {} : { classes: shape.classes };
  const detail = refusedSplit({ repository, dialect: runtime.dialect, sharding, ...classes });
  return detail === undefined ? [] : [error({ code: 'exo/cannot-split', detail })];
}

/** What exo divides by besides what no runtime can split, which is told already. */
function divided({ placement, runtime, model }: Check): readonly PlacementFinding[] {
  const { sharding, nodes } = placement;
  const shape = exoShape(runtime, model);
  if (sharding !== 'tensor' || shape === undefined) return [];
  return undividedByExo(shape, nodes.length).map((what) =>
    error({ code: 'placement/not-divisible', detail: `exo does not split ${model.name}: ${what}.` }),
  );
}

/**
 * Over RDMA exo makes groups of JACCL alone, which talk between every pair of ranks over a cable of their own; its ring
 * is one of sockets. So a pipeline needs every pair as well.
 *
 * @see exo: placement.py
 */
function cabled({ placement: { nodes, transport }, fleet: { thunderbolt } }: Check): readonly PlacementFinding[] {
  if (transport !== 'rdma') return [];
  const without = nodes.flatMap((node, rank) =>
    nodes
      .slice(rank + 1)
      .filter((other) => endTowards(thunderbolt, node, other) === undefined)
      .map((other) => `${node} with ${other}`),
  );
  if (without.length === 0) return [];
  return [error({ code: 'exo/needs-every-pair', detail: `No link joins ${without.join(', nor ')}.` })];
}

/** exo has fast synch on unless `EXO_FAST_SYNCH` says otherwise, which the driver then does. */
function synched({ placement: { env, args } }: Check): readonly PlacementFinding[] {
  const named = [
    ...Object.keys(env).filter((name) => name === fastSynch && env[name] !== 'false'),
    // Python takes every beginning of it that no other flag has.
    ...args.filter((arg) => arg.length >= '--fa'.length && '--fast-synch'.startsWith(arg)),
  ];
  return named.map((word) => ({
    code: 'exo/fast-synch',
    severity: 'warning',
    detail: `${word} stands in its \`${word === fastSynch ? 'env' : 'args'}\`.`,
  }));
}

const exoDaemon = 'io.exo.networksetup';

/** exo's own daemon undoes the addresses of cables every half an hour. @see exo issues 1158, 2007 and 2067 */
function left({ nodes, fleet }: Check): readonly PlacementFinding[] {
  const wish = fleet.thunderbolt.foreignDaemons;
  if (wish === 'stop' || wish === 'remove') return [];
  return nodes.flatMap(({ node, mac }) => {
    const seen = mac?.foreignDaemons;
    if (seen?.kind !== 'known' || !seen.value.some(({ label, isLoaded }) => label === exoDaemon && isLoaded)) return [];
    return [error({ code: 'exo/network-daemon', detail: `${exoDaemon} runs on ${node}.` })];
  });
}
