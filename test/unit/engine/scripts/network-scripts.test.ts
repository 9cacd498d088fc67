import { describe, expect, it } from 'vitest';
import type { ScriptCall } from '../../../../src/model/node-script.ts';
import { changed, type MacRoot, makeMacRoot, ours, run, unchanged } from './mac-root.ts';
import { removedAfter } from './node-root.ts';
import { scriptShells } from './shells.ts';

const newRoot = removedAfter(makeMacRoot);
/** The calls that changed the node, without those that only read. */
const writes = (root: MacRoot, reads: RegExp): readonly string[] => root.calls().filter((call) => !reads.test(call));

describe.each(scriptShells)('order-services in $name', (shell) => {
  const call: ScriptCall = { name: 'order-services', args: { last: ['en2', 'en3', 'bridge0'] } };
  const listing = [
    ['Thunderbolt 1', 'Thunderbolt 1', 'en2', '1'],
    ['Ana\'s "office" $(reboot)', 'Ethernet', 'en0', '2'],
    ['(en3) Cluster', 'Thunderbolt 2', 'en3', '*'],
    ['Wi-Fi', 'Wi-Fi', 'en1', '4'],
    ['Tailscale', 'io.tailscale.ipn.macsys', '', '5'],
  ] as const;
  const text = (at: readonly number[]): string =>
    at
      .flatMap((index, place) => {
        const [name, port, device, mark] = listing[index] ?? [];
        return [`(${mark === '*' ? '*' : place + 1}) ${name}`, `(Hardware Port: ${port}, Device: ${device})`, ''];
      })
      .join('\n');
  /** Accepts an order only if the number of names equals the number of services, and stores its arguments. */
  const networksetup = (wanted: readonly number[]): string => `case $1 in
(-listnetworkserviceorder) printf 'An asterisk (*) denotes that a network service is disabled.\\n'
  if [ -e "$R/../ordered" ]; then /bin/cat "$R/../after"; else /bin/cat "$R/../before"; fi ;;
(-ordernetworkservices) shift
  [ $# -eq ${wanted.length} ] || { printf 'Wrong number of network services... No changes have been made.\\n** Error: The parameters were not valid.\\n'; exit 4; }
  printf '%s\\n' "$@" >"$R/../ordered" ;;
esac`;

  it('moves the given services to the end and keeps the others in order', async () => {
    const root = newRoot(shell);
    const wanted = [1, 3, 4, 0, 2];
    root.file('../before', text([0, 1, 2, 3, 4]));
    root.file('../after', text(wanted));
    root.recorded('usr/sbin/networksetup', networksetup(wanted));
    expect(await run(root, call)).toEqual(changed);
    expect(root.read('../ordered').trimEnd().split('\n')).toEqual(wanted.map((at) => listing[at]?.[0]));
    expect(await run(root, call)).toEqual(unchanged);
  });

  it('fails when networksetup refuses the order or shows a different one', async () => {
    const root = newRoot(shell);
    root.file('../before', text([0, 1, 2, 3, 4]));
    root.file('../after', text([0, 1, 2, 3, 4]));
    root.recorded('usr/sbin/networksetup', networksetup([0]));
    expect(await run(root, call)).toMatchObject({ kind: 'failed', slug: 'networksetup' });
    root.recorded('usr/sbin/networksetup', networksetup([0, 1, 2, 3, 4]));
    expect(await run(root, call)).toMatchObject({
      slug: 'networksetup',
      text: expect.stringContaining('did not change'),
    });
  });
});

describe.each(scriptShells)('stop-daemon in $name', (shell) => {
  const label = 'io.exo.networksetup';
  const plist = `Library/LaunchDaemons/${label}.plist`;
  const call = (remove: boolean): ScriptCall => ({ name: 'stop-daemon', args: { label, remove } });
  const launchctl = `s="$R/../state"
case "$1 $2" in
('print system/${label}') [ -e "$s-loaded" ] || { printf 'Bad request.\\nCould not find service "${label}" in domain for system\\n' >&2; exit 113; }
  printf 'system/${label} = {\\n\\tstate = not running\\n}\\n' ;;
('bootout system/${label}') /bin/rm "$s-loaded" ;;
('disable system/${label}') : >"$s-disabled" ;;
('print-disabled system') printf 'disabled services = {\\n\\t"com.openssh.sshd" => disabled\\n'
  [ ! -e "$s-disabled" ] || printf '\\t"${label}" => disabled\\n'
  printf '}\\n' ;;
(*) exit 64 ;;
esac`;
  const withDaemon = (): MacRoot => {
    const root = newRoot(shell);
    root.file('../state-loaded', '');
    root.file(plist, 'the plist of exo');
    root.recorded('bin/launchctl', launchctl);
    return root;
  };

  it('unloads and disables a foreign daemon, and records its previous state', async () => {
    const root = withDaemon();
    expect(await run(root, call(false))).toEqual(changed);
    expect(writes(root, /print/)).toEqual([`launchctl bootout system/${label}`, `launchctl disable system/${label}`]);
    expect(root.read(plist)).toBe('the plist of exo');
    expect(root.read(`${ours}/foreign/${label}`)).toBe('was=loaded\n');
    expect(await run(root, call(false))).toEqual(unchanged);
  });

  it('moves the plist out of LaunchDaemons and keeps a copy', async () => {
    const root = withDaemon();
    expect(await run(root, call(false))).toEqual(changed);
    expect(await run(root, call(true))).toEqual(changed);
    expect(root.read(`${ours}/foreign/${label}.plist`)).toBe('the plist of exo');
    expect(() => root.read(plist)).toThrow(/ENOENT/);
    expect(root.read(`${ours}/foreign/${label}`)).toBe('was=loaded\n');
    expect(await run(root, call(true))).toEqual(unchanged);
  });

  it('fails when launchd still has the daemon or its state is unknown', async () => {
    const root = withDaemon();
    root.recorded('bin/launchctl', launchctl.replace(': >"$s-disabled"', ':'));
    expect(await run(root, call(false))).toMatchObject({ kind: 'failed', slug: 'launchctl' });
    root.recorded('bin/launchctl', launchctl.replace('exit 113', 'exit 1').replace('Could not find', 'Who knows'));
    expect(await run(root, call(false))).toMatchObject({ kind: 'failed', slug: 'launchctl' });
  });
});
