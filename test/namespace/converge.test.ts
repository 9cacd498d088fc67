import { beforeAll, describe, expect, it } from 'vitest';
import { shared } from '../rack/kept-running.ts';
import { eventually } from '../rack/running.ts';
import { first, pairFile, second, withEverySetting } from '../scenarios/converge-file.ts';
import { changesIn, expectNothingToDo, leftIn, patience } from '../scenarios/converge-rack.ts';
import { startNamespaceRack } from './rack.ts';

/** The opposite of every setting in the file. */
const otherSettings = `set -e
defaults delete /Library/Preferences/com.apple.SoftwareUpdate AutomaticallyInstallMacOSUpdates
for name in ComputerName LocalHostName HostName; do scutil --set $name other; done
launchctl enable system/com.apple.screensharing
launchctl bootstrap system /System/Library/LaunchDaemons/com.apple.screensharing.plist
/usr/libexec/ApplicationFirewall/socketfilterfw --setglobalstate on`;

const file = pairFile(withEverySetting);
const rack = shared(() => startNamespaceRack('namespace', file));
beforeAll(async () => {
  await rack.behindOurBack(async (fleet) => {
    for (const node of [first, second]) {
      for (const fault of ['power-wrong', 'bridge-active']) await fleet.setFault([fault, node]);
      await rack.asRoot(node, '"$R/usr/sbin/sysctl" iogpu.wired_limit_mb=0');
      await rack.asRoot(node, otherSettings);
    }
    // If the clocks of all Macs were wrong, this computer's clock would seem wrong.
    await fleet.setFault(['clock-skew', second]);
  });
});

/** Asks the placement for an answer and returns the HTTP status. */
async function askForToken(): Promise<string> {
  const body = JSON.stringify({ messages: [{ role: 'user', content: 'hello' }], max_tokens: 1 });
  const ran = await rack.asRoot(
    first,
    `printf %s '${body}' | /usr/bin/curl -q -s -m 20 -o /dev/null -H 'Content-Type: application/json' --data-binary @- -w '%{http_code}' http://127.0.0.1:8080/v1/chat/completions`,
  );
  return ran.stdout;
}

/** The number of bytes that the interface of a cable received. */
async function receivedBytes(node: string, device: string): Promise<number> {
  const { stdout } = await rack.asRoot(node, '/bin/cat /proc/net/dev');
  return Number(new RegExp(`${device}: *(\\d+)`).exec(stdout)?.[1] ?? '');
}

describe('apply to Macs in namespaces', { timeout: patience }, () => {
  it('makes two unconfigured Macs match the file and produce a token over the cable', async () => {
    const { plan, report } = await rack.converge();
    expect(changesIn(plan)).toEqual(
      expect.arrayContaining([`${first} link-address/4/live`, `${second} model/tiny`, `${first} placement/chat`]),
    );
    const settings = [
      'updates',
      'names/computer',
      'names/bonjour',
      'names/host',
      'clock',
      'screen-sharing',
      'firewall',
    ];
    expect(changesIn(plan)).toEqual(expect.arrayContaining(settings.map((one) => `${second} ${one}`)));
    expect([report?.diagnostics, report?.refusals]).toEqual([[], []]);
    expect(rack.fleet().processes()).toHaveLength(2);
  });

  it('starts ranks that connect only over the cable and give no answer while it is unplugged', async () => {
    const before = await receivedBytes(second, 'en3');
    expect(await askForToken()).toBe('200');
    expect(await receivedBytes(second, 'en3')).toBeGreaterThan(before);
    await rack.behindOurBack(async (fleet) => {
      await fleet.setFault(['cable-missing', `${first}:4`]);
      expect(await eventually(async () => (await askForToken()) === '503')).toBe(true);
      await fleet.clearFault([]);
      // The Macs must find each other again.
      expect(await eventually(async () => (await askForToken()) === '200')).toBe(true);
    });
  });

  it('starts ranks that run as the account created for them', async () => {
    for (const node of [first, second]) {
      const { stdout } = await rack.asRoot(node, '/usr/bin/id -u _meshrank; /bin/ps -Aww -o uid= -o command=');
      const [number = '', ...processes] = stdout.trim().split('\n');
      const ranks = processes.filter((line) => line.includes('/opt/meshwright/runtimes/'));
      expect(ranks.map((line) => line.trim().split(' ')[0])).toEqual([number]);
    }
  });

  it('needs no steps the second time, takes no lease, and observes each Mac once', () => expectNothingToDo(rack));

  it('restores the settings that a restart of every Mac undoes, on the same disks', async () => {
    await rack.restart();
    const { plan } = await rack.converge();
    // The keeper has already restored everything else.
    expect(changesIn(plan)).toEqual([`${first} placement/chat`]);
    expect(rack.fleet().processes()).toHaveLength(2);
    expect(leftIn(await rack.plan())).toEqual([]);
  });
});
