import { meshwright } from '../../../model/text/command.ts';
import { prose } from '../../../model/text/prose.ts';
import type { CodeEntry } from '../../code-entry.ts';

/** Codes about exo, which creates a placement by API requests after its ranks are started. */
export const exoCodes = {
  'exo/no-repository': {
    summary: "exo needs the model's repository name.",
    cause: "exo uses `organization/name` to find the model's files and its model card, and to route requests.",
    hint: 'Add the name to the model: `repository: organization/name`',
  },
  'exo/no-index': {
    summary: 'exo would consider the model incomplete.',
    cause: 'exo needs `config.json`, `model.safetensors.index.json` and every file that the index names.',
    hint: 'Add the missing file to the model. For weights in a single file, you can write the index by hand.',
  },
  'exo/needs-every-pair': {
    summary: 'exo over RDMA needs a cable between every pair of its nodes.',
    cause:
      'Over RDMA, exo only creates JACCL groups, in which every rank talks to every other rank over a direct cable, whatever the sharding. If a cable is missing, exo keeps searching for it and never offers the model.',
    hint: 'Declare the cable under `thunderbolt.links`, use fewer nodes, or use `transport: tcp`. mlx can also use a ring over RDMA (`backend: jaccl-ring`).',
  },
  'exo/fast-synch': {
    severity: 'warning',
    summary: 'Fast synch makes exo faster, but can hang the GPU.',
    cause:
      'exo turns it on unless `EXO_FAST_SYNCH=false` is set, which meshwright does by default. With mlx, an owner of two M3 Ultra measured 21 µs with it and 275 µs without it for a sum of 8 KB over all ranks, and 33.5 to 36 tokens per second instead of 20.3. But the mlx documentation says that it may deadlock (mlx issue 3142).',
    hint: 'If the placement hangs, remove the setting.',
  },
  'exo/open-api': {
    severity: 'warning',
    summary: "exo's own API can be reached without going through the gateway.",
    cause:
      'The gateway of an endpoint with `listen: lan` requires an API key. exo also serves its own API on every address of each of its Macs (0.0.0.0), without a key, and this cannot be turned off. Anyone who can reach that port needs no key.',
    hint: "Block that port in the network's firewall, or allow only trusted computers on the network.",
  },
  'exo/network-daemon': {
    summary: "exo's network daemon would remove the addresses on the cables.",
    cause:
      'At each start and every 30 minutes, it sets every cable back to DHCP. After that, RDMA has no address that the peer knows (exo issues 1158, 2007 and 2067). exo itself does not need the daemon.',
    hint: 'Let `apply` stop it (`thunderbolt.foreignDaemons: stop`) or remove it (`thunderbolt.foreignDaemons: remove`).',
  },
  'placement/reserved-word': {
    exit: 65,
    summary: 'A placement uses an argument or a variable that is reserved or not allowed.',
    cause:
      '`env` and `args` are passed to the runtime unchanged. Some are reserved because they would override what the driver sets. Others are not allowed because they load something that the memory check did not count, or write prompts and answers to a log.',
    hint: 'Remove it from the file.',
  },
  'exo/no-identity': {
    summary: 'An exo rank does not report its ID.',
    cause:
      'exo generates a new ID at every start, and meshwright asks each node for it. A rank did not answer in time, or two ranks reported the same ID, as they do if they share a home folder.',
    hint: prose`Read the logs: ${meshwright('logs')}`,
  },
  'exo/mesh-incomplete': {
    summary: 'exo does not find all of its nodes and cables.',
    cause:
      'exo finds other nodes by multicast, and RDMA links by the cables that macOS lists. It sometimes drops an interface until it restarts (exo issue 2191). It never places a model over a cable that it sees in only one direction (exo issue 2077).',
    hint: prose`Check the cables and their addresses: ${meshwright('doctor')}. Then restart the placement: ${meshwright('restart')}`,
  },
  'exo/model-refused': {
    summary: 'exo does not accept the model.',
    cause:
      'exo ships model cards for the models it knows. For any other model it builds a card from `config.json` and the weights index, and refuses the model if either is missing.',
    hint: "Set `repository` to the name that exo knows, or add `model.safetensors.index.json` to the model's files.",
  },
  'exo/cannot-split': {
    summary: 'exo cannot split this model in this way.',
    cause:
      'exo has no pipeline across several nodes for DeepSeek V3.1 (8 bit) or Gemma 4. It uses tensor sharding only if the model card allows it. If the model has no card, exo must know its `architectures`.',
    hint: 'Use the other kind of sharding, a single node, or another runtime.',
  },
  'exo/not-known-to-split': {
    severity: 'warning',
    summary: 'It is unknown whether exo can split this model by tensor.',
    cause:
      'exo has no card for the model. It then decides by the `architectures` in `config.json`, which are unknown here, or this exo is newer than the versions that meshwright knows.',
    hint: 'Try it: if exo refuses the split, the start fails with the reason that exo gives. docs/known-models.md lists the models that exo splits.',
  },
  'exo/placement-refused': {
    summary: 'exo offers no placement that matches the file.',
    cause:
      'meshwright first asks exo for its possible placements, and accepts only the declared sharding, transport and nodes. On its own, exo may choose other nodes or a single node.',
    hint: "Check the reason that exo gives. Then free some memory, or change the placement's nodes, sharding or transport.",
  },
  'exo/ring-off-cables': {
    summary: "exo's ring does not use the cables.",
    cause:
      'Over TCP, exo chooses the addresses itself. For a full minute, it offered no address on a cable between two of the nodes, so the ring would have run over Wi-Fi or the office network.',
    hint: prose`Check the cables and their addresses: ${meshwright('doctor')}`,
  },
  'exo/runner-failed': {
    summary: 'An exo runner failed.',
    cause: "exo restarts a failed runner five times and then removes the placement. The output shows exo's error.",
    hint: prose`Read the ranks' logs: ${meshwright('logs')}`,
  },
  'exo/stuck': {
    summary: 'exo stopped making progress with a placement.',
    cause:
      'exo has no deadlines: its runners can connect, load or warm up forever (exo issues 1137, 1731 and 2173). meshwright waited for as long as each of these may go without progress.',
    hint: prose`Restart the placement: ${meshwright('restart')}. If it happens again, use the other kind of sharding.`,
  },
  'exo/no-graceful-shutdown': {
    severity: 'warning',
    summary: 'exo was stopped without a graceful shutdown.',
    cause:
      'Before stopping its processes, meshwright gives exo a short time to delete the instance and stop the runners itself. A runner that is killed inside a collective operation can keep its GPU busy until the Mac restarts (exo issue 1137).',
    hint: prose`If the next start hangs or a GPU stays busy, restart these Macs: ${meshwright('reboot')}`,
  },
  'exo/master-lost': {
    summary: 'exo lost a placement while creating it.',
    cause: 'exo keeps placements in the session of its master. If the session ends or changes, all of them are lost.',
    hint: prose`Start it again: ${meshwright('apply')}`,
  },
} as const satisfies Record<string, CodeEntry>;
