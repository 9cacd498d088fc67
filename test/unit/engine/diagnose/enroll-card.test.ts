import { describe, expect, it } from 'vitest';
import { enrollCard, enrollCardText } from '../../../../src/cli/enroll/enroll.ts';
import { loadCluster } from '../../../../src/engine/load-cluster.ts';
import { onOnePage, say } from '../../one-page.ts';

const mini = (model: string): string =>
  `schema: 1\nname: rack\nnodes:\n  mini: { host: mini.lan, hardware: { model: "${model}" } }\n`;
const pair = (more: string): string => `schema: 1
name: rack
ssh: { user: ana }
nodes:
  studio-1: { host: 10.0.0.1, hardware: { model: "Mac15,14" } }
  studio-2: { host: 10.0.0.2, hardware: { model: "Mac15,14" } }
thunderbolt:
  rdma: required
  addressing: { pool: 10.77.0.0/24 }
  links: ["studio-2:5 <-> studio-1:3", "studio-1:1 <-> studio-2:4"]
${more}`;

describe('the card for a Mac', () => {
  it.each([
    mini('Mac16,10'),
    `${mini('Mac16,10')}system: { fileVault: disabled, automaticLogin: required }\n`,
    `${mini('Mac16,10')}system: { fileVault: enabled, automaticLogin: disabled }\n`,
    `${mini('Mac16,10')}power: { sleep: never, restartAfterPowerLoss: true }\n`,
    `${mini('Mac16,10')}power: { sleep: 10, restartAfterPowerLoss: false }\n`,
    `${mini('Mac17,15')}macos: { version: "26.4" }\n`,
    pair('macos: { version: "26.4" }\n'),
    pair('macos: { version: "27.0" }\n'),
    pair('macos: { accept: ">=26.2 <28" }\n'),
    pair(''),
  ])('matches the settings in cluster file %#', (text) => {
    const { fleet, diagnostics } = loadCluster(text, 'cluster.yaml');
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    if (fleet === undefined) throw new Error('the cluster file is invalid');
    for (const node of fleet.nodes) say(enrollCardText(enrollCard(fleet, node), { columns: 200, isSimulated: false }));
  });
});

onOnePage('enroll-card');
