import { meshwright } from '../../../model/text/command.ts';
import { prose } from '../../../model/text/prose.ts';
import type { CodeEntry } from '../../code-entry.ts';

/** Codes about exo, with which a placement is talked over once its ranks run. */
export const exoCodes = {
  'exo/no-repository': {
    summary: 'exo does not know the model without the name of its repository.',
    cause: 'It finds the files of a model, its card and whom a request is for by organization/name.',
    hint: 'Add the name to the model: repository: organization/name',
  },
  'exo/no-index': {
    summary: 'exo would never take the model for whole.',
    cause:
      'A model is there for exo when model.safetensors.index.json is, and every file that it names; it reads its shape from config.json.',
    hint: 'Add the file to the model; for weights in one file an index can be written by hand.',
  },
  'exo/needs-every-pair': {
    summary: 'exo over RDMA needs a cable between every pair of its nodes.',
    cause:
      'Whatever the sharding, over RDMA it makes only groups of JACCL, in which every rank talks to every other over a cable of their own. Without one it would look for it, and offer nothing.',
    hint: 'Declare the cable under `thunderbolt.links`, use fewer nodes, or transport: tcp; mlx has rings over RDMA (backend: jaccl-ring).',
  },
  'exo/fast-synch': {
    severity: 'warning',
    summary: 'Fast synch of exo can hang the GPU.',
    cause:
      'It is on in exo unless the driver sets EXO_FAST_SYNCH=false, as it does where the file says nothing. It is faster, and the documentation of mlx says that it may deadlock (issue 3142 of mlx).',
    hint: 'Remove it if the placement hangs.',
  },
  'exo/open-api': {
    severity: 'warning',
    summary: "exo's own API is open beside the gateway.",
    cause:
      'The gateway of an endpoint with `listen: lan` asks for a key. exo binds its own API to every address of each of its Macs (0.0.0.0), asks for no key and cannot be told to do otherwise. Who reaches that port needs no key.',
    hint: 'Close that port in the firewall of the network, or let only trusted computers into it.',
  },
  'exo/network-daemon': {
    summary: "exo's network daemon would take the addresses of the cables away.",
    cause:
      'It puts every cable back on DHCP at each start and every half an hour; RDMA then has no address that the other end knows (exo issues 1158, 2007 and 2067). exo itself does not need it.',
    hint: 'Let apply stop it (thunderbolt.foreignDaemons: stop), or take it away (remove).',
  },
  'placement/reserved-word': {
    summary: 'A placement sets what its driver sets itself, or cannot have.',
    cause:
      'env and args are handed on to the runtime as they are. What the driver decides would be contradicted; other words load what no plan has counted, or write prompts and answers into a log.',
    hint: 'Take the word out of the file.',
  },
  'exo/no-identity': {
    summary: 'A rank of exo does not say who it is.',
    cause:
      'exo gives itself a new id at every start, and is asked for it on each node. It did not answer in time, or two of them gave the same one, as when they share a home folder.',
    hint: prose`See what it said: ${meshwright('logs')}`,
  },
  'exo/mesh-incomplete': {
    summary: 'exo does not see all of its nodes and cables.',
    cause:
      'It finds the others by itself: by multicast in the networks that it is in, and RDMA by the cables that macOS lists. On some days it drops an interface for as long as it runs (exo issue 2191), and it never places a model over a cable that it sees in one direction only (exo issue 2077).',
    hint: prose`See whether the cables and their addresses are well: ${meshwright('doctor')}. Then start it again: ${meshwright('restart')}`,
  },
  'exo/model-refused': {
    summary: 'exo does not take the model.',
    cause:
      'It knows models by cards that come with it; for others it makes one from config.json and the index of the weights, and refuses those that lack either.',
    hint: 'Give the model the repository that exo knows it by, or add model.safetensors.index.json to its files.',
  },
  'exo/cannot-split': {
    summary: 'exo refuses to split this model so.',
    cause:
      'Its master makes no pipeline of several nodes for DeepSeek V3.1 (8 bit) and Gemma 4, and shards by tensors only what its model card allows. Without a card `architectures` of the model must be one that it knows.',
    hint: 'Use the other kind of sharding, one node, or another runtime.',
  },
  'exo/placement-refused': {
    summary: 'exo offers no placement as the file declares it.',
    cause:
      'It is asked beforehand what it would do, and only what is exactly the declared sharding, transport and nodes is asked for: left to itself it takes other nodes, or one alone.',
    hint: 'See its reason. Free memory, or change nodes, sharding or transport of the placement.',
  },
  'exo/ring-off-cables': {
    summary: 'The ring of exo does not use the cables.',
    cause:
      'Over TCP exo chooses the addresses itself, and for a minute it offered none of the cable that two of the nodes share: the ring would run over Wi-Fi or the office network.',
    hint: prose`See whether the cables and their addresses are up: ${meshwright('doctor')}`,
  },
  'exo/runner-failed': {
    summary: 'A runner of exo failed.',
    cause: 'exo starts a failed runner again five times and then takes the placement away; its own words are shown.',
    hint: prose`See what the ranks said: ${meshwright('logs')}`,
  },
  'exo/stuck': {
    summary: 'exo does not come any further with a placement.',
    cause:
      'exo itself knows no deadline: runners can connect, load or warm up for ever (exo issues 1137, 1731 and 2173). Each of these was waited for as long as it may take without any progress.',
    hint: prose`Start it again: ${meshwright('restart')}. If it comes back, try the other sharding.`,
  },
  'exo/no-farewell': {
    severity: 'warning',
    summary: 'exo was stopped with its instance.',
    cause:
      'Before its processes are stopped it is asked to delete the instance and to end the runners itself, which is given a short time. A runner that is killed inside of a collective can keep its GPU busy until the Mac restarts (exo issue 1137).',
    hint: prose`If the next start hangs, or a GPU stays busy, restart these Macs: ${meshwright('reboot')}`,
  },
  'exo/master-lost': {
    summary: 'exo forgot a placement while it was made.',
    cause: 'Placements live in the session of its master. When that ends or changes, exo begins with nothing.',
    hint: prose`Start it again: ${meshwright('apply')}`,
  },
} as const satisfies Record<string, CodeEntry>;
