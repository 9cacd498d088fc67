import { endAddresses } from '../../desired/addresses.ts';
import { withCommands } from '../../diagnostics/prose-text.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { Facts } from '../../model/facts/fact-values.ts';
import { type LinkEnd, linkEndText } from '../../model/node.ts';
import { meshwright } from '../../model/text/command.ts';
import { joinProse, named, type Prose, prose } from '../../model/text/prose.ts';
import { read } from '../fact.ts';
import { adoptedDaemon } from '../foreign-daemon/adopted-daemon.ts';
import { serviceOfDevice } from '../network/services.ts';
import { networkServicesFact } from '../network/services-fact.ts';

/** A receptacle and the interface that it has on this boot. */
export interface BareReceptacle {
  readonly end: LinkEnd;
  readonly interfaceName: string;
}

/** What to type for one receptacle, or what to do in words where no command can be given. */
interface Act {
  readonly commands: readonly string[];
  readonly words: readonly string[];
}

const command = (...words: readonly string[]): string => `sudo networksetup ${words.join(' ')}`;

function actFor(facts: Facts, { end, interfaceName }: BareReceptacle, address: string): Act {
  const setManual = (name: string): string => command('-setmanual', `"${name}"`, `${address} 255.255.255.252`);
  const port = `Thunderbolt ${end.receptacle}`;
  const service = serviceOfDevice(facts, interfaceName);
  switch (service.kind) {
    case 'named': {
      const enable = service.isEnabled ? [] : [command('-setnetworkserviceenabled', `"${service.name}"`, 'on')];
      return { commands: [...enable, setManual(service.name)], words: [] };
    }
    case 'none': {
      const services = read(facts, networkServicesFact);
      const isTaken = services.kind === 'known' && services.value.some(({ name }) => name === port);
      return isTaken
        ? { commands: [], words: [`For ${port} (${interfaceName}), add a service in System Settings > Network.`] }
        : { commands: [command('-createnetworkservice', `"${port}"`, `"${port}"`), setManual(port)], words: [] };
    }
    case 'unsafe':
      return { commands: [], words: [`For ${port} (${interfaceName}), set it in System Settings > Network.`] };
    case 'unknown':
      return { commands: [], words: [`For ${port} (${interfaceName}), see in System Settings > Network.`] };
  }
}

/** The address that the file gives to one end of a link; undefined as long as its network is not settled. */
function settledAddress({ links, networks }: DesiredFleet['thunderbolt'], end: LinkEnd): string | undefined {
  const wanted = linkEndText(end);
  return links
    .flatMap(({ index, ends }) => (networks[index] === undefined ? [] : endAddresses(ends, networks[index])))
    .find((one) => linkEndText(one.end) === wanted)?.address;
}

/** A node whose receptacles lack addresses. */
export interface BareNode {
  readonly name: string;
  readonly facts: Facts;
  readonly bare: readonly BareReceptacle[];
}

/**
 * How the receptacles of a node get fixed addresses: by apply, where the file has a pool for them; by hand with the
 * names that their network services really have, and with the addresses that they will have as far as they are
 * settled. A service is made first where there is none. @see networksetup(8)
 */
export function addressHint(desired: DesiredFleet, { name, facts, bare }: BareNode): Prose {
  const { thunderbolt } = desired;
  const isOurs = thunderbolt.pool !== undefined && adoptedDaemon(desired, facts) === undefined;
  const acts = bare.flatMap((one) => {
    const address = isOurs ? settledAddress(thunderbolt, one.end) : 'ADDRESS';
    return address === undefined ? [] : [actFor(facts, one, address)];
  });
  const commands = acts.flatMap((one) => one.commands);
  const words = acts.flatMap((one) => one.words);
  if (isOurs) {
    const byHand = withCommands(prose`Or by hand, on ${named(name)}`, commands);
    const bySelf = withCommands('Have it set', [meshwright('apply', name)]);
    return joinProse([bySelf, ...(commands.length === 0 ? [] : [byHand, ...words])], '\n');
  }
  const typed = withCommands(prose`On ${named(name)}, with the address of each link for ADDRESS`, commands);
  return joinProse(
    [commands.length === 0 ? prose`${named(name)} needs a fixed IPv4 address on each.` : typed, ...words],
    '\n',
  );
}

/** How an interface that is down is brought up: by its service, if that is switched off, else by a restart. */
export function interfaceHint(node: string, facts: Facts, down: readonly BareReceptacle[]): Prose {
  const services = down.map(({ interfaceName }) => serviceOfDevice(facts, interfaceName));
  const off = services.flatMap((one) => (one.kind === 'named' && !one.isEnabled ? [one.name] : []));
  const commands = off.map((name) => command('-setnetworkserviceenabled', `"${name}"`, 'on'));
  const isAllOff = off.length === down.length;
  const rest = prose`See in System Settings > Network of ${named(node)} whether its service is on; if it is, restart ${named(node)}.`;
  const typed = commands.length === 0 ? [] : [withCommands(prose`On ${named(node)}`, commands)];
  return joinProse([...typed, ...(isAllOff ? [] : [rest])], '\n');
}
