import { type ListedVerb, ofNodes } from './verb.ts';

/** The commands under "Look", in help order. None of them changes a node. */
export const lookVerbs: readonly ListedVerb[] = [
  {
    name: 'status',
    summary: 'show placements, Macs, and what is wrong',
    ...ofNodes,
    options: [{ flags: '--watch', text: 'show speed, requests, hangs and memory, live, until Ctrl-C' }],
    more: `A placement counts as serving if it produced a token during this check. If it should serve but does not, each of its nodes counts as wrong. A placement is checked only if all of its nodes are selected.
--watch checks every 5 s, and redraws a table on a terminal. Other outputs get one line per change. It requests a token from a placement at most once a minute, and none while the placement's gateway has a request in flight. The gateway counts the requests of clients; without a gateway they are unknown. tokens/s is the speed of the last streamed answer, otherwise that of the last start. --watch cannot be combined with --json.
Exit codes: 0 no errors (warnings are possible), 3 only manual steps at the rack remain, 4 some nodes are wrong or unobserved, 1 all are, 130 --watch was interrupted.`,
    load: async () => (await import('./look/status.ts')).status,
  },
  {
    name: 'doctor',
    summary: 'diagnose faults: cause, repair and evidence',
    ...ofNodes,
    more: `Lists the repairs in the order in which to make them, so that each Mac needs only one visit for RDMA and no cable is plugged in before the bridges are removed. The consequences of each cause are listed below it.
Exit codes: 0 no errors, 3 only manual steps at the rack remain, 4 some nodes are wrong or unobserved, 1 all are.`,
    load: async () => (await import('./look/status.ts')).doctor,
  },
  {
    name: 'drift',
    summary: 'check briefly whether nodes match the file',
    ...ofNodes,
    options: [{ flags: '--format <how>', text: 'text (the default), or markdown: the text of an issue' }],
    more: `For scheduled jobs.
Exit codes: 0 all nodes match the file, 2 changes are pending, 3 only manual steps remain, 4 some nodes could not be checked, 1 none could be checked.`,
    load: async () => (await import('./plan/plan.ts')).drift,
  },
  {
    name: 'wait',
    summary: 'wait until a placement serves, or has stopped',
    words: '<placement> <state>',
    uses: ['file', 'reach', 'json', 'parallel'],
    more: `For scripts. The state is \`serving\` or \`stopped\`. A placement serves if it returned a token, and has stopped if none of its ranks runs. --deadline is how long to wait (default 30s); a check that has begun is always finished. Replicas must all have the state. Changes nothing.
Exit codes: 0 it has the state, 1 it did not have the state in time (the last state and its reason are shown), 130 interrupted.

Examples:
  meshwright wait kimi serving --deadline 10m
  meshwright apply --yes && meshwright wait kimi serving`,
    load: async () => (await import('./look/wait.ts')).wait,
  },
  {
    name: 'facts',
    summary: 'print every fact about nodes, or why it is unknown',
    ...ofNodes,
    options: [{ flags: '--fact <names>', text: 'only these facts (comma-separated)', isList: true }],
    more: `Uses one connection and one exec per node. For an unknown fact, the reason is shown. Unknown never means no.
Exit codes: 0 every node was observed, 4 some were, 1 none was, 3 all except nodes waiting for their FileVault password.

Examples:
  meshwright facts studio-2
  meshwright facts --fact thunderbolt,rdma-ports
  meshwright facts --json | jq '.nodes[]."rdma-state"'`,
    load: async () => (await import('./look/facts.ts')).facts,
  },
  {
    name: 'logs',
    summary: 'show the last log lines of each rank',
    words: '[placement|node...]',
    uses: ['file', 'reach', 'json', 'parallel'],
    options: [
      { flags: '--lines <count>', text: 'lines per rank (default 40, max 9999)' },
      { flags: '--follow', text: 'then print new lines until Ctrl-C' },
    ],
    more: `Without arguments, shows the ranks of all placements. A node name means all ranks on that node. If a placement is not running on a node now, for example on an unused fallback, the log is from an earlier start. --follow waits for logs that do not exist yet, reads a restarted log from its beginning, reports lost nodes and retries them.
Exit codes: 0 every log was read, 4 some were, 1 none was, 130 --follow was interrupted.

Examples:
  meshwright logs kimi
  meshwright logs kimi --follow
  meshwright logs studio-3 --lines 200`,
    load: async () => (await import('./ranks/logs.ts')).logs,
  },
  {
    name: 'cables',
    summary: 'compare cables with the file and show what to move',
    uses: ['file', 'reach', 'json', 'parallel'],
    options: [
      { flags: '--watch', text: 'guide you through the cabling, live, until every link matches the file' },
      { flags: '--identify', text: 'show which receptacle was just plugged in, until Ctrl-C' },
      { flags: '--measure', text: 'measure latency and rate of every declared cable, over RDMA and TCP' },
      { flags: '--seconds <seconds>', text: 'for --measure: time per value (default 1, max 60)' },
    ],
    more: `Shows each cable with its two receptacles, its speed and its state. Moves are listed in an order in which each receptacle is free by the time its cable is needed there. Do not touch a cable that a placement uses before the placement is stopped, and do not plug in a cable before the Thunderbolt Bridges are removed.
--watch shows the next move, wrong connections and correct links. You can work in any order. With --json, it prints only the final state.
--identify needs no links in the file.
--measure uploads a small program to both Macs of each cable, runs it as the account of the ranks, and removes it. It measures one cable after another. It is refused while a placement runs on one of the Macs, or if their RDMA devices have no room for two more starts. Results are recorded, and later shown by \`cables\`.
Exit codes: 0 all links match the file, 3 manual steps are needed, 4 some cables could not be checked or cannot be fixed by hand, 1 no node was observed, 130 interrupted. With --measure: 0 every cable was measured and none is slow, 4 some are slow, dead or not measured, 1 none was measured, 5 refused.

Examples:
  meshwright cables
  meshwright cables --watch
  meshwright cables --measure`,
    load: async () => (await import('./look/cables.ts')).cables,
  },
  {
    name: 'graph',
    summary: 'draw the rack as SVG or DOT and mark what is wrong',
    uses: ['file', 'reach', 'json', 'parallel'],
    options: [
      { flags: '--format <format>', text: 'svg, or dot for Graphviz (default: from the name in --out, or svg)' },
      { flags: '--out <file>', text: 'write to this file instead of standard output' },
      { flags: '--declared', text: 'draw only the cluster file; contact no node' },
    ],
    more: `Draws declared and observed cables in one picture. Faults are red and labeled, and manual steps are shown on the cables. A terminal cannot show SVG, so use --out or a pipe. The SVG is self-contained and follows light and dark mode. Receptacles are shown with the numbers that macOS prints and, if known, their positions on the case.
Exit codes: 0 every node was observed, 4 some were, 1 none was, 3 all except nodes waiting for their FileVault password.

Examples:
  meshwright graph --out rack.svg
  meshwright graph --declared >desired.svg
  meshwright graph --format dot | dot -Tpng >rack.png`,
    load: async () => (await import('./look/graph.ts')).graph,
  },
  {
    name: 'bench',
    summary: 'measure how fast a placement or the cables are',
    words: '[placement]',
    uses: ['file', 'reach', 'json'],
    options: [
      {
        flags: '--requests <counts>',
        text: 'numbers of parallel requests, comma-separated, each at most 8 (default 1,2,4 up to `parallel`)',
        isList: true,
      },
      { flags: '--runs <count>', text: 'runs for each count in --requests (default 3)' },
      { flags: '--max-tokens <count>', text: 'maximum length of each answer (default 128)' },
      { flags: '--words <count>', text: 'approximate words per question (default 400, less for a short context)' },
      { flags: '--cables', text: 'measure the cables instead of a placement' },
      { flags: '--seconds <seconds>', text: 'for --cables: time per value (default 1, max 60)' },
      { flags: '--out <file>', text: 'for --cables: also draw the rack with the results, as SVG' },
    ],
    more: `If the file has only one placement, its name can be omitted. Sends one warm-up request and then the measured requests over SSH to the endpoint on the leader. During this time, other clients get slower answers. Every question begins with different words, so that no cache can answer it. The medians are shown next to published results for the same model on the same number of Macs. Power use is shown if powermetrics is allowed to run.
--cables measures like \`cables --measure\` and prints a table to publish: latency and rate of each cable, RDMA beside TCP.
Exit codes: 0 every request was answered, 4 some were, 1 none was (the reason is shown). With --cables: as for \`cables --measure\`.

Examples:
  meshwright bench kimi
  meshwright bench kimi --requests 1,8 --max-tokens 512 --deadline 5m
  meshwright bench --cables --out rack.svg`,
    load: async () => (await import('./bench/bench.ts')).bench,
  },
  {
    name: 'history',
    summary: 'list past runs: what changed, when and by whom',
    ...ofNodes,
    words: '[node...|run...]',
    options: [{ flags: '--last <count>', text: 'number of runs, newest first (default 20)' }],
    more: `Combines this controller's journals with the records on the nodes. Counts changed properties, as apply does. With the name of a run, lists each change that the run made, with its old and new value. Nodes record only steps, so runs from other controllers are shown without their changes.
Exit codes: 0 every node was reached, 4 some were, 1 none was.`,
    load: async () => (await import('./look/history.ts')).history,
  },
];
