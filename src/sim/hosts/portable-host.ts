import { join } from 'node:path';
import { askClientText } from './ask-client.ts';
import type { FleetHost } from './fleet-host.ts';
import { createLinkTables, nowhere } from './link-table.ts';
import { createPortableNode } from './portable-node.ts';
import { createProcessStarter } from './process-starter.ts';
import { createProcessGroups, startLifeline, sweepMarked } from './processes.ts';
import { createPipeSupply } from './ssh/pipes.ts';

/** Runs anywhere: a folder is the root of a Mac, its ssh server and its cables lie on the loopback interface. */
export const portableHost: FleetHost = {
  open: async ({ runId, folder, nodes: names, userKey, askPath }, watch) => {
    const lifeline = startLifeline(runId);
    const links = createLinkTables(new Map(names.map((name) => [name, join(folder, 'roots', name)])));
    const pipes = await createPipeSupply(join(folder, 'pipes'));
    const groups = createProcessGroups(lifeline);
    const starter = createProcessStarter();
    const askText = askClientText(askPath);
    return {
      createNode: (node) =>
        createPortableNode({
          ...node,
          folder,
          runId,
          askText,
          userKey,
          pipes,
          groups,
          starter,
          watch,
          beforeLoad: (texts) => links.announce(node.name, texts),
        }),
      update: (nodes) => links.update(new Map(nodes.map((node) => [node.name, node.reach() ?? nowhere]))),
      groupCount: groups.count,
      close: async () => {
        groups.killAll();
        await sweepMarked(runId);
        await links.close();
        await pipes.close();
        await starter.close();
        await lifeline.close();
      },
    };
  },
};
