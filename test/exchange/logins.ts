import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeKeyPair } from '../../src/remote/keys/exchange-key.ts';
import { ensurePrivsepFolder, sshdConfig, sshdPath } from '../sshd/start-sshd.ts';
import { switchAddress } from './cables.ts';
import type { Mac } from './mac.ts';

const tunnel = join(import.meta.dirname, '../../src/rack/artifacts/peers/tunnel.pl');
const port = 22;

/** Gives each Mac an sshd, and lets all of them log in to each other as `apply` does. The account is root. */
export function openLogins(macs: readonly Mac[]): void {
  ensurePrivsepFolder();
  const { privateKey, publicKey } = makeKeyPair();
  const all = macs.map((mac) => ({
    mac,
    name: mac.plan.self,
    address: switchAddress(mac.plan.self),
    host: makeKeyPair(),
  }));
  const hosts = all.map(({ name, host }) => `${name} ${host.publicKey}\n`);
  const peers = all.map(({ name, address }) => `${name} root ${address} ${port}\n`);
  for (const { mac, address, host } of all) {
    const folder = mac.own('../../sshd');
    const hostKey = join(folder, 'host');
    mkdirSync(folder);
    writeFileSync(hostKey, host.privateKey, { mode: 0o600 });
    const line = `restrict,command="/usr/bin/perl '${tunnel}' ${mac.plan.port}" ${publicKey}\n`;
    writeFileSync(join(folder, 'authorized_keys'), line);
    writeFileSync(join(folder, 'config'), sshdConfig(folder, port, [hostKey], [`ListenAddress ${address}`]));
    mac.shell(`exec ${sshdPath} -D -E '${folder}/log' -f '${folder}/config'`);
    writeFileSync(mac.own('../ssh-key'), privateKey, { mode: 0o600 });
    writeFileSync(mac.own('../ssh-hosts'), hosts.join(''));
    writeFileSync(mac.own('../ssh-peers'), peers.join(''));
  }
}
