import { atOnce, type ListedVerb } from './verb.ts';

/** Verbs that only look, in the order of the help. */
export const lookVerbs: readonly ListedVerb[] = [
  {
    name: 'status',
    summary: 'placements and Macs in a table, and what is wrong',
    words: '[node...]',
    uses: atOnce,
    more: `A placement serves when it gave a token while it was looked at. One that does
not, and should, is wrong on every node of it; one of which only some nodes are
looked at is not judged.
Exit 0: no error; there may be warnings. 3: what is left is work for hands at
the rack. 4: some nodes are wrong or were not observed. 1: all of them.`,
    load: async () => (await import('./look/status.ts')).status,
  },
  {
    name: 'doctor',
    summary: 'what is broken: one cause, one action, the evidence',
    words: '[node...]',
    uses: atOnce,
    more: `In the order of repair: one visit to each Mac for RDMA, no cable before
the bridges are gone. What follows from a cause stands below it.
Exit 0: no error. 3: what is left is work for hands at the rack. 4: some nodes
are wrong or were not observed. 1: all of them.`,
    load: async () => (await import('./look/status.ts')).doctor,
  },
  {
    name: 'drift',
    summary: 'whether nodes are as the file says, briefly',
    words: '[node...]',
    uses: atOnce,
    more: `For a job that runs every night.
Exit 0: all as the file says. 2: changes are pending. 3: only hands are missing.
4: some nodes could not be judged. 1: none could.`,
    load: async () => (await import('./plan/plan.ts')).drift,
  },
  {
    name: 'facts',
    summary: 'every fact of every node, known or unknown',
    words: '[node...]',
    uses: atOnce,
    options: [{ flags: '--fact <names>', text: 'only these facts, with commas' }],
    more: `One connection and one exec per node. A fact that is unknown says why; unknown
is never no.
Exit 0: every node was observed. 1: none. 4: some. 3: the others are locked at
FileVault.

Examples:
  meshwright facts studio-2
  meshwright facts --fact thunderbolt,rdma-ports
  meshwright facts --json | jq '.nodes[]."rdma-state"'`,
    load: async () => (await import('./look/facts.ts')).facts,
  },
  {
    name: 'logs',
    summary: 'what ranks have printed last',
    words: '[placement|node...]',
    uses: ['file', 'reach', 'json', 'parallel'],
    options: [
      { flags: '--lines <count>', text: 'of each rank, up to 9999; 40 unless given' },
      { flags: '--follow', text: 'go on with what they print from now on, until Ctrl-C' },
    ],
    more: `Without words: the ranks of all placements.
A node stands for all that runs there. One that belongs to a fallback alone, or
whose placement is on its fallback, shows what it keeps of an earlier start.
With --follow a log that is not there yet is waited for, one that begins anew is
read from its beginning, and a node that is lost is named and tried again.
Exit 0: every log was read. 4: some. 1: none. 130: --follow was interrupted.

Examples:
  meshwright logs kimi
  meshwright logs kimi --follow
  meshwright logs studio-3 --lines 200`,
    load: async () => (await import('./ranks/logs.ts')).logs,
  },
  {
    name: 'cables',
    summary: 'cables declared and seen, and what to move',
    uses: ['file', 'reach', 'json', 'parallel'],
    options: [
      { flags: '--watch', text: 'guide the hands live, until every link is as declared' },
      { flags: '--identify', text: 'say which receptacle was just plugged, until Ctrl-C' },
    ],
    more: `Each cable with its two receptacles, its speed and how it is. Moves are in an
order in which every receptacle is free when its cable comes. A cable over which
a placement runs has to wait until that is stopped; none is plugged in before
the Thunderbolt Bridges are gone.
--watch tells the next act, what was plugged in wrongly and what is right now,
whatever hands do in whatever order; --json then tells the last look.
--identify needs no links in the file.
Exit 0: all links are as declared. 3: hands are needed. 4: some cables could not
be judged, or are beyond hands. 1: no node was seen. 130: it was interrupted.

Examples:
  meshwright cables
  meshwright cables --watch
  meshwright cables --identify`,
    load: async () => (await import('./look/cables.ts')).cables,
  },
  {
    name: 'graph',
    summary: 'the rack as SVG or DOT, with what is wrong in it',
    uses: ['file', 'reach', 'json', 'parallel'],
    options: [
      { flags: '--format <format>', text: 'svg, or dot for graphviz; else as the file is named, else svg' },
      { flags: '--out <file>', text: 'into this file instead of standard output' },
      { flags: '--declared', text: 'the file alone: no node is asked' },
    ],
    more: `Declared and seen cables at once. What is wrong is red and says so in words, and
what hands have to do is written on the cable. SVG is not shown on a terminal:
name a file or a pipe. It needs nothing beside it and follows light and dark.
Receptacles have the numbers that macOS prints; where one is on the case stands
beside it as far as anybody knows.
Exit 0: drawn, and every node was observed. 1: none was. 4: some. 3: the others
are locked at FileVault.

Examples:
  meshwright graph --out rack.svg
  meshwright graph --declared >wish.svg
  meshwright graph --format dot | dot -Tpng >rack.png`,
    load: async () => (await import('./look/graph.ts')).graph,
  },
  {
    name: 'bench',
    summary: 'how fast a placement answers, alone and under load',
    words: '[placement]',
    uses: ['file', 'reach', 'json'],
    options: [
      {
        flags: '--requests <counts>',
        text: 'how many at once, with commas, each up to 8; else of 1,2,4 what `parallel` allows',
      },
      { flags: '--runs <count>', text: 'of each of them; 3 unless given' },
      { flags: '--max-tokens <count>', text: 'of each answer; 128 unless given' },
      { flags: '--words <count>', text: 'of each question, about; 400 unless given, as far as the context allows' },
    ],
    more: `The only placement of the file needs no name.
Asks the endpoint over SSH, on the leader itself, after one request to warm up;
clients that use it meanwhile are slowed down. Every question begins with other
words, so that no cache answers. Beside the medians stands what others have
published for the same model on as many Macs. Watts are there where powermetrics
may run.
Exit 0: every request was answered. 4: some. 1: none; it says why.

Examples:
  meshwright bench kimi
  meshwright bench kimi --requests 1,8 --max-tokens 512 --deadline 5m`,
    load: async () => (await import('./bench/bench.ts')).bench,
  },
  {
    name: 'history',
    summary: 'what was done to the nodes, when and by whom',
    words: '[node...|run...]',
    uses: atOnce,
    options: [{ flags: '--last <count>', text: 'so many runs, newest first; 20 unless given' }],
    more: `From the journals of this controller and from what every node has kept.
Counts are properties, as apply counts them. With the name of a run: each of
its changes, from and to. Nodes keep steps only, so a run whose journal is not
here has no changes.
Exit 0: every node was asked. 4: some. 1: none.`,
    load: async () => (await import('./look/history.ts')).history,
  },
];
