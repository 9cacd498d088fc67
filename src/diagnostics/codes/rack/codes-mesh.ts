import { aside, its, meshwright } from '../../../model/text/command.ts';
import { prose } from '../../../model/text/prose.ts';
import type { CodeEntry } from '../../code-entry.ts';

/** What only traffic can show: told of placements that failed, and never of a look alone. */
const suspicionCodes = {
  'rdma/suspected-idle-dead': {
    summary: 'A cable is suspected to carry nothing, though its RDMA ports say that they are active.',
    cause:
      'A start or a token over RDMA failed in this boot session, and everything that can be looked at is fine on all links of the placement. Ports that idled for long, or whose cable was plugged in anew, stop working until both Macs restart (exo issue 1973); only traffic shows it.',
    hint: 'Start the placement anew; if that does not help, restart the Macs at both ends of the cable.',
  },
  'address/suspected-no-answer': {
    summary: 'A cable is suspected to carry nothing, though it is there and has its addresses.',
    cause:
      'In this boot session a start over TCP failed because a rank got no answer from its peer at the address of a cable. The cables are as declared and have their addresses, and no other rank gave a reason. A port that stopped working looks like this; it works again after a restart of both Macs.',
    hint: 'Restart the Macs at both ends of the cable; if that does not help, replace the cable.',
  },
  'mesh/suspected-local-network': {
    summary: 'macOS is suspected to keep a rank from the local network.',
    cause:
      'A rank was told at once that there is no route to its peer (errno 65), and everything that can be looked at is fine on all links of the placement; over TCP these are its cables and their addresses. Local Network privacy does that to programs of a session at the screen; daemons of launchd, root and what comes over ssh are exempt (Apple TN3179). Nobody can read or change it over ssh.',
    hint: 'On that Mac: System Settings > Privacy & Security > Local Network. Whatever was started there by an app or an agent needs its switch.',
  },
  'rdma/suspected-exhausted': {
    summary: 'A Mac is suspected to have no protection domain or queue pair left.',
    cause:
      'The last start over RDMA in this boot session failed with the words of a device that has nothing left (a protection domain that could not be allocated, errno 12 or 16), and everything that can be looked at is fine. Failed starts can leave them behind in the kernel, and only a restart frees those; where the kernel holds none, the fault is elsewhere.',
    hint: 'Start the placement anew; if that does not help, restart the Mac.',
  },
} as const satisfies Record<string, CodeEntry>;

