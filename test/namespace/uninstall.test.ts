import { expect, it } from 'vitest';
import { nodeName } from '../../src/model/node.ts';
import { shared } from '../rack/kept-running.ts';
import { connect, run } from '../rack/running.ts';
import { first, pairFile, second } from '../scenarios/converge-file.ts';
import { leftIn, patience } from '../scenarios/converge-rack.ts';
import { startNamespaceRack } from './rack.ts';

const rack = shared(() => startNamespaceRack('namespace'));

const nodes = [first, second];
// On Linux, the first sudo creates this mark.
const look =
  "cd / && find 'Library/Application Support' Library/LaunchDaemons opt etc/sudoers.d Users ! -name .sudo_as_admin_successful | sort";

/** Prints the settings, network services and launchd services of a Mac with the Mac's tools. */
const ask = [
  '/usr/bin/pmset -g custom',
  '/usr/sbin/sysctl -n iogpu.wired_limit_mb',
  '/usr/bin/mdutil -a -s',
  '/usr/sbin/networksetup -listnetworkserviceorder',
  '/usr/bin/plutil -extract VirtualNetworkInterfaces.Bridge json -o - /Library/Preferences/SystemConfiguration/preferences.plist',
  '/bin/launchctl print system/dev.meshwright.keeper',
].join('; ');

/** The output of a command on a Mac, run by the ssh user. */
async function outputOf(node: string, words: string): Promise<string> {
  const client = await connect(rack.fleet(), node);
  const { stdout, stderr } = await run(client, `{ ${words}; } 2>&1`);
  client.end();
  return stdout + stderr;
}
/** The files and folders of meshwright and of the Mac's owner. */
const files = (): Promise<readonly string[]> => Promise.all(nodes.map((node) => outputOf(node, look)));
const settings = (): Promise<readonly string[]> => Promise.all(nodes.map((node) => outputOf(node, ask)));

/** The processes of meshwright's accounts, by user number. */
const ofRanks = async (): Promise<string> =>
  (await rack.asRoot(first, "/bin/ps -ax -o uid= -o pid= | awk '$1 >= 450 && $1 <= 499'")).stdout;

it(
  'uninstall leaves nothing on Macs with separate file systems and sshds',
  async () => {
    const [before, settingsBefore] = [await files(), await settings()];
    expect(settingsBefore.every((text) => text.startsWith('AC Power:') && text.includes('\n(1) '))).toBe(true);
    await rack.converge();
    expect(await files()).not.toEqual(before);
    expect(await settings()).not.toEqual(settingsBefore);
    // The command itself changes the file like this: no placement, link or keeper remains on these Macs.
    await rack.declare(
      pairFile((file) => {
        for (const key of ['runtimes', 'models', 'placements']) delete file[key];
        Object.assign(file['thunderbolt'] as object, { links: [] });
        Object.assign(file['system'] as object, { keeper: 'none' });
      }),
    );
    const goal = {
      kind: 'uninstall',
      nodes: nodes.map(nodeName),
      placements: [],
      restore: true,
      models: true,
    } as const;
    // For example, a shell left by a rank must not outlive its account.
    const started = await rack.asRoot(first, 'sudo -n -H -u _meshrank sh -c "sleep 600 >/dev/null 2>&1 &"');
    expect(started.stderr).toBe('');
    expect(await ofRanks()).not.toBe('');
    const { report, after } = await rack.apply({ goal });
    expect(await ofRanks()).toBe('');
    expect([report?.diagnostics, leftIn(after)]).toEqual([[], []]);
    // These Macs were enrolled when they were created.
    const without = before.map((text) => text.replace('etc/sudoers.d/meshwright\n', ''));
    expect(without.every((text) => text.includes('Library/LaunchDaemons'))).toBe(true);
    expect(await files()).toEqual(without);
    expect(await settings()).toEqual(settingsBefore);
  },
  patience,
);
