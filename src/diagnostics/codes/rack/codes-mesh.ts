import { aside, its, meshwright } from '../../../model/text/command.ts';
import { prose } from '../../../model/text/prose.ts';
import { type CodeEntry, withExit } from '../../code-entry.ts';

/** Codes about faults that appear only under traffic. They are reported only after a placement failed. */
const suspicionCodes = {
  'rdma/suspected-idle-dead': {
    traits: ['suspects-cable'],
    evidence: ['rdma-state', 'thunderbolt', 'interfaces', 'rdma-ports', 'rdma-starts'],
    summary: 'A cable may carry no RDMA traffic, although its RDMA ports are active.',
    cause:
      "In this boot session a start or a token over RDMA failed, but everything that meshwright can check on the placement's links is fine. Ports that have been idle for a long time, or whose cable was replugged, can stop working until both Macs restart (exo issue 1973). This shows only under traffic.",
    hint: 'Restart the placement. If that does not help, restart the Macs at both ends of the cable.',
  },
  'address/suspected-no-answer': {
    traits: ['suspects-cable'],
    evidence: ['thunderbolt', 'interfaces'],
    summary: 'A cable may carry no traffic, although it is connected and has its addresses.',
    cause:
      'In this boot session a start over TCP failed because a rank got no answer from its peer over this cable. The cables match the file and have their addresses, and no other rank reported a reason. A port that has stopped working behaves like this until both Macs restart.',
    hint: 'Restart the Macs at both ends of the cable; if that does not help, replace the cable.',
  },
  'mesh/suspected-local-network': {
    traits: ['local-network'],
    evidence: ['thunderbolt', 'interfaces', 'rdma-ports', 'rdma-starts'],
    summary: 'macOS may block a rank from the local network.',
    cause:
      'A rank immediately got "no route to host" for its peer (errno 65). Everything meshwright can check on the links is fine: over TCP, these are the cables and their addresses. Local Network privacy blocks programs in a session at the screen; launchd daemons, root, and programs started over SSH are exempt (Apple TN3179). The setting cannot be read or changed over SSH.',
    hint: 'On that Mac: System Settings > Privacy & Security > Local Network. Turn on the switch for the app or agent that started the rank.',
  },
  'rdma/suspected-exhausted': {
    evidence: ['rdma-state', 'rdma-ports', 'rdma-starts', 'rdma-objects'],
    summary: 'A Mac may have run out of protection domains or queue pairs.',
    cause:
      'The last start over RDMA in this boot session could not allocate a protection domain (errno 12 or 16), as happens on an exhausted device. Everything meshwright can check is fine. Failed starts can leave such resources in the kernel, and only a restart frees them. If the kernel holds none, the cause is elsewhere.',
    hint: 'Restart the placement. If that does not help, restart the Mac.',
  },
} as const satisfies Record<string, CodeEntry>;

/** Codes about a measurement or a launch that does not start. */
const launchCodes = {
  'cables/unfit': {
    summary: 'A Mac is not ready for a measurement of its cables.',
    cause:
      'It is on hold, or this is unknown; the account of the ranks cannot run the program; or a stopped rank left something behind that only a restart clears, or may have.',
    hint: prose`Fix the named reason, then measure again: ${aside(meshwright('cables', '--measure'))}`,
  },
  'cables/no-program': {
    summary: 'The program that measures cables is missing on this computer.',
    cause:
      'RDMA is measured by a small program that is uploaded to both Macs. The npm package of a release contains it; none was released yet. A source folder contains it after it was compiled there, for that kind of computer only.',
    hint: 'Compile it: `npm run native`, on a Mac with Apple silicon. For a simulated rack, on this computer.',
  },
  'launch/held': {
    summary: 'A target node of `launch` is on hold.',
    cause: "Ranks of your own program occupy a Mac just as a placement's ranks do.",
    hint: prose`Release the node, or leave it out: ${meshwright('release', its.node)}`,
  },
  'launch/account': {
    summary: 'Your own program cannot run as this account.',
    cause: 'It needs an account on every Mac that cannot become root, or with `--as login` the SSH user.',
    hint: 'Choose another account: `--as NAME`, or `--as login` for the SSH user, who can become root.',
  },
  'launch/reboot-first': {
    summary: 'A target node of `launch` needs a restart first.',
    cause:
      'Either a stopped rank left memory or a process behind that only a restart clears, or the RDMA devices have no room for another start in this boot session. meshwright starts no placement on that node either.',
    hint: prose`Restart the node, or leave it out: ${meshwright('reboot', its.node)}`,
  },
  'launch/reboot-unseen': {
    summary: 'Cannot tell whether a target node of `launch` needs a restart first.',
    cause:
      'The node itself records what stopped ranks left there and how many starts over RDMA it has seen since boot. These records could not be read. Without them meshwright starts nothing on the node, but does not ask for a restart either.',
    hint: prose`See why they could not be read: ${meshwright('doctor')}. Then launch again, or leave the node out: \`--nodes a,b\``,
  },
} as const satisfies Record<string, CodeEntry>;