/** Codes about placements: how they are, and starting and stopping them. */
export const meshCodes = {
  ...suspicionCodes,
  'placement/too-few-queue-pairs': {
    summary: 'One start takes more queue pairs of an RDMA device than it has.',
    cause:
      'Of the queue pairs and protection domains that `ibv_devinfo -v` reports of a device (`max_qp`, `max_pd`) all but one can be made. Each rank of a `jaccl-ring` of two takes two of every device that it uses, because its neighbours before and behind are the same Mac; it makes both connections over every cable, so that one cable more leaves it as it is. No restart of a Mac gives a device more than it has.',
    hint: 'Leave `backend` out: two ranks that are cabled then talk over jaccl, which takes one of each device. So does a ring of three or more nodes; `backend: ring` with `transport: tcp` takes none.',
  },
  'placement/bridged-link': {
    summary: 'A bridge that the file keeps holds a cable over which ranks would meet.',
    cause:
      'With `thunderbolt.bridge: keep` a receptacle that is in a bridge gets no address of its own, and ranks meet at the addresses of their cables, over TCP as over RDMA.',
    hint: 'Write `bridge: remove` under `thunderbolt`, or take the link or the node out of the file.',
  },
  'endpoint/clear-text': {
    severity: 'warning',
    summary: 'Keys of clients cross the network in clear text.',
    cause:
      'The gateway of an endpoint with `listen: lan` speaks http. Who can read the network reads keys, prompts and answers, and can use the model with such a key.',
    hint: 'Put a proxy with a certificate before it and name its address in `endpoint.proxies`, or let only trusted computers into this network.',
  },
  'endpoint/door-closed': {
    severity: 'warning',
    summary: 'The door of a placement that serves is closed.',
    cause:
      'A drain has closed it, or a start that failed before it could open it again. Its mesh goes on, and clients of the office network get 503 with the reason; `ask` and `bench` go past the door.',
    hint: prose`Open it: ${meshwright('start')}, or ${aside(meshwright('apply'))}`,
  },
  'endpoint/door-not-asked': {
    severity: 'warning',
    summary: 'Nobody could ask a Mac about a door that is to be closed.',
    cause:
      'A door stays as it was while its Mac is away, over a restart as well: one that was open lets clients in as soon as they reach that Mac. So a drain that could not ask it is not done, whatever it has closed elsewhere.',
    hint: 'Bring the Mac back, then type the drain again.',
  },
  'endpoint/nothing-to-close': {
    summary: 'Nothing stands before this placement that could be closed.',
    cause:
      'A door is closed by the doorman of a published endpoint. An endpoint of its node alone is the runtime itself, which goes on answering whoever is at it.',
    hint: prose`Stop the placement: ${meshwright('stop')}`,
  },
  'endpoint/still-inside': {
    summary: 'Requests are still inside when the time to finish is over.',
    cause:
      'The door of the placement is closed, so that nobody new comes in, and whoever was let in before it was closed has no whole answer yet. Nobody is cut off: the mesh goes on.',
    hint: prose`Wait longer: ${meshwright('drain', its.placement, '--deadline', '10m')}. What is done now cuts them off.`,
  },
  'launch/held': {
    summary: 'A program is to run on a node that is held.',
    cause: 'Ranks of a program of your own keep a Mac as busy as those of a placement.',
    hint: prose`Release it, or leave it out: ${meshwright('release', its.node)}`,
  },
  'launch/account': {
    summary: 'Ranks of a program of your own cannot run as this account.',
    cause: 'They run as an account that is there on every Mac and cannot become root, or by name as the ssh user.',
    hint: 'Name another one: --as NAME, or --as login for the ssh user, who can become root.',
  },
  'launch/needs-reboot': {
    summary: 'A program is to run on a node that needs a restart first.',
    cause:
      'A rank that was stopped there left memory or a process that only a restart ends, or the node has seen as many starts over RDMA in this boot session as its devices have room for. No placement is started there either.',
    hint: prose`Restart it, or leave it out: ${meshwright('reboot', its.node)}`,
  },
  'launch/reboot-unseen': {
    summary: 'Nobody could see whether a node needs a restart before a program is to run on it.',
    cause:
      'What a stopped rank left there, and how many starts over RDMA the node has seen since it booted, is written down on the node itself. What nobody could read counts for no good sign, and is no reason to restart a Mac either.',
    hint: prose`See why it was not seen: ${meshwright('doctor')}. Then launch again, or leave the node out: --nodes a,b`,
  },
  'launch/not-seen': {
    summary: 'What the ranks would find each other by was not seen.',
    cause:
      'Which group is made follows from the cables of the file: with one between every pair it talks over RDMA, by devices that macOS may name otherwise tomorrow. One that nobody saw is not taken for none.',
    hint: prose`See why it was not seen: ${meshwright('doctor')}. Then launch again.`,
  },
  'mesh/launch-budget': {
    summary: 'The RDMA devices of a Mac have no room for a start.',
    cause:
      'A device has few protection domains and queue pairs, by `ibv_devinfo -v`, or three where it does not say. A start over RDMA that fails can leave some behind, which only a restart of the Mac frees (seen on macOS 26.5.1). What is taken is read from the kernel. Where it cannot be read, starts are counted: a start counts until it has served and was seen to stop clean.',
    hint: prose`Restart the Macs that are named: ${meshwright('reboot')}. To start it all the same: --allow rdma-start`,
  },
  'mesh/last-start': {
    severity: 'warning',
    summary: 'A Mac has room for one more start over RDMA.',
    cause:
      'What failed starts have left in the RDMA devices stays until the Mac restarts (`mesh/launch-budget`), and the placement that runs now takes a place until it is stopped. If the next start fails, no further one is made before a restart.',
    hint: 'Nothing has to be done while it serves. Restart the named Macs when it suits you, before the next start has to succeed.',
  },
  'mesh/stays-on-tcp': {
    summary: 'A placement came back over TCP after a restart, too.',
    cause:
      'The file says rdma, the ranks talk over TCP, and so they did before the last restart in this boot session, of the same file. One more would be the same, interrupt whoever is inside and take one more start of the launch budget. Where a log says why, it is quoted; llama.cpp says nothing where no RDMA device has the address of the connection.',
    hint: prose`Mend what doctor says of RDMA, then restart the Macs of the placement: ${meshwright('reboot')}. Or write \`transport: tcp\`. To try a start all the same: ${meshwright('restart')}`,
  },
  'mesh/not-serving': {
    summary: 'A placement of the file does not serve.',
    cause:
      'It counts as serving when all its ranks run, of one start and as the file says, and its endpoint gave a token while it was looked at. Anything less serves nobody.',
    hint: prose`Start it: ${meshwright('apply')}`,
  },
  'mesh/not-stopped': {
    summary: 'A placement runs that the file wants stopped.',
    cause: 'The file says `state: stopped`, and at least one of its ranks has a process.',
    hint: prose`Stop it: ${meshwright('apply')}`,
  },
  'mesh/left-over': {
    summary: 'A node keeps a rank that the file does not have there.',
    cause: 'The placement left the file or moved to other nodes, and nobody has applied that since.',
    hint: prose`Take it away: ${meshwright('apply')}`,
  },
  'mesh/on-fallback': {
    severity: 'notice',
    summary: 'A placement runs on its fallback.',
    cause:
      'Somebody has started it there with `start --fallback`, because its own nodes could not carry it. The file wants it on its own nodes, so the next plan moves it back as soon as all of them can; until then nothing stops it.',
    hint: prose`When its own nodes are well again: ${meshwright('apply', '--allow', 'interrupt')}`,
  },
  'mesh/fallback-there': {
    severity: 'notice',
    summary: 'A placement that does not serve has a fallback.',
    cause:
      'The file names other nodes for it, all of them were seen, and its runtime and model are kept there. Nothing moves by itself: whether less context now is better than waiting is for people to say.',
    hint: prose`Start it there: ${meshwright('start', its.name, '--fallback')}`,
  },
  'mesh/not-judged': {
    severity: 'warning',
    summary: 'Nobody can say whether a placement is as the file says.',
    cause:
      'Its nodes answered, and something that a judgement needs is missing: a token that was not asked for because the placement was just being started, or a digest that the lock does not have.',
    hint: prose`Look again in a minute. If it stays so: ${meshwright('plan')}`,
  },
} as const satisfies Record<string, CodeEntry>;