/** Codes about the state of placements, and about starting and stopping them. */
export const meshCodes = {
  ...suspicionCodes,
  'placement/too-few-queue-pairs': {
    exit: 65,
    traits: ['spent-device'],
    summary: 'One start needs more queue pairs from an RDMA device than the device has.',
    cause:
      'A device can create one queue pair and one protection domain fewer than `ibv_devinfo -v` reports (`max_qp`, `max_pd`). Each of two ranks of a `jaccl-ring` needs two from every device it uses, because its previous and its next neighbor are the same Mac. It makes both connections over every cable, so another cable does not help. Restarting a Mac does not increase the limit.',
    hint: 'Remove `backend`: two cabled ranks then use `jaccl`, which needs only one queue pair from each device. A ring of three or more nodes also needs only one, and `backend: ring` with `transport: tcp` needs none.',
  },
  'placement/gid-index': {
    exit: 65,
    summary: "A cable's RDMA device has the GID of its IPv4 address where the runtime never sends from.",
    cause:
      'mlx, and exo with it, always sends from index 1 of the GID table, although it looks for the IPv4-mapped GID at every index to tell its peer (mlx 0.32.2, jaccl/rdma.cpp). Some Mac minis have it at index 2, and every start failed there with RTR errno 22 (mlx pull request 3389). Nothing is known that moves a GID. llama.cpp sends from the index that it finds (ggml-rpc/transport-apple.cpp).',
    hint: 'No cure is known. Set `transport: tcp` for this placement, or use a runtime with `driver: llamacpp-rpc`, which can send from any index.',
  },
  'placement/bridged-link': {
    exit: 65,
    summary: 'The file keeps a bridge that contains a cable between ranks.',
    cause: 'With `thunderbolt.bridge: keep`, receptacles get no addresses, which ranks need over TCP and RDMA.',
    hint: 'Write `bridge: remove` under `thunderbolt`, or remove the link or the node from the file.',
  },
  'endpoint/clear-text': {
    severity: 'warning',
    summary: "Clients' API keys cross the network unencrypted.",
    cause:
      'The gateway of an endpoint with `listen: lan` uses HTTP. Anyone who can read the network traffic sees keys, prompts and answers, and can use the model with such a key.',
    hint: "Put a TLS proxy in front of the gateway and list the proxy's address in `endpoint.proxies`, or allow only trusted computers on this network.",
  },
  'endpoint/closed': {
    severity: 'warning',
    traits: ['closed-gateway'],
    summary: 'The gateway of a serving placement is closed.',
    cause:
      'Either `drain` closed it, or a start failed before it could open it. The mesh keeps running, but clients on the office network get status 503 with the reason. `ask` and `bench` bypass the gateway.',
    hint: prose`Open it: ${meshwright('start')}, or ${aside(meshwright('apply'))}`,
  },
  'endpoint/not-asked': {
    severity: 'warning',
    traits: ['unasked-gateway'],
    summary: 'A Mac could not be asked about a gateway that has to be closed.',
    cause:
      "An unreachable Mac keeps its gateway's state, even through a restart. If the gateway was open, it admits clients as soon as they reach that Mac. So the drain is not complete, even if all other gateways are closed.",
    hint: 'Bring the Mac back, then run the drain again.',
  },
  'endpoint/nothing-to-close': {
    exit: 64,
    summary: 'This placement has no gateway to close.',
    cause: 'Only a published endpoint has a gateway. An unpublished one is the runtime, which keeps answering.',
    hint: prose`Stop the placement: ${meshwright('stop')}`,
  },
  'endpoint/still-in-flight': {
    summary: 'Requests are still in flight after the drain deadline.',
    cause:
      'The gateway is closed to new requests, but some requests that it admitted earlier have no complete answer yet. None of them are cut off: the mesh keeps running.',
    hint: prose`Wait longer: ${meshwright('drain', its.placement, '--deadline', '10m')}. Stopping or restarting the placement now would cut them off.`,
  },
  'cables/in-use': {
    exit: 5,
    summary: 'A placement uses a Mac whose cables are to be measured.',
    cause:
      'A measurement fills the cables and takes a protection domain and a queue pair of each device. This slows or endangers a placement on the same Macs. A placement that cannot be observed counts as running.',
    hint: prose`Stop it first: ${meshwright('stop', its.placement)}`,
  },
  'cables/kernel-unseen': {
    exit: 5,
    summary: "A Mac's RDMA objects cannot be counted, so its cables are not measured.",
    cause:
      'meshwright counts the protection domains and queue pairs in the kernel before and after each measurement, to notice if one is left behind. Without the first count it measures nothing.',
    hint: prose`See why they could not be counted: ${meshwright('doctor', its.node)}`,
  },
  'cables/no-reserve': {
    exit: 5,
    summary: "A Mac's RDMA devices have no room for two more starts, so its cables are not measured.",
    cause:
      'A measurement needs a protection domain and a queue pair. It gives them back, but a driver that hangs may keep them until the Mac restarts, and placements must still be able to start.',
    hint: prose`Restart the Mac first: ${meshwright('reboot', its.node)}`,
  },
  'cables/probe-differs': {
    exit: 5,
    summary: 'The verbs library and `ibv_devinfo` describe the RDMA devices of a Mac differently.',
    cause:
      'Before it measures, meshwright reads the devices from the library itself and compares them with `ibv_devinfo -v`. If a macOS update changes the layout of the library, its values are wrong, and a measurement could crash or mislead. A device that changed in between also differs.',
    hint: prose`Try again. If the difference stays, please open an issue with the output of ${meshwright('facts', its.node, '--fact', 'rdma-ports,macos-version')}`,
  },
  'cables/objects-left': {
    summary: 'A measurement left RDMA objects in the kernel.',
    cause:
      'The kernel counts more or fewer protection domains or queue pairs than before the measurement. Either the driver did not take one back, or another program used RDMA in the meantime.',
    hint: prose`See which process has them: ${meshwright('doctor', its.node)}. If none has, a restart frees them: ${meshwright('reboot', its.node)}`,
  },
  'cables/objects-unseen': {
    severity: 'warning',
    summary: 'Cannot tell whether a measurement left RDMA objects in the kernel.',
    cause: 'The objects were counted before the measurement, but could not be counted after it.',
    hint: prose`Count them again: ${meshwright('facts', its.node, '--fact', 'rdma-objects')}`,
  },
  'cables/measured-dead': {
    severity: 'warning',
    summary: 'In its last measurement, a cable carried nothing.',
    cause:
      'Neither RDMA nor TCP got from one end to the other, although both ends see each other. The cable may be broken, or a port may have stopped working until both Macs restart (exo issue 1973).',
    hint: prose`Replug the cable or replace it, then measure again: ${aside(meshwright('cables', '--measure'))}`,
  },
  'cables/measured-slow': {
    severity: 'warning',
    traits: ['unplugs'],
    summary: 'In its last measurement, a cable was slow.',
    cause:
      'RDMA had less than half the rate or more than four times the latency of the other cables, or of what is published for such Macs. A damaged or passive long cable, or a plug that is not fully inserted, does that.',
    hint: prose`Replug the cable or replace it, then measure again: ${aside(meshwright('cables', '--measure'))}`,
  },
  'cables/measured-tcp-only': {
    severity: 'warning',
    summary: 'In its last measurement, a cable carried TCP but no RDMA.',
    cause:
      'The RDMA ports of both ends are active, but no message arrives, or the connection cannot be made. Ports that were idle for a long time can stop working until both Macs restart (exo issue 1973).',
    hint: prose`Restart the Macs at both ends, then measure again: ${aside(meshwright('cables', '--measure'))}`,
  },
  'cables/measured-wrong': {
    severity: 'warning',
    traits: ['unplugs'],
    summary: 'In its last measurement, a cable delivered wrong bytes.',
    cause:
      'Messages with a known content arrived changed. An unreliable RDMA connection has no checksum of its own, so a model that runs over this cable can give wrong answers.',
    hint: prose`Do not use this cable. Replace it, then measure again: ${aside(meshwright('cables', '--measure'))}`,
  },
  ...withExit(5, launchCodes),
  'launch/not-seen': {
    summary: 'The devices or addresses that the ranks connect over were not observed.',
    cause:
      '`launch` chooses the group based on the cables in the file. With a cable between every pair of nodes, the group uses RDMA, with device names that macOS may change. An unobserved device does not count as missing.',
    hint: prose`See why it was not observed: ${meshwright('doctor')}. Then launch again.`,
  },
  'mesh/launch-budget': {
    traits: ['spent-device'],
    summary: "A Mac's RDMA devices have no room for another start.",
    cause:
      'A device has few protection domains and queue pairs: as many as `ibv_devinfo -v` reports, or else three. A failed start over RDMA can leave some of them allocated until the Mac restarts (seen on macOS 26.5.1). meshwright reads the number in use from the kernel. If it cannot, it counts starts: each counts until its placement has served and stopped cleanly.',
    hint: prose`Restart the named Macs: ${meshwright('reboot')}. To start anyway: \`--allow rdma-start\``,
  },
  'mesh/last-start': {
    severity: 'warning',
    summary: 'A Mac has room for only one more start over RDMA.',
    cause:
      'Resources that failed starts left in the RDMA devices stay allocated until the Mac restarts (`mesh/launch-budget`). The running placement also takes up room for one start until it stops. If the next start fails, the Mac must restart before another start.',
    hint: 'Nothing to do while it serves. Restart the named Macs at a convenient time, before a start that must succeed.',
  },
  'mesh/stays-on-tcp': {
    summary: 'After a restart, a placement is running over TCP again.',
    cause:
      "The file sets `transport: rdma`, but the ranks use TCP. They also used it before the last restart in this boot session, with the same file. Another restart would give the same result, interrupt requests in flight and use up one more start of the launch budget. If a log line gives the reason, it is quoted. llama.cpp logs no reason if no RDMA device has the connection's address.",
    hint: prose`Fix the RDMA problems that \`doctor\` lists, then restart the placement's Macs: ${meshwright('reboot')}. Or write \`transport: tcp\`. To try another start anyway: ${meshwright('restart')}`,
  },
  'mesh/not-serving': {
    summary: 'A placement in the file does not serve.',
    cause:
      'A placement serves if all its ranks run, come from one start and match the file, and its endpoint returned a token during the check. A placement that meets only some of these conditions does not count as serving.',
    hint: prose`Start it: ${meshwright('apply')}`,
  },
  'mesh/rank-suspended': {
    summary: 'A signal has suspended a rank, so its placement does not answer.',
    cause:
      'The process state in `ps` is `T`. SIGSTOP does that (`kill -STOP`, or a debugger). The rank keeps its memory and its connections, but computes nothing, and the other ranks wait for it without a limit. SIGCONT resumes all of them (mlx issue 3910). The cables are not the cause.',
    hint: prose`Resume its processes on that Mac with \`sudo kill -CONT PID\`, or start it again: ${meshwright('restart')}`,
  },
  'mesh/instance-missing': {
    summary: "All ranks of a placement run, but its runtime has dropped the placement's instance.",
    cause:
      'exo deletes the instance of a node that was silent for 30 s, for example because a signal had suspended exo there, and forgets it when its master changes. Its processes run on, and every request gets status 404 ("No instance found for model"). The cables are not the cause.',
    hint: prose`Start the placement again: ${meshwright('restart')}`,
  },
  'mesh/not-stopped': {
    summary: 'A placement runs although the file sets `state: stopped`.',
    cause: 'At least one of its ranks has a running process.',
    hint: prose`Stop it: ${meshwright('apply')}`,
  },
  'mesh/orphaned-rank': {
    summary: 'A node has an orphaned rank.',
    cause: 'The placement was removed from the file or moved to other nodes, and the change has not been applied yet.',
    hint: prose`Remove the rank: ${meshwright('apply')}`,
  },
  'mesh/on-fallback': {
    severity: 'notice',
    summary: 'A placement runs on its fallback.',
    cause:
      'It was started there with `start --fallback`, because its own nodes could not run it. It keeps running there, but once all of its own nodes can run it, the next plan moves it back.',
    hint: prose`Once its own nodes are healthy: ${meshwright('apply', '--allow', 'interrupt')}`,
  },
  'mesh/fallback-there': {
    severity: 'notice',
    traits: ['fallback'],
    summary: 'A placement that does not serve could run on its fallback.',
    cause:
      'The file sets fallback nodes, and all of them were observed. `apply` keeps the runtime and the model on them; if one is missing, the plan of the start waits for it. meshwright never moves a placement to its fallback automatically: you decide whether to accept less context now or to wait longer.',
    hint: prose`Start it on the fallback: ${meshwright('start', its.name, '--fallback')}`,
  },
  'mesh/not-judged': {
    severity: 'warning',
    summary: 'Cannot tell whether a placement matches the file.',
    cause: 'Its nodes answered, but it was just starting, so nothing asked for a token, or the lock lacks a digest.',
    hint: prose`Check again in a minute. If the warning remains: ${meshwright('plan')}`,
  },
} as const satisfies Record<string, CodeEntry>;
